"""Shared by the tests of `dlrm_pooling`, `energy_lines` and `reproduced`."""

from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import ExperimentOutcome, reproduce_file


def outcome(name: str) -> ExperimentOutcome:
    return reproduce_file(FOLDER / "photonic_fabric" / f"{name}.yaml")
