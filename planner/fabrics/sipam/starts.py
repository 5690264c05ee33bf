"""Where the search in racks with pooled memory starts from."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import Sipam
from costmodel.parallelism.mappings import distinct_rows
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.sipam.packed_start import packed
from planner.fabrics.sipam.placeable import are_placeable, fewest_servers
from planner.fabrics.starts import Starts, kind_columns, most_valuable
from planner.model.clock import Clock
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.plan import Assignment

MOST_COUNTS, FEW_SERVERS = 20_000, 3
"""candidates x servers, and servers, up to which CP-SAT alone finds as good a plan in seconds"""

MANY_COUNTS, FEW_S = 1_000, 15.0
"""jobs x servers above which, and time limit up to which, plans from few candidates are as good and come sooner: on
pools of 1,024 and 4,096 accelerators"""


class PoolStarts(Starts):
    """Servers packed one by one; in small pools best fit, and the published loop where it divides memory."""

    job_s = 0.0027

    def lists_few(self, instance: Instance, limit_s: float) -> bool:
        is_by_value = [objective.name for objective in instance.objectives] == ["value"] and not instance.placed_steps
        counts = len(instance.all_jobs) * instance.cluster.fabric.num_servers
        return is_by_value and counts > MANY_COUNTS and limit_s <= FEW_S

    def few_rows(self, options: JobOptions) -> NDArray[np.int64]:
        """Of jobs that no server holds alone, those of rows that servers have uplinks for, where there are any."""
        assert isinstance(options.fabric, Sipam)
        c, few, fabric = options.candidates, super().few_rows(options), options.fabric
        units = fabric.trays_per_server * fabric.units_per_tray
        if not (fewest_servers(c.take(few), fabric.devices_per_server, units) > 1).all():
            return few
        are_kept = are_placeable(c.take(few), fabric)
        if are_kept.all():
            return few
        kind = distinct_rows(kind_columns(options))[1]
        others = np.flatnonzero(np.isin(kind, kind[few[~are_kept]]))
        others = others[are_placeable(c.take(others), fabric)]
        found = np.union1d(few[are_kept], most_valuable(options, others))
        return found if len(found) else few

    def heuristics(self, cluster: Cluster) -> Sequence[str]:
        assert isinstance(cluster.fabric, Sipam)
        return ("priced", "best_fit", *(() if cluster.fabric.local_memory else ("sipam_loop",)))

    def packed(self, problem: Problem, seed: int, clock: Clock, most_moves: int) -> Iterator[list[Assignment]]:
        return packed(problem, seed, clock, most_moves) if _is_packed(problem) else iter(())


def _is_packed(problem: Problem) -> bool:
    """True if a pool and its jobs are too large for CP-SAT alone."""
    servers = problem.cluster.fabric.num_servers
    return servers > FEW_SERVERS and problem.num_candidates * servers > MOST_COUNTS
