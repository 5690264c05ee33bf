"""The planner inside a scheduler: a controller that starts, moves and stops jobs as events arrive, durably."""

from planner.schedulers.controller import Controller
from planner.schedulers.decisions import Decision, Move, Reserve, Start, Stop, Wait
from planner.schedulers.settings import Quota, Request, Settings

__all__ = ["Controller", "Decision", "Move", "Quota", "Request", "Reserve", "Settings", "Start", "Stop", "Wait"]
