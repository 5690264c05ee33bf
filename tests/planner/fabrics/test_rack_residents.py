"""Jobs over racks that run already."""

from typing import Any

import pytest

from planner.model.edit import as_residents
from planner.model.errors import InputError
from planner.model.instance import Instance
from tests.planner.fabrics.joined_racks.racks import FIBERS, PACKETS, SWITCHES, best, racks


def _running(layer: dict[str, Any], health: dict[str, Any] | None = None, **changes: Any) -> Instance:
    """The job of eight as it was placed, with fields changed."""
    instance = racks(layer, 8)
    raw = as_residents(instance, best(instance)).model_dump(mode="json", by_alias=True)
    raw["residents"] = [raw["residents"][0] | changes]
    raw["cluster"]["health"] |= health or {}
    return Instance.parse(raw, "racks.yaml")


@pytest.mark.parametrize("upper", [PACKETS, SWITCHES, FIBERS], ids=lambda upper: upper["kind"])
def test_a_job_over_racks_stays_as_it_was_placed(upper: dict[str, Any]) -> None:
    running = _running(upper)
    assert best(running)["j0"].devices == running.residents[0].devices
    assert not best(running)["j0"].is_moved


def test_one_that_lost_its_switch_moves_or_takes_another() -> None:
    split = SWITCHES | {"radix": 3}
    found = best(_running(split, {"failed_upper": ["u0"]}))["j0"]
    assert found.is_moved
    assert {circuit.over for circuit in found.upper} == {"u1"}


def test_what_cannot_run_so_is_told() -> None:
    devices = [f"r{rack}.s{server}.t{tile}" for rack in (1, 0) for server in (0, 1) for tile in (0, 1)]
    with pytest.raises(InputError, match="its ranks lie in 2 racks, 4 in each, the first ones in the first rack"):
        _running(PACKETS, devices=devices)
    with pytest.raises(InputError, match="these are not the circuits between its racks; copy them from the plan"):
        _running(SWITCHES, upper=[])
    other = [{"from": "r0.p7", "to": "r1.p0", "over": "u0"}]
    with pytest.raises(InputError, match=r"upper: there is no circuit from r0\.p7 over u0"):
        _running(SWITCHES, upper=other)
    with pytest.raises(InputError, match="on failed part u0 and may not move"):
        _running(SWITCHES, {"failed_upper": ["u0"]}, movable=False)
    with pytest.raises(InputError, match=r"failed_upper: no switch or fiber 'u9' between racks; they are u0 to u0"):
        _running(SWITCHES, {"failed_upper": ["u9"]})
