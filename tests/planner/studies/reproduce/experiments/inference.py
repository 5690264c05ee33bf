"""Shared by the tests of `modules`, `optical_hbm_inference`, `photonic_batches` and `photonic_inference`."""

from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import ExperimentOutcome, reproduce_file


def outcome(paper: str, name: str) -> ExperimentOutcome:
    return reproduce_file(FOLDER / paper / f"{name}.yaml")
