"""First fit: each job on the first servers with room."""

from planner.heuristics.strategies import in_order
from planner.policies.by_strategy import StrategyPolicy

first_fit = StrategyPolicy("first_fit", in_order)
"""jobs in arrival order, each with its most valuable candidate that fits on the first free devices"""
