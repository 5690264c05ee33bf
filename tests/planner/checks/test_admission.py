"""Each job at most once, required ones and residents exactly once."""

from planner.model.plan import Plan
from tests.planner.checks.good import ring, ring_assignment, staying
from tests.planner.checks.plans import broken, edited, instance_of, job, plan_of


def test_unknown_job() -> None:
    instance, plan = ring()
    assert broken(instance, edited(plan, "ring", job="ghost")) == {"admission"}


def test_job_twice() -> None:
    instance, plan = ring()
    twice = plan.model_copy(update={"assignments": plan.assignments * 2})
    assert broken(instance, twice) == {"admission"}


def test_required_job_left_out() -> None:
    instance = instance_of(job("must", 4, required=True), job("ring", 4))
    assert broken(instance, plan_of(instance, ring_assignment())) == {"admission"}
    assert broken(instance, plan_of(instance, ring_assignment("must"))) == set()


def test_resident_left_out() -> None:
    instance, plan = staying()
    assert broken(instance, Plan(instance="tiny", assignments=plan.assignments[1:])) == {"admission"}
