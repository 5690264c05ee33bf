"""Light that meets on fibers and shared waveguides."""

import pytest

from costmodel.parallelism.configuration import Configuration
from planner.model.plan import Assignment, Plan
from tests.planner.checks.good import crossing, grid, pair, ring_assignment, shared
from tests.planner.checks.plans import assign, broken, collective, held, instance_of, job, plan_of, rewired


@pytest.mark.parametrize(("waveguides", "rules"), [("shared", {"sharing"}), ("dedicated", set())])
def test_two_jobs_on_a_waveguide(waveguides: str, rules: set[str]) -> None:
    """From slot 1 to slot 2 both on wavelengths 0 and 1."""
    instance, _ = shared(waveguides)
    jobs = pair("one", "s0.t0", "s0.t2", "0,1"), pair("two", "s0.t1", "s0.t5", "0,1")
    assert broken(instance, plan_of(instance, *jobs)) == rules


def test_opposite_directions_do_not_meet() -> None:
    """Job "one" takes 0-1-2-5 and 5-4-3-0, "two" takes 4-5-2 and 2-1-4."""
    instance, _ = shared()
    jobs = pair("one", "s0.t0", "s0.t5", "0,1"), pair("two", "s0.t4", "s0.t2", "0,1")
    assert broken(instance, plan_of(instance, *jobs)) == set()


def test_two_circuits_of_a_job_on_a_fiber() -> None:
    instance, plan = grid()
    assert broken(instance, rewired(plan, "grid", "s0.t0 s1.t0 2,3 s0>s1#0", at=1)) == {"sharing"}
    assert broken(instance, rewired(plan, "grid", "s0.t0 s1.t0 2,3 s0>s1#1", at=1)) == set()


@pytest.mark.parametrize(
    ("waveguides", "last", "rules"),
    [("shared", "2,3", set()), ("shared", "0,1", {"sharing"}), ("dedicated", "0,1", set())],
)
def test_two_circuits_of_a_job_on_a_waveguide(waveguides: str, last: str, rules: set[str]) -> None:
    """From slot 2 to 3 light takes 2-1-0-3, and from slot 1 to 0 the same boundary."""
    instance = instance_of(job("ring", 4), fabric={"waveguides": waveguides})
    circuits = held("data", "s0.t0 s0.t2 0,1", "s0.t2 s0.t3 0,1", "s0.t3 s0.t1 0,1", f"s0.t1 s0.t0 {last}")
    configuration = Configuration(data=4, data_collective=collective("ring", 2))
    plan = plan_of(instance, assign("ring", configuration, "s0.t0 s0.t2 s0.t3 s0.t1", circuits))
    assert broken(instance, plan) == rules


def test_own_light_in_another_configuration() -> None:
    """In "grid", rank 1 crosses from slot 1 to 0 on all wavelengths for tensor, then on 2 and 3 for data."""
    instance, plan = grid()
    fabric = instance.cluster.fabric.model_copy(update={"waveguides": "shared"})
    cluster = instance.cluster.model_copy(update={"fabric": fabric})
    assert broken(instance.model_copy(update={"cluster": cluster}), plan) == set()


def test_jobs_are_not_in_step() -> None:
    """A ring and the second configuration of a radix on the same fiber and wavelengths."""
    instance = instance_of(job("ring", 4), job("radix", 4), fabric={"fibers": 3})
    radix = collective("radix", 4, 4, radices=(2, 2), held=(1, 1))
    inside = [f"s{s}.t{a} s{s}.t{9 - a} 0,1,2,3" for s in (0, 1) for a in (4, 5)]

    def second(index: int) -> Assignment:
        lines = [
            f"s{s}.t{a} s{1 - s}.t{a} 0,1,2,3 s{s}>s{1 - s}#{(index if s == 0 else 2) if a == 4 else s ^ 1}"
            for s in (0, 1)
            for a in (4, 5)
        ]
        data = held("data", *inside), held("data", *lines)
        return assign("radix", Configuration(data=4, data_collective=radix), "s0.t4 s0.t5 s1.t4 s1.t5", *data)

    assert broken(instance, plan_of(instance, ring_assignment(), second(2))) == set()
    assert broken(instance, plan_of(instance, ring_assignment(), second(0))) == {"sharing"}


@pytest.mark.parametrize(("budget", "rules"), [("0.69 dB", {"loss"}), ("0.7 dB", set())])
def test_every_fiber_and_crossing_counts(budget: str, rules: set[str]) -> None:
    """Three boundaries of 0.1 dB, one of them in the third server, and two fibers of 0.2 dB."""
    fabric = {"loss_per_tile": "0.1 dB", "loss_per_fiber": "0.2 dB", "loss_budget": budget}
    assert broken(*crossing(fabric)) == rules


def test_two_jobs_on_the_second_fiber() -> None:
    """A pair on s1 and s2 has the wavelengths of the ring on fiber 1, or others, or another fiber."""
    instance, plan = crossing(more=[job("pair", 2)])
    for there, rules in (("0,1 s1>s2#1", {"sharing"}), ("2,3 s1>s2#1", set()), ("0,1 s1>s2#0", set())):
        both = Plan(instance=plan.instance, assignments=(plan["ring"], pair("pair", "s1.t4", "s2.t4", "0,1")))
        lines = f"s1.t4 s2.t4 {there}", "s2.t4 s1.t4 2,3 s2>s1#1"
        assert broken(instance, rewired(both, "pair", *lines)) == rules


@pytest.mark.parametrize(("waveguides", "rules"), [("shared", {"sharing"}), ("dedicated", set())])
def test_light_that_crosses_meets_light_inside_the_server(waveguides: str, rules: set[str]) -> None:
    """A pair on slots 0 and 1 of s1 sends on the boundary that the ring crosses there, on the same wavelengths."""
    instance, plan = crossing({"waveguides": waveguides}, more=[job("pair", 2)])
    plan = rewired(plan, "ring", "s2.t1 s0.t0 2,3 s2>s1#0 s1>s0#0")
    for wavelengths, found in (("0,1", rules), ("2,3", set())):
        both = Plan(instance=plan.instance, assignments=(plan["ring"], pair("pair", "s1.t0", "s1.t1", wavelengths)))
        assert broken(instance, both) == found
