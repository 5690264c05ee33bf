"""Shared by the tests of `collective_energy`, `dlrm_pooling` and `offload_energy`."""

from typing import Any

from planner.studies.reproduce.published import FOLDER, read
from planner.studies.reproduce.run import ExperimentOutcome, reproduce_file


def outcome(name: str) -> ExperimentOutcome:
    return reproduce_file(FOLDER / "photonic_fabric" / f"{name}.yaml")


def models(name: str) -> list[Any]:
    found: list[Any] = read(FOLDER / "photonic_fabric" / f"{name}.yaml").inputs["models"]
    return found


def tebibytes(model: Any) -> float:
    return model["layers"] * model["hidden"] * 8192 * 3072 * 2 / 1024**4
