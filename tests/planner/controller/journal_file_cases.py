"""Shared by the tests of `durable` and `journal_file`."""

from pathlib import Path

from planner.controller import Controller, Settings
from tests.planner.simulate.grounds import cluster

RULES = Settings(greedy_budget_s=60, repair_budget_s=0, snapshot_every=4)


def opened(path: Path) -> Controller:
    return Controller(cluster("lightpath"), path, RULES)
