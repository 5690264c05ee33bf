"""Draws the workload of each job of a trace from a mix."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from planner.model.errors import InputError
from planner.placement.job_mix import Mix
from planner.simulate.trace import Trace


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
