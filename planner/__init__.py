"""Plan slices, optical circuits and memory of photonic AI clusters.

    from planner import Instance, solve, check

    instance = Instance.load("rack64.yaml")
    result = solve(instance, time_limit_s=10, on_incumbent=print)
    assert not check(instance, result.plan)

Names are imported when they are first used, so that `import planner` costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.checked import solve
    from planner.checks import check
    from planner.checks.violation import Violation
    from planner.errors import InputError, RefusedPlanError
    from planner.instance import Instance
    from planner.plan import Plan
    from planner.result import Incumbent, Result, SolveOptions, Status

__version__ = "0.1.0"
__all__ = [
    "Incumbent",
    "InputError",
    "Instance",
    "Plan",
    "RefusedPlanError",
    "Result",
    "SolveOptions",
    "Status",
    "Violation",
    "check",
    "solve",
]

_MODULE_OF_NAME = {
    "Incumbent": "planner.result",
    "InputError": "planner.errors",
    "Instance": "planner.instance",
    "Plan": "planner.plan",
    "RefusedPlanError": "planner.errors",
    "Result": "planner.result",
    "SolveOptions": "planner.result",
    "Status": "planner.result",
    "Violation": "planner.checks.violation",
    "check": "planner.checks",
    "solve": "planner.checked",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _MODULE_OF_NAME:
        raise AttributeError(f"module 'planner' has no attribute '{name}'")
    return getattr(importlib.import_module(_MODULE_OF_NAME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
