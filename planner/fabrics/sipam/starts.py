"""Where the search in racks with pooled memory starts from."""

from collections.abc import Iterator, Sequence

from costmodel.fabrics import Sipam
from planner.fabrics.problem import Problem
from planner.fabrics.sipam.packed_start import packed
from planner.fabrics.starts import Starts
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

    def heuristics(self, cluster: Cluster) -> Sequence[str]:
        assert isinstance(cluster.fabric, Sipam)
        return ("priced", "best_fit", *(() if cluster.fabric.local_memory else ("sipam_loop",)))

    def packed(self, problem: Problem, seed: int, clock: Clock, most_moves: int) -> Iterator[list[Assignment]]:
        return packed(problem, seed, clock, most_moves) if _is_packed(problem) else iter(())


def _is_packed(problem: Problem) -> bool:
    """True if a pool and its jobs are too large for CP-SAT alone."""
    servers = problem.cluster.fabric.num_servers
    return servers > FEW_SERVERS and problem.num_candidates * servers > MOST_COUNTS
