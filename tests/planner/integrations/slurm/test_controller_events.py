"""Events for the controller: how Slurm differs from what it believes."""

from planner.integrations.slurm.allocations import Allocation
from planner.integrations.slurm.controller_events import asked, let_go
from planner.integrations.slurm.observed_state import DesiredState, Memory, ObservedState
from tests.planner.integrations.slurm.arrays_cases import NOTHING, SITE, observed

PLACE = Allocation({"n0": (0, 1)}, [])


def given_to_controller(seen: ObservedState, desired: DesiredState = NOTHING) -> list[int]:
    return list(asked(seen, desired, Memory(), SITE, 0.0))


def test_no_more_tasks_are_given_than_the_limit_lets_run() -> None:
    assert given_to_controller(observed(2, "", "held", "held", "held")) == [8, 9]
    assert given_to_controller(observed(2, "", "run", "held", "held")) == [9]
    assert given_to_controller(observed(2, "", "run", "sent", "held")) == []
    assert given_to_controller(observed(2, "", "done", "held", "held", "held")) == [9, 10]
    assert given_to_controller(observed(0, "", "held", "held", "held")) == [8, 9, 10]


def test_those_that_the_controller_knows_come_first() -> None:
    seen = observed(1, "", "held", "held")
    requests = asked(observed(0, "", "held", "held"), NOTHING, Memory(), SITE, 0.0)
    desired = DesiredState({9: requests[9]}, {}, {}, frozenset(), frozenset())
    assert given_to_controller(seen, desired) == [9]
    desired = DesiredState(requests, {}, {}, frozenset(), frozenset())
    found = let_go(seen, desired, asked(seen, desired, Memory(), SITE, 0.0), SITE)
    assert [event.subject for event in found] == ["slurm-9"]


def test_a_task_that_slurm_will_not_start_loses_its_place() -> None:
    requests = asked(observed(0, "", "held", "held"), NOTHING, Memory(), SITE, 0.0)
    desired = DesiredState(requests, {8: PLACE, 9: PLACE}, {}, frozenset(), frozenset())
    seen = observed(1, "", "sent", "full")
    assert [event.subject for event in let_go(seen, desired, {}, SITE)] == ["slurm-9"]
