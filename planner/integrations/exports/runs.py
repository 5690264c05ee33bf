"""Transfers of a schedule with neighbouring chunks joined."""

from dataclasses import dataclass

import numpy as np

from costmodel.collectives.schedule import LOCAL, Schedule


@dataclass(frozen=True, slots=True)
class Run:
    """`count` neighbouring chunks that move together; circuit LOCAL where sender and receiver are the same."""

    sender: int
    receiver: int
    chunk: int
    target: int
    count: int
    is_reduction: bool
    circuit: int


@dataclass(frozen=True)
class Round:
    """All that moves at the same time."""

    configuration: int
    runs: tuple[Run, ...]

    @property
    def is_local(self) -> bool:
        return all(run.circuit == LOCAL for run in self.runs)


def rounds_of(schedule: Schedule) -> tuple[Round, ...]:
    """Rounds of the first call, runs ordered by sender and receiver."""
    columns = (schedule.sender, schedule.receiver, schedule.circuit, schedule.is_reduction, schedule.chunk)
    starts, found = schedule.starts, []
    for number in np.flatnonzero(schedule.call_of == 0):
        rows = np.arange(starts[number], starts[number + 1])
        rows = rows[np.lexsort([column[rows] for column in reversed(columns)])]
        same = np.ones(max(len(rows) - 1, 0), dtype=bool)
        for column in columns[:-1]:
            same &= np.diff(column[rows].astype(np.int64)) == 0
        for column in (schedule.chunk, schedule.target):
            same &= np.diff(column[rows]) == 1
        heads = np.flatnonzero(np.concatenate([[True], ~same])) if len(rows) else rows
        counts = np.diff(heads, append=len(rows))
        runs = tuple(
            Run(
                int(schedule.sender[row]),
                int(schedule.receiver[row]),
                int(schedule.chunk[row]),
                int(schedule.target[row]),
                int(count),
                bool(schedule.is_reduction[row]),
                int(schedule.circuit[row]),
            )
            for row, count in zip(rows[heads], counts, strict=True)
        )
        found.append(Round(int(schedule.configuration_of[number]), runs))
    return tuple(found)
