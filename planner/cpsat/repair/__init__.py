"""Exact repair of plans: the fewest ranks that leave their device, then the fewest circuits that change."""

from planner.cpsat.repair.limits import RepairLimits
from planner.cpsat.repair.model import RankRepair, fewest_moves
from planner.formulation.repair_model import RepairProblem

__all__ = ["RankRepair", "RepairLimits", "RepairProblem", "fewest_moves"]
