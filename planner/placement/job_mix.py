"""Workloads of the jobs of a trace: traces carry no workload, so a mix declares them and draws one for each job."""

import importlib.resources
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from costmodel.spec import Spec
from costmodel.workloads import Workload
from planner.model import files
from planner.model.cluster import Cluster
from planner.model.job import MOST_ACCELERATORS, Range


class MixWorkload(Spec):
    """One workload of a mix."""

    name: str = Field(min_length=1)
    share: Annotated[float, Field(gt=0)] = 1.0
    """relative number of jobs, among the workloads that a size may run"""
    accelerators: Range = Range(min=1, max=MOST_ACCELERATORS)
    """sizes of jobs that run it"""
    workload: Workload


class Mix(Spec):
    """Workloads by share, and the cluster on which the recorded durations were so long."""

    name: str = Field(min_length=1)
    description: str = ""
    reference: Cluster
    """a job of the recorded size at its fastest here takes the recorded time; elsewhere as much more as it is slower"""
    durations: Literal["scaled", "recorded"] = "scaled"
    """recorded: every job takes the recorded time, however it runs"""
    workloads: tuple[MixWorkload, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [each.name for each in self.workloads]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"workloads: the name '{name}' is used {names.count(name)} times; names must differ")
        return self

    def may_run(self, size: int) -> list[int]:
        """Numbers of the workloads that a job of a size may run."""
        of_size = enumerate(each.accelerators for each in self.workloads)
        return [number for number, sizes in of_size if sizes.min <= size <= sizes.max]


def load_mix(path: Path | None = None) -> Mix:
    """A mix from a file, or the catalog's."""
    if path is not None:
        return files.load(Mix, path)
    text = importlib.resources.files("planner.catalog").joinpath("mix.yaml").read_text("utf-8")
    return files.validate(Mix, files.parse_text(text, "mix.yaml"), "mix.yaml")
