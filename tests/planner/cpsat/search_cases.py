"""Shared by the tests of `core`, `fix_configurations`, `fragmentation` and `search`."""

from planner.model.result import SolveOptions

OPTIONS = SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=5.0)
