"""Leave as little room behind as possible."""

from planner.heuristics.strategies import tightest
from planner.policies.by_strategy import StrategyPolicy

best_fit = StrategyPolicy("best_fit", tightest)
"""jobs in arrival order, each with its most valuable candidate that fits, where the least room is left over"""
