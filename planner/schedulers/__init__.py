"""The planner inside a scheduler: a controller that starts, moves and stops jobs as events arrive, durably.

Names are imported when they are first used: hooks of a scheduler start without the planner's libraries.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.schedulers.controller import Controller
    from planner.schedulers.decisions import Decision, Move, Reserve, Start, Stop, Wait
    from planner.schedulers.settings import Quota, Request, Settings

__all__ = ["Controller", "Decision", "Move", "Quota", "Request", "Reserve", "Settings", "Start", "Stop", "Wait"]

_MODULE_OF_NAME = {
    "Controller": "planner.schedulers.controller",
    "Decision": "planner.schedulers.decisions",
    "Move": "planner.schedulers.decisions",
    "Quota": "planner.schedulers.settings",
    "Request": "planner.schedulers.settings",
    "Reserve": "planner.schedulers.decisions",
    "Settings": "planner.schedulers.settings",
    "Start": "planner.schedulers.decisions",
    "Stop": "planner.schedulers.decisions",
    "Wait": "planner.schedulers.decisions",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _MODULE_OF_NAME:
        raise AttributeError(f"module 'planner.schedulers' has no attribute '{name}'")
    return getattr(importlib.import_module(_MODULE_OF_NAME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
