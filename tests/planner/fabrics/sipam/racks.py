"""Small racks with pooled memory and jobs that compete for it."""

from planner.model.result import SolveOptions

QUICK = SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=2.0)
