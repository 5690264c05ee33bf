"""Where the search in racks with pooled memory starts from."""

from collections.abc import Iterator, Sequence

from costmodel.fabrics import Sipam
from planner.fabrics.problem import Problem
from planner.fabrics.sipam.packed_start import packed
from planner.fabrics.starts import Starts
from planner.model.clock import Clock
from planner.model.cluster import Cluster
from planner.model.plan import Assignment

MOST_COUNTS, FEW_SERVERS = 20_000, 3
"""candidates x servers, and servers, up to which CP-SAT alone finds as good a plan in seconds"""


class PoolStarts(Starts):
    """Servers packed one by one; in small pools best fit, and the published loop where it divides memory."""

    job_s = 0.0027

    def heuristics(self, cluster: Cluster) -> Sequence[str]:
        assert isinstance(cluster.fabric, Sipam)
        return ("priced", "best_fit", *(() if cluster.fabric.local_memory else ("sipam_loop",)))

    def packed(self, problem: Problem, seed: int, clock: Clock, most_moves: int) -> Iterator[list[Assignment]]:
        return packed(problem, seed, clock, most_moves) if _is_packed(problem) else iter(())


def _is_packed(problem: Problem) -> bool:
    """True if a pool and its jobs are too large for CP-SAT alone."""
    servers = problem.cluster.fabric.num_servers
    return servers > FEW_SERVERS and problem.num_candidates * servers > MOST_COUNTS
