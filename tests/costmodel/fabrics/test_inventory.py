"""Parts of every fabric: as many names as counted, each read back, each with a price."""

import pytest
from pydantic import TypeAdapter

from costmodel.fabrics import PRICE_CLASSES, Fabric, FabricBase, Parts, priced
from tests.fabrics import EVERY


def fabric(name: str, **changes: object) -> FabricBase:
    found: FabricBase = TypeAdapter(Fabric).validate_python(EVERY[name] | changes)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("racks", [1, 2])
@pytest.mark.parametrize("name", EVERY)
def test_names_are_counted_differ_and_are_read_back(name: str, racks: int) -> None:
    for parts in fabric(name, racks=racks).inventory().values():
        names = list(parts.names())
        assert len(set(names)) == len(names) == parts.count, parts.kind
        assert len({parts.parse(each) for each in names}) == parts.count
        with pytest.raises(ValueError, match="no "):
            parts.parse("s0.none")


@pytest.mark.parametrize("name", EVERY)
def test_every_part_has_a_price_and_every_price_a_part(name: str) -> None:
    inventory = fabric(name).inventory()
    assert inventory["tile"].prices == {"accelerator": 32}
    assert all(parts.prices and set(parts.prices) <= set(PRICE_CLASSES) for parts in inventory.values())
    assert sum(priced(inventory).values()) > 32
    assert 0 not in priced(inventory).values()


@pytest.mark.parametrize(
    ("name", "word", "numbers", "count"),
    [("divided_ports", "s1.g2.m5.d1", (1, 2, 5, 1), 32 * 6 * 2), ("appliances", "s1.d3", (1, 3), 4 * 2 * 2)],
)
def test_units_of_a_second_tier_are_parts(name: str, word: str, numbers: tuple[int, ...], count: int) -> None:
    tiered = EVERY[name]["memory"] | {"second_tier": {"unit": "cxl-ddr5", "units": 2}}
    plain, more = fabric(name).inventory(), fabric(name, memory=tiered).inventory()
    assert more["second-tier unit"].parse(word) == numbers
    assert more["second-tier unit"].count == count
    assert priced(more)["memory_unit"] == priced(plain)["memory_unit"] + count


@pytest.mark.parametrize(
    ("name", "kind", "word", "numbers"),
    [
        ("lightpath", "fiber", "s1>s0#0", (1, 0, 0)),
        ("lightpath", "laser", "s1.t2:w3", (1, 2, 3)),
        ("lightpath", "receiver", "s1.t2:rx:w3", (1, 2, 3)),
        ("fat_tree", "port", "s1.g2:port", (1, 2)),
        ("sipam", "memory unit", "s1.m0.u3", (1, 0, 3)),
        ("sipam", "tray port", "s1.m0.q2#1", (1, 0, 2, 1)),
        ("sipac", "wavelength router", "s1.x3", (1, 3)),
        ("appliances", "appliance port", "s1.p3", (1, 3)),
        ("divided_ports", "memory module", "s1.g2.m0", (1, 2, 0)),
        ("memory_ring", "DIMM", "s1.n2.m3", (1, 2, 3)),
    ],
)
def test_a_name_has_numbers(name: str, kind: str, word: str, numbers: tuple[int, ...]) -> None:
    parts: Parts = fabric(name).inventory()[kind]
    assert parts.parse(word) == numbers
    assert word in set(parts.names())
    with pytest.raises(ValueError, match=r"no |there is no fiber"):
        parts.parse(word[:-1] + "999" if word[-1].isdigit() else word + ":port")
