"""Links between racks, taken and given back."""

from planner.fabrics.free_state import FreeState
from planner.model.plan import RackCircuit
from planner.pipeline import solve
from tests.planner.fabrics.joined_racks.racks import FIBERS, OPTIONS, PACKETS, SWITCHES, best, racks


def test_what_is_taken_is_given_back() -> None:
    for upper in (PACKETS, SWITCHES, FIBERS):
        instance = racks(upper, 8)
        free, plan = FreeState.empty(instance.cluster), best(instance)
        assert free.links is not None
        before, twin = dict(free.links.free), free.copy()
        free.take_named(plan["j0"])
        assert min(free.links.free.values()) < min(before.values())
        assert twin.links is not None
        assert twin.links.free == before
        free.release_named(plan["j0"])
        assert free.links.free == before


def test_circuits_go_over_the_first_free_ports_of_switches_that_work() -> None:
    """A port of each rack is at u0, the other one at u1."""
    instance = racks(SWITCHES | {"radix": 3}, 8, health={"failed_upper": ["u0"]})
    plan = best(instance)
    assert plan["j0"].upper == (
        RackCircuit.model_validate({"from": "r0.p1", "to": "r1.p1", "over": "u1"}),
        RackCircuit.model_validate({"from": "r1.p1", "to": "r0.p1", "over": "u1"}),
    )
    assert plan["j0"].configuration.data_collective.links == 1


def test_a_second_job_takes_what_the_first_leaves() -> None:
    """Two jobs of six in two racks each: those of the second share a rack with the first, over other wavelengths."""
    instance = racks(FIBERS | {"wavelengths_per_fiber": 4}, 6, 6)
    plan = best(instance)
    used = [(c.over, w) for a in plan.assignments for c in a.upper for w in c.wavelengths]
    assert plan.admitted == ("j0", "j1")
    assert len(used) == len(set(used)) > 0


def test_heuristics_place_jobs_over_racks() -> None:
    instance = racks(SWITCHES, 8, 4)
    for policy in ("first_fit", "best_fit"):
        found = solve(instance, policy=policy, options=OPTIONS)
        assert found.plan is not None
        assert found.plan.admitted == ("j0", "j1"), policy
