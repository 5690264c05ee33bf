"""Shared by the tests of `pool_gains` and `pool_rooflines`."""

from functools import cache

from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import ExperimentOutcome, reproduce_file


@cache
def outcome(name: str) -> ExperimentOutcome:
    return reproduce_file(FOLDER / "sipam" / f"{name}.yaml")
