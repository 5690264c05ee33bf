"""Feasibility and objectives of a plan, recomputed from instance and plan alone, as RULES.md states them.

Names are imported when they are first used: rules of fabrics use the vocabulary of this package and stand in its table.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.checks.every_rule import CHECKS, check
    from planner.checks.objectives import OBJECTIVES, objective_values
    from planner.model.violation import Check, Violation

__all__ = ["CHECKS", "OBJECTIVES", "Check", "Violation", "check", "objective_values"]

_MODULE_OF_NAME = {
    "CHECKS": "planner.checks.every_rule",
    "check": "planner.checks.every_rule",
    "OBJECTIVES": "planner.checks.objectives",
    "objective_values": "planner.checks.objectives",
    "Check": "planner.model.violation",
    "Violation": "planner.model.violation",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _MODULE_OF_NAME:
        raise AttributeError(f"module 'planner.checks' has no attribute '{name}'")
    return getattr(importlib.import_module(_MODULE_OF_NAME[name]), name)
