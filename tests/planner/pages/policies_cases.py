"""Shared by the tests of `page_gains`, `place` and `policies`."""

from typing import Any

from planner.model.page_instance import PageInstance
from planner.model.result import SolveOptions
from planner.pages.policies import cpsat, rule_values_s
from planner.pages.problem import PageProblem
from planner.pages.result import PageResult
from planner.pages.rule_pages import check_pages
from tests.planner.page_cases import fields

HOST = [{"memory": "host", "bandwidth": "8 GB/s"}]


def solved(data: dict[str, Any], limit_s: float | None = None) -> tuple[PageResult, dict[str, float]]:
    """The solver's result, checked, and the times of the rules that find a placement; the same on any machine unless
    seconds are given."""
    instance = PageInstance.parse(data)
    problem = PageProblem.of(instance)
    in_seconds = SolveOptions(time_limit_s=limit_s or 0.0, workers=2)
    result = cpsat(problem, SolveOptions(deterministic_limit=0.1) if limit_s is None else in_seconds)
    assert result.plan is not None
    assert check_pages(instance, result.plan) == []
    return result, {name: value_s for name, value_s in rule_values_s(problem).items() if value_s is not None}


def case(network: str, **job: Any) -> dict[str, Any]:
    return fields(network, **job) | {"page": "1 MiB"}
