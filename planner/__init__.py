"""Plan slices, optical circuits and memory of photonic AI clusters.

    from planner import Instance, solve, check

    instance = Instance.load("rack64.yaml")
    result = solve(instance, time_limit_s=10, on_incumbent=print)
    assert not check(instance, result.plan)

Names are imported when they are first used, so that `import planner` costs nothing. More of the public API, and what
policies and fabrics of other distributions use, is in `planner.api`; all that neither names is private.
"""

import importlib
from typing import TYPE_CHECKING, Any

from planner.model import resident_check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from planner.checked_solve import solve
    from planner.checks import check
    from planner.model.cluster import Cluster
    from planner.model.errors import InputError, RefusedPlanError
    from planner.model.instance import Instance
    from planner.model.job import Resident
    from planner.model.plan import Plan
    from planner.model.result import Incumbent, Result, SolveOptions, Status
    from planner.model.violation import Violation

__version__ = "0.2.0"
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
    "Incumbent": "planner.model.result",
    "InputError": "planner.model.errors",
    "Instance": "planner.model.instance",
    "Plan": "planner.model.plan",
    "RefusedPlanError": "planner.model.errors",
    "Result": "planner.model.result",
    "SolveOptions": "planner.model.result",
    "Status": "planner.model.result",
    "Violation": "planner.model.violation",
    "check": "planner.checks",
    "solve": "planner.checked_solve",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _MODULE_OF_NAME:
        raise AttributeError(f"module 'planner' has no attribute '{name}'")
    return getattr(importlib.import_module(_MODULE_OF_NAME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _check_residents(cluster: "Cluster", residents: "Sequence[Resident]") -> None:
    """Imported when the first instance is made."""
    from planner.fabrics.residents import check_residents

    check_residents(cluster, residents)


resident_check.answered_by(_check_residents)
