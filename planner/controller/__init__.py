"""The planner inside a scheduler: a controller that starts, moves and stops jobs as events arrive, durably.

Names are imported when they are first used: hooks of a scheduler start without the planner's libraries.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.controller.controller import Controller
    from planner.controller.decisions import Decision, Move, Reserve, Start, Stop, Wait
    from planner.controller.settings import Quota, Request, Settings

__all__ = ["Controller", "Decision", "Move", "Quota", "Request", "Reserve", "Settings", "Start", "Stop", "Wait"]

_MODULE_OF_NAME = {
    "Controller": "planner.controller.controller",
    "Decision": "planner.controller.decisions",
    "Move": "planner.controller.decisions",
    "Quota": "planner.controller.settings",
    "Request": "planner.controller.settings",
    "Reserve": "planner.controller.decisions",
    "Settings": "planner.controller.settings",
    "Start": "planner.controller.decisions",
    "Stop": "planner.controller.decisions",
    "Wait": "planner.controller.decisions",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _MODULE_OF_NAME:
        raise AttributeError(f"module 'planner.controller' has no attribute '{name}'")
    return getattr(importlib.import_module(_MODULE_OF_NAME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
