"""Starts of the search by CP-SAT: heuristics, and the candidates they look at."""

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from costmodel.parallelism.mappings import first_of_each, grouped
from planner.fabrics.problem import JobOptions, Problem
from planner.model.clock import Clock
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.plan import Assignment


class Starts:
    """All candidates, by first fit and best fit."""

    are_improved: ClassVar[bool] = False
    """whether starts from all candidates are made better by ruin and recreate"""

    job_s: ClassVar[float] = 0.0
    """that a job takes to be placed and checked, where these take as long as listing: a short time limit keeps it"""

    are_counted: ClassVar[bool] = False
    """whether jobs hold accelerators alone, and those of a server are alike: they are packed by numbers"""

    def lists_few(self, instance: Instance, limit_s: float) -> bool:
        """Whether so short a time limit is better spent on packing few candidates of each job, that stand for all, than
        on finding the dominated ones."""
        return False

    def few_rows(self, options: JobOptions) -> NDArray[np.int64]:
        """The most valuable row for each size, block, number of racks, of links and share of memory in each phase, and
        others that the fabric packs, ascending: where to find dominated rows takes too long."""
        return most_valuable(options, np.arange(len(options)))

    def short_rows(self, options: JobOptions) -> NDArray[np.int64] | None:
        """The rows of a job that `short_list` keeps, ascending; None where it has no such list."""
        return None

    def heuristics(self, cluster: Cluster) -> Sequence[str]:
        """Heuristics to start from, the first one first."""
        return "priced", "first_fit", "best_fit"

    def are_scattered(self, cluster: Cluster) -> bool:
        """Whether jobs that a server has devices for may find room over several servers alone."""
        return False

    def short_list(self, problem: Problem, is_large: Callable[[], bool]) -> Problem | None:
        """Few candidates that stand for all, if all were too many; `is_large`: whether step 1 would be."""
        return None

    def packed(self, problem: Problem, seed: int, clock: Clock, most_moves: int) -> Iterator[list[Assignment]]:
        """Plans of more and more value, packed by counts, until the clock is over or after so many moves; none where
        the fabric has no such packing, or the cluster is small."""
        return iter(())


def most_valuable(options: JobOptions, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of some rows the most valuable one of each kind, ascending."""
    _, order, starts = grouped([column[rows] for column in kind_columns(options)])
    best = first_of_each(starts, -options.value[rows][order], options.energy[rows][order])
    return np.sort(rows[order[best]])


def kind_columns(options: JobOptions) -> list[NDArray[np.int64]]:
    """Size, block, number of racks, of links and share of memory in each phase of every row."""
    c = options.candidates
    columns = (c.num_devices, c.block, c.racks, c.links, c.split, c.in_first_phase().split)
    return [column.astype(np.int64) for column in columns]
