"""Parts of a rack with pooled memory, and their names."""

from itertools import product
from typing import Any

import pytest

from tests.costmodel.fabrics.sipam_cases import fabric


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
