"""Rows of step 1 for memory that a server's accelerators share."""

import pytest

from planner.checks import check
from planner.fabrics.lightpath.step1 import LightpathStepOne
from planner.pipeline import solve
from tests.planner.fabrics.lightpath.pools import large, pooled
from tests.planner.optimum import OPTIONS

ASKED = pooled(*(large(name) for name in "abcd"), modules=1)
"""four tiles, and a module for one of them in either server"""


def test_jobs_run_while_modules_last() -> None:
    plan = solve(ASKED, options=OPTIONS).plan
    assert plan is not None
    assert check(ASKED, plan) == []
    assert sorted(each.devices[0][:2] for each in plan.assignments) == ["s0", "s1"]


def test_without_rows_modules_are_given_away_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    others = tuple(group for group in LightpathStepOne.groups if group.name != "memory_pool")
    monkeypatch.setattr(LightpathStepOne, "groups", others)
    plan = solve(ASKED, options=OPTIONS).plan
    assert plan is not None
    assert {each.rule for each in check(ASKED, plan)} == {"memory_pool"}
