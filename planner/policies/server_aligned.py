"""Whole servers plus a remainder: what electrical clusters do."""

from planner.heuristics.strategies import aligned
from planner.policies.by_strategy import StrategyPolicy

server_aligned = StrategyPolicy("server_aligned", aligned)
"""Jobs in arrival order on entirely free servers, the remainder on the tightest server that takes it whole.

A job that asks for so many accelerators of each server takes servers with as many free.
"""
