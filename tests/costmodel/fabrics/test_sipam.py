"""The pooled rack: its parts by name, its limits, and how I/Os are divided."""

from itertools import product
from typing import Any

import pytest

from costmodel.fabrics import Sipam
from costmodel.fabrics.ocs_rail import ports_of
from costmodel.hardware.device import load_device
from costmodel.workloads import TransformerInference

H100 = load_device("h100-sxm")


def fabric(**changes: Any) -> Sipam:
    fields: dict[str, Any] = {
        "servers": 2, "accelerators_per_server": 32, "shoreline": "photonic-shoreline", "memory_unit": "memory-unit",
        "trays_per_server": 4, "units_per_tray": 48, "tray_ports": 8, "spine_rails": 4, "uplinks": 8,
        "switch_ports": 64, "alpha": "0.7 us", "reconfiguration": "25 us", "energy": "2 pJ/b",
    }  # fmt: skip
    return Sipam.model_validate(fields | changes)


def test_counts_of_the_paper() -> None:
    pool = fabric()
    assert (pool.num_io, pool.local_rails, pool.port_units, pool.most_units) == (12, 8, 3, 24)
    assert [pool.memory_io(units) for units in (1, 3, 4, 24)] == [1, 1, 2, 8]
    assert pool.num_optical_switches == 12 * 2 + 4
    assert pool.units_per_server == 192


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shoreline": {"name": "e", "perimeter_mm": 96, "source": "s", "io": "photonic-io", "modules": 13}},
         "modules: 13 of 8 mm are wider than the shoreline"),
        ({"shoreline": {"name": "e", "perimeter_mm": 96, "source": "s",
                        "io": {"name": "slow", "width_mm": 8, "bandwidth": "500 GB/s", "source": "s"}}}, "memory_unit"),
        ({"units_per_port": 4}, "units_per_port: an I/O carries 3 units"),
        ({"spine_rails": 12}, "leave none for memory"),
        ({"tray_ports": 9}, "tray_ports: 68 accelerators and tray ports"),
        ({"uplinks": 33}, "uplinks: 65 accelerators and uplinks"),
        ({"servers": 9}, "uplinks: 72 uplinks of a zone"),
        ({"memory_grid": (25,)}, "memory_grid: an accelerator has ports for 1 to 24"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fabric(**changes)


@pytest.mark.parametrize("racks", [1, 2])
def test_names_lead_back_to_their_parts(racks: int) -> None:
    pool = fabric(racks=racks)
    for rail, number in product(range(pool.num_io), range(pool.num_servers + racks)):
        if number < pool.num_servers or rail >= pool.local_rails:
            assert pool.parse_switch(pool.switch_name(rail, number)) == (rail, number)
    server = pool.num_servers - 1
    assert pool.parse_unit(f"{pool.tray_name(server, 3)}.u47") == (server, 3, 47)
    assert pool.parse_tray_port(pool.tray_port_name(server, 1, 7, 5)) == (server, 1, 7, 5)
    assert pool.parse_uplink(pool.uplink_name(server, 9, 7)) == (server, 9, 7)


@pytest.mark.parametrize("name", ["q3", "s0.q12", "s2.q0", "x", "s0.m0.q0#0", "q12"])
def test_unknown_switches(name: str) -> None:
    with pytest.raises(ValueError, match=r"no (switch|server)"):
        fabric().parse_switch(name)


def test_unknown_parts() -> None:
    pool = fabric()
    for parse, name in (
        (pool.parse_unit, "s0.m4.u0"),
        (pool.parse_tray_port, "s0.m0.q8#0"),
        (pool.parse_uplink, "s0.q7#0"),
    ):
        with pytest.raises(ValueError, match=r"no (memory unit|port|uplink)"):
            parse(name)


def test_a_split_has_the_memory_of_its_units_and_the_io_that_is_left() -> None:
    work = TransformerInference(model="llama-3.1-8b", concurrency=8, input_tokens=64, output_tokens=64)
    pool = fabric()
    splits = {split.memory_units: split for split in pool.splits(H100, work)}
    assert set(splits) >= {1, 2, 3, 4, 6, 8, 12, 16, 24, pool.loop_units(H100, work)}
    twelve = splits[12]
    assert twelve.device.capacity_bytes == 12 * 16e9
    assert twelve.device.memory_bytes_per_s == 12 * 600e9
    assert twelve.device.launch_s == pytest.approx(H100.launch_s + 60e-9)
    assert twelve.memory_io == 4
    assert fabric(memory_grid=(5,)).splits(H100, work)[0].memory_units in (5, pool.loop_units(H100, work))


def test_combinations_stay_within_the_io_and_waste_none_inside() -> None:
    work = TransformerInference(model="llama-3.1-8b", concurrency=8, input_tokens=64, output_tokens=64)
    share = next(split.fabric for split in fabric().splits(H100, work) if split.memory_units == 12)
    menus = [share.plans(d, n, one_server=n != 4) for d, n in (("tensor", 8), ("pipeline", 2), ("data", 4))]
    menus += [share.plans("context", 1, one_server=True), share.plans("expert", 1, one_server=True)]
    found = list(share.combinations(menus, (True, True, False, True, True)))
    assert found
    for choice in found:
        taken = [ports_of(menu[place]) for menu, place in zip(menus, choice, strict=True)]
        assert sum(taken) <= 8
        assert taken[2] <= 4
        for axis in (0, 1):
            plan, spare = menus[axis][choice[axis]], 8 - sum(taken) + taken[axis]
            better = [
                other
                for other in menus[axis]
                if ports_of(other) <= spare
                and other.latency_s <= plan.latency_s
                and other.seconds_per_byte < plan.seconds_per_byte
            ]
            assert better == []
