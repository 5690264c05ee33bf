"""Amounts that jobs share beside accelerators, and what each candidate takes of them."""

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.problem import Problem
from planner.model.cluster import Cluster

Floats = NDArray[np.float64]


class SharedAmounts:
    """Jobs share nothing but accelerators."""

    def are_any(self, cluster: Cluster) -> bool:
        """True if jobs share more than accelerators."""
        return False

    def usage(self, problem: Problem) -> list[Floats]:
        """Use of each row of each job as fractions of all there is, shape (C_j, R); accelerators come first."""
        there_is = max(problem.cluster.num_healthy, 1e-9)
        return [options.candidates.num_devices[:, None] / there_is for options in problem.options]

    def packed(self, problem: Problem) -> "tuple[float, tuple[Floats, ...]] | None":
        """Bounds on the value of any plan, and of any that uses a row, (C_j,) for each job, by what one server holds;
        None where no such bounds are known."""
        return None
