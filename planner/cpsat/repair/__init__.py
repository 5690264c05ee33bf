"""Exact repair of plans: the fewest ranks that leave their device, then the fewest circuits that change."""

from planner.cpsat.repair.model import RankRepair, RepairLimits, RepairProblem, mend

__all__ = ["RankRepair", "RepairLimits", "RepairProblem", "mend"]
