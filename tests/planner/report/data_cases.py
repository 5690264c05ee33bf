"""Shared by the tests of `data` and `jobs`."""

from typing import Any

from planner.model.result import Result
from planner.model.violation import Violation
from planner.report.data import page_data
from tests.planner.report import rack


def made_data(result: Result, *violations: Violation, **reasons: str) -> dict[str, Any]:
    instance = rack.instance()
    return page_data(instance, result, violations, command="planner solve", versions={}, reasons=reasons)
