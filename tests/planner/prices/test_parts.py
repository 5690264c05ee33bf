"""Capital of clusters by their parts."""

import pytest

from costmodel.fabrics import priced
from planner.model.errors import InputError
from planner.prices import Prices
from planner.prices.parts import PartPrices
from tests.planner.simulate.grounds import cluster


@pytest.mark.parametrize(
    ("fabric", "changes", "parts"),
    [
        ("fat_tree", {}, {"accelerator": 32, "electrical_port": 32}),
        ("lightpath", {}, {"accelerator": 32, "optical_port": 32}),
        ("ocs_rail", {}, {"accelerator": 32, "optical_port": 128, "optical_switch": 32}),
        # 4 cubes of 2 x 2 x 2: 4 switches for each axis, 2 ports of each switch for each cube
        ("torus", {}, {"accelerator": 32, "optical_port": 96, "optical_switch": 12}),
        ("torus", {"racks": 2}, {"accelerator": 64, "optical_port": 192, "optical_switch": 24}),
        # wires inside a server come with its accelerators, as NVLink does
        ("torus", {"switches": None}, {"accelerator": 32}),
        ("memory_ring", {}, {"accelerator": 32, "electrical_port": 32, "memory_unit": 320}),
        # 3 digits in base 2: each accelerator one port for each, each switch joins 2
        ("sipac", {}, {"accelerator": 32, "optical_port": 96, "optical_switch": 48}),
        # 12 I/Os, of a server 2 trays x 4 ports on 8 rails and 4 uplinks on 4 rails; 12 switches of a server, 4 of all
        (
            "sipam", {},
            {"accelerator": 32, "optical_port": 32 * 12 + 4 * (64 + 16), "memory_unit": 192, "optical_switch": 52},
        ),
    ],
)  # fmt: skip
def test_parts_follow_from_the_fabric(fabric: str, changes: dict[str, object], parts: dict[str, int]) -> None:
    of = cluster(fabric, **changes).fabric
    assert priced(of.inventory()) == parts
    prices = PartPrices(accelerator=1000, electrical_port=100, optical_port=10, optical_switch=1, memory_unit=0.1)
    assert prices.capital(of, "p") == pytest.approx(
        sum(number * getattr(prices, kind) for kind, number in parts.items())
    )


def test_a_part_without_a_price_is_named_and_a_cluster_may_have_a_price_of_its_own() -> None:
    clusters = {name: cluster(name) for name in ("fat_tree", "lightpath")}
    data = {
        "currency": "EUR",
        "energy_per_kwh": 0.1,
        "lifetime": "365 d",
        "parts": {"accelerator": 2, "optical_port": 1},
    }
    with pytest.raises(InputError, match=r"electrical_port.*32 of them"):
        Prices.model_validate(data).filled(clusters, "p")
    found = Prices.model_validate(data | {"clusters": {"fat_tree": 7}}).filled(clusters, "p")
    assert found.clusters == {"fat_tree": 7, "lightpath": 96}
    with pytest.raises(InputError, match="no price of 'fat_tree'"):
        Prices.model_validate({key: data[key] for key in data if key != "parts"}).filled(clusters, "p")
