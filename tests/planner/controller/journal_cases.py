"""Shared by the tests of `durable`, `journal_file` and `journal`."""

from planner.controller import Settings

ROOMY = Settings(greedy_budget_s=9, repair_budget_s=9)
