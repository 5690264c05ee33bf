"""Places of tensors inside a plan: what is wrong with them is found, whatever it is."""

from collections.abc import Callable
from functools import cache

import pytest

from planner.checks import CHECKS, check
from planner.model.instance import Instance
from planner.model.page_plan import TensorPages
from planner.model.plan import Plan, SecondTier
from planner.pipeline import solve
from tests.paths import ROOT

RACK = ROOT / "instances" / "joint" / "rack48.yaml"
JOB = "gpt175b-train"
Change = Callable[[SecondTier], dict[str, object]]


@cache
def _solved() -> tuple[Instance, Plan]:
    instance = Instance.load(RACK)
    plan = solve(instance, time_limit_s=10, pages_time_limit_s=0.5, workers=2).plan
    assert plan is not None
    return instance, plan


def _with(change: Change) -> Plan:
    _, plan = _solved()
    tier = plan[JOB].second_tier
    assert tier is not None
    changed = plan[JOB].model_copy(update={"second_tier": tier.model_copy(update=change(tier))})
    return plan.model_copy(update={"assignments": tuple(changed if a.job == JOB else a for a in plan.assignments)})


def _tensors(tier: SecondTier, number: int, **fields: object) -> dict[str, object]:
    changed = tier.tensors[number].model_copy(update=fields)
    return {"tensors": tuple(changed if i == number else each for i, each in enumerate(tier.tensors))}


def _first(tier: SecondTier, what: Callable[[TensorPages], bool]) -> int:
    return next(number for number, each in enumerate(tier.tensors) if what(each))


def _too_many(tier: SecondTier) -> dict[str, object]:
    number = _first(tier, lambda each: bool(each.pages))
    return _tensors(tier, number, pages={tier.memory: tier.tensors[number].pages[tier.memory] + 1})


def _lost(tier: SecondTier) -> dict[str, object]:
    return _tensors(tier, _first(tier, lambda each: bool(each.pages)), pages={}, kept=0)


def _elsewhere(tier: SecondTier) -> dict[str, object]:
    number = _first(tier, lambda each: bool(each.pages))
    return _tensors(tier, number, pages={"cellar": tier.tensors[number].pages[tier.memory]})


def _all_stay(tier: SecondTier) -> dict[str, object]:
    stay = [
        each.model_copy(update={"pages": {}, "kept": sum(each.pages.values()) + each.kept}) for each in tier.tensors
    ]
    return {"tensors": tuple(stay)}


def _optimizer_made_again(tier: SecondTier) -> dict[str, object]:
    number = _first(tier, lambda each: each.tensor.endswith("optimizer"))
    return _tensors(tier, number, pages={}, kept=0, remade=True)


CHANGES: dict[str, Change] = {
    "one page too many": _too_many,
    "pages lost": _lost,
    "in a memory that is not there": _elsewhere,
    "more than local memory holds": _all_stay,
    "what cannot be made again": _optimizer_made_again,
    "a tensor left out": lambda tier: {"tensors": tier.tensors[1:]},
    "a faster step": lambda tier: {"step_s": tier.step_s * 0.999},
    "pages of another size": lambda tier: {"page_bytes": tier.page_bytes * 2},
    "another name": lambda tier: {"memory": "cellar"},
}


@pytest.mark.slow
def test_a_good_plan_passes() -> None:
    instance, plan = _solved()
    assert plan[JOB].second_tier is not None
    assert check(instance, plan) == []


@pytest.mark.slow
@pytest.mark.parametrize("what", CHANGES)
def test_what_is_wrong_is_found(what: str) -> None:
    instance, _ = _solved()
    found = check(instance, _with(CHANGES[what]))
    assert found
    assert not {violation.rule for violation in found} & (CHECKS.keys() - {"second_tier"})
    assert all(JOB in violation.where or violation.where.startswith("ddr5") for violation in found)


def test_a_job_that_offloads_nothing_has_no_places() -> None:
    instance, plan = _solved()
    tier = plan[JOB].second_tier
    other = next(each for each in plan.assignments if each.configuration.memory_units is None)
    wrong = other.model_copy(update={"second_tier": tier})
    changed = plan.model_copy(update={"assignments": tuple(wrong if a is other else a for a in plan.assignments)})
    assert [violation.rule for violation in check(instance, changed)] == ["second_tier"]


@pytest.mark.slow
def test_memory_circuits_of_a_second_tier_are_checked_as_those_of_a_pool() -> None:
    """Circuits that a configuration without units has, or that one with units lacks."""
    instance, plan = _solved()
    lacking = plan[JOB].model_copy(update={"memory": ()})
    other = next(each for each in plan.assignments if each.configuration.memory_units is None)
    extra = other.model_copy(update={"memory": plan[JOB].memory[:1]})
    for changed in (lacking, extra):
        named = tuple(changed if a.job == changed.job else a for a in plan.assignments)
        rules = {violation.rule for violation in check(instance, plan.model_copy(update={"assignments": named}))}
        assert "memory_pool" in rules
