"""Shared by the tests of `pools` and `spare`."""

from planner.model.instance import Instance
from planner.model.plan import Plan

Pool = tuple[Instance, Plan]
