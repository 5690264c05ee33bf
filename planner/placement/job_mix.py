"""What the jobs of a trace run: traces carry no workload, so a mix declares them and draws one for each job."""

import importlib.resources
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from costmodel.spec import Spec
from costmodel.workloads import Workload
from planner.model import files
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.model.instance import MOST_ACCELERATORS, Range
from planner.simulate.trace import Trace


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


def assign(trace: Trace, mix: Mix, able: Mapping[int, Sequence[int]], seed: int) -> NDArray[np.int64]:
    """Number of the workload of each job, shape (jobs,): the one that the trace names, or one drawn by share.

    `able` lists the workloads that run on each size; every job draws one number, so that traces and seeds agree on it.
    """
    chance = np.random.default_rng([seed, 1]).random(len(trace))
    numbers = np.full(len(trace), -1, dtype=np.int64)
    names = {each.name: number for number, each in enumerate(mix.workloads)}
    for size in np.unique(trace.num_gpus).tolist():
        rows = np.flatnonzero(trace.num_gpus == size)
        if not able[size]:
            raise InputError(
                trace.name, f"line {trace.line[rows[0]]}, column 'num_gpus'",
                f"no workload of the mix '{mix.name}' runs on {size} accelerators of its reference; add one that does",
            )  # fmt: skip
        shares = np.cumsum([mix.workloads[number].share for number in able[size]])
        drawn = np.searchsorted(shares / shares[-1], chance[rows], side="right")
        numbers[rows] = np.asarray(able[size], dtype=np.int64)[drawn]
    for name in np.unique(trace.workload).tolist():
        if name:
            rows = np.flatnonzero(trace.workload == name)
            _require_known(trace, mix, name, names, rows, able)
            numbers[rows] = names[name]
    return numbers


def _require_known(
    trace: Trace,
    mix: Mix,
    name: str,
    names: Mapping[str, int],
    rows: NDArray[np.int64],
    able: Mapping[int, Sequence[int]],
) -> None:
    if name not in names:
        problem = f"'{name}' is no workload of the mix '{mix.name}'; it has {', '.join(names)}"
        raise InputError(trace.name, f"line {trace.line[rows[0]]}, column 'workload'", problem)
    for row in rows.tolist():
        size = int(trace.num_gpus[row])
        if names[name] not in able[size]:
            problem = f"'{name}' does not run on {size} accelerators of the mix's reference; give another size"
            raise InputError(trace.name, f"line {trace.line[row]}, column 'workload'", problem)
