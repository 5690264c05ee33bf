"""Where the search over fibers starts from."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.lightpath.shortlist import ShortList, shortlist
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.starts import Starts
from planner.model.cluster import Cluster
from planner.model.instance import Instance

MANY = 4_000
"""jobs times servers of joined racks from which on few candidates stand for all: jobs over several racks have more than
step 1 holds, and to compare them takes longer than to place what is left of them"""


class LightpathStarts(Starts):
    """Few candidates where slots matter or step 1 would be too large; from the start where many jobs may span racks."""

    def lists_few(self, instance: Instance, limit_s: float) -> bool:
        fabric = instance.cluster.fabric
        is_by_value = instance.objectives[0].name == "value" and not instance.placed_steps
        is_many = len(instance.all_jobs) * fabric.num_servers > MANY
        return fabric.upper_layer is not None and is_many and is_by_value

    def short_rows(self, options: JobOptions) -> NDArray[np.int64]:
        return shortlist(options)

    def are_scattered(self, cluster: Cluster) -> bool:
        return cluster.fabric.slots_matter

    def short_list(self, problem: Problem, is_large: Callable[[], bool]) -> Problem | None:
        return ShortList.of(problem).problem if problem.cluster.fabric.slots_matter or is_large() else None
