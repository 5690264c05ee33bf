"""Jobs that run already: what is asked of them, and of what they stand on."""

from typing import Any

import pytest

from planner.model.errors import InputError
from planner.model.instance import Instance
from tests.planner.checks.good import ring_assignment
from tests.planner.checks.per_server_cases import EVEN
from tests.planner.checks.plans import instance_of, job
from tests.planner.fabrics.lightpath.constraints_cases import ring_resident
from tests.planner.model.instance_cases import edited_ring, parse
from tests.planner.small_racks import Fields, rack, single


def test_good_resident() -> None:
    instance = parse(rack(residents=[edited_ring()], fibers=1))
    assert instance.residents[0].movable
    assert instance.residents[0].move_cost == 1.0


@pytest.mark.parametrize(
    "health",
    [
        {"failed_tiles": ["s0.t0"]},
        {"failed_ports": ["s1.t0"]},
        {"failed_fibers": [{"from": "s0", "to": "s1", "index": 0}]},
    ],
)
def test_immovable_resident_on_a_failed_part(health: Fields) -> None:
    parse(rack(residents=[ring_resident()], fibers=1, health=health))
    with pytest.raises(InputError, match=r"is on failed part .* and may not move"):
        parse(rack(residents=[ring_resident(movable=False)], fibers=1, health=health))


def test_single_device_resident_needs_no_port() -> None:
    parse(rack(residents=[single("r", "s0.t0", movable=False)], health={"failed_ports": ["s0.t0"]}))


def two_and_two(**changes: Any) -> dict[str, Any]:
    """A resident of four ranks in blocks of two on both servers."""
    old = ring_assignment().model_dump(include={"devices", "configuration", "circuits"})
    return job("ring", 4, **EVEN, **old) | {"configuration": old["configuration"] | {"block": 2}} | changes


def test_immovable_resident_on_other_servers_than_it_asks_for() -> None:
    limits = {"per_server": 2, "servers_by_rack": [1]}
    instance_of(residents=(two_and_two(constraints=limits),))
    with pytest.raises(InputError, match="servers_by_rack: it lies on other numbers"):
        instance_of(residents=(two_and_two(constraints=limits, movable=False),))


def test_residents_obey_it_too() -> None:
    def given(**changes: Any) -> Instance:
        return instance_of(residents=(two_and_two(**changes),))

    assert given().residents[0].constraints.per_server == 2
    with pytest.raises(InputError, match=r"configuration\.block: a server takes 1 ranks together"):
        given(configuration=ring_assignment().configuration.model_dump())
    with pytest.raises(InputError, match=r"devices: each server must give constraints\.per_server, 1 of them"):
        given(constraints={"per_server": 1})
    with pytest.raises(InputError, match=r"constraints\.per_server: must be at least 1"):
        given(constraints={"per_server": 0})
