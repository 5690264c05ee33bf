"""What differs between two plans."""

from planner.model.plan import Plan
from planner.whatif.plan_changes import changes, in_words
from tests.planner.report import rack


def _without(plan: Plan, name: str) -> Plan:
    return plan.model_copy(update={"assignments": tuple(a for a in plan.assignments if a.job != name)})


def _changed(plan: Plan, **update: object) -> Plan:
    first, *rest = plan.assignments
    return plan.model_copy(update={"assignments": (first.model_copy(update=update), *rest)})


def test_jobs_that_start_and_stop_take_their_circuits_along() -> None:
    alone = _without(rack.plan(), rack.RING)
    stays, stops = changes(rack.plan(), alone)
    assert (stays.kind, stops.kind) == ("stays", "stops")
    assert (len(stops.torn_down), len(stops.set_up), stops.given_up) == (4, 0, 4)
    starts, _ = changes(alone, rack.plan())
    assert (starts.kind, len(starts.set_up), starts.taken) == ("starts", 4, 4)
    words = "jobs: 1 starts, 1 stays as it is; circuits: 0 torn down, 4 set up"
    assert in_words(changes(alone, rack.plan())) == words


def test_a_job_moves_to_other_accelerators_or_is_rewired_on_its_own() -> None:
    plan = rack.plan()
    moved, _ = changes(plan, _changed(plan, devices=("s0.t0", "s0.t1", "s0.t2", "s0.t3")))
    assert (moved.kind, moved.taken, moved.given_up, moved.torn_down) == ("moves", 2, 2, ())
    rewired, _ = changes(plan, _changed(plan, circuits=()))
    assert (rewired.kind, rewired.taken, len(rewired.torn_down)) == ("rewired", 0, 4)
    assert in_words((moved, rewired)).startswith("jobs: 1 moves to 2 other accelerators, 1 is rewired in place")
    assert in_words(()) == "no job in either plan"
