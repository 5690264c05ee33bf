"""The check of pages refuses whatever is changed in a good plan."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from planner.model.page_instance import PageInstance
from planner.model.page_plan import PagePlan
from planner.pages.policies import RULES
from planner.pages.problem import PageProblem
from planner.pages.rule_pages import check_pages
from tests.planner.page_cases import fields

KINDS = ["activation", "weight", "gradient", "optimizer"]


def _instance(**job: Any) -> PageInstance:
    data = fields(local="40 MiB", **job)
    data["memories"] = {"node 0": {"capacity": "100 MiB"}, "node 1": {"capacity": "100 MiB"}, "host": {"failed": True}}
    return PageInstance.parse(data)


def _plan(instance: PageInstance, rule: str = "greedy_keep") -> PagePlan:
    problem = PageProblem.of(instance)
    placed = RULES[rule](problem)
    assert placed is not None
    return problem.plan(placed)


@pytest.mark.parametrize("rule", RULES)
def test_rules_are_good(rule: str) -> None:
    instance = _instance()
    assert check_pages(instance, _plan(instance, rule)) == []


Change = Callable[[list[dict[str, Any]]], object]


def _move(tensors: list[dict[str, Any]]) -> None:
    tensors[0]["pages"]["node 0"] += 1
    tensors[0]["pages"]["node 1"] -= 1


def _overfill(tensors: list[dict[str, Any]]) -> None:
    for each in tensors[:3]:
        each["pages"] = {"node 0": sum(each["pages"].values())}


def _all_again(tensors: list[dict[str, Any]]) -> None:
    for each in tensors[:2]:
        each.update(pages={}, kept=0, remade=True)


def _keep_all(tensors: list[dict[str, Any]]) -> None:
    for each in tensors:
        each.update(pages={}, kept=sum(each["pages"].values()) + each["kept"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_move, "not the"),
        (_overfill, "where 25 fit"),
        (_all_again, "which is so too"),
        (_keep_all, "where 10 may stay"),
        (lambda tensors: tensors[0]["pages"].update({"node 0": 1}), "pages placed, not"),
        (lambda tensors: tensors[0]["pages"].update({"node 0": -1}), "has -1 pages"),
        (lambda tensors: tensors[0]["pages"].update({"host": 1}), "to which no way works"),
        (lambda tensors: tensors[0]["pages"].update({"moon": 1}), "to which no way works"),
        (lambda tensors: tensors.pop(), "tensors are not those"),
        (lambda tensors: tensors[1].update(after=3), "tensors are not those"),
    ],
)
def test_changes_are_found(change: Change, message: str) -> None:
    instance = _instance()
    data = json.loads(_plan(instance).model_dump_json())
    change(data["jobs"][0]["tensors"])
    found = check_pages(instance, PagePlan.model_validate(data))
    assert any(message in violation.message for violation in found), found


def test_jobs_and_claims_are_compared() -> None:
    instance = _instance()
    data = json.loads(_plan(instance).model_dump_json())
    data["jobs"][0]["step"] = 1.01 * data["jobs"][0]["step"]
    (violation,) = check_pages(instance, PagePlan.model_validate(data))
    assert "of the plan" in violation.message
    data["jobs"] = []
    (violation,) = check_pages(instance, PagePlan.model_validate(data))
    assert violation.where == "jobs"


def test_what_may_not_be_made_again_is_found() -> None:
    instance = _instance(may_remake=False)
    data = json.loads(_plan(instance).model_dump_json())
    data["jobs"][0]["tensors"][0].update(pages={}, kept=0, remade=True)
    found = check_pages(instance, PagePlan.model_validate(data))
    assert any("may not be made again" in violation.message for violation in found)


def test_weights_stay_at_home() -> None:
    step = {"kind": "transformer", "model": "bert-base", "micro_batch": 1, "sequence": 128, "tensors": KINDS}
    data = fields(step=step)
    instance = PageInstance.parse(data)
    plan = json.loads(_plan(instance).model_dump_json())
    assert check_pages(instance, PagePlan.model_validate(plan)) == []
    first = next(each for each in plan["jobs"][0]["tensors"] if "weights" in each["tensor"])
    first["pages"] = {"node 0": sum(first["pages"].values())}
    found = check_pages(instance, PagePlan.model_validate(plan))
    assert any("than at home" in violation.message for violation in found)
