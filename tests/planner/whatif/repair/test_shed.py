"""One job gives way where no repair keeps all."""

from itertools import combinations

import pytest

from planner.checks import check
from planner.whatif.repair import repair
from tests.planner.small_racks import ONE_SERVER, rack, serving, training
from tests.planner.whatif.repair.racks import plan_of


def test_without_a_spare_the_least_valuable_gives_way() -> None:
    instance, plan = plan_of(rack(training("dear", 2, weight=3), training("cheap", 2), servers=1))
    found = repair(instance, plan, [plan["dear"].devices[0]])
    assert found.outcome == "reduced"
    assert found.is_impossible
    assert found.dropped == ("cheap",)
    assert found.lost_value == pytest.approx(plan["cheap"].value)


def test_a_job_runs_smaller_rather_than_not_at_all() -> None:
    instance, plan = plan_of(rack(training("p", {"min": 1, "max": 4}, required=True), servers=1))
    found = repair(instance, plan, [plan["p"].devices[1]])
    assert found.outcome == "reduced"
    assert found.resized == ("p",)
    assert found.plan is not None
    assert check(found.instance, found.plan) == []


def test_what_must_run_and_cannot_leaves_no_plan() -> None:
    instance, plan = plan_of(rack(training("p", 4, required=True), servers=1))
    found = repair(instance, plan, ["s0.t0"])
    assert (found.outcome, found.plan, found.is_impossible) == ("none", None, True)


@pytest.mark.parametrize("must", [None, "b", "d"])
@pytest.mark.parametrize("weights", [(5, 1, 3, 2), (1, 2, 3, 4), (2, 2, 1, 3), (9, 8, 1, 1)])
@pytest.mark.parametrize("num_failed", [2, 3, 4])
def test_after_several_failures_those_run_on_that_are_worth_the_most(
    weights: tuple[int, ...], num_failed: int, must: str | None
) -> None:
    """Four jobs of one accelerator on five of one server: what fits is chosen by value, by enumeration."""
    jobs = [serving(name, 1, weight=w, required=name == must) for name, w in zip("abcd", weights, strict=True)]
    instance, plan = plan_of(rack(*jobs, servers=1, tiles=5))
    failed = [plan[name].devices[0] for name in "abcd"][:num_failed]
    found = repair(instance, plan, failed)
    assert found.plan is not None
    of_size = combinations("abcd", 5 - num_failed)
    kept = max(sum(plan[name].value for name in names) for names in of_size if must is None or must in names)
    assert sum(a.value for a in found.plan.assignments) == pytest.approx(kept)
    assert check(found.instance, found.plan) == []


def test_several_small_jobs_give_way_to_a_large_one() -> None:
    """A server of 4 is lost; two of its ranks have spares, and two jobs of one accelerator each make room."""
    small = [serving(name, 1) for name in "pq"]
    instance, plan = plan_of(rack(serving("large", 4, weight=9, constraints=ONE_SERVER), *small))
    found = repair(instance, plan, [*plan["large"].devices])
    assert found.dropped == ("p", "q")
    assert found.lost_value == pytest.approx(plan["p"].value + plan["q"].value)
    assert "p and q are dropped to make room" in found.in_words(str)
