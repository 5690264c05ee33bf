"""Where the search in racks with pooled memory starts from."""

from collections.abc import Iterator, Sequence

from costmodel.fabrics import Sipam
from planner.fabrics.problem import Problem
from planner.fabrics.sipam.packed_start import packed
from planner.fabrics.starts import Starts
from planner.model.clock import Clock
from planner.model.cluster import Cluster
from planner.model.plan import Assignment

FEW_DEVICES = 128
"""up to so many, CP-SAT alone finds the best plan in seconds"""


class PoolStarts(Starts):
    """Greedy by prices, and servers packed one by one; in small pools best fit, and the published loop where it divides
    memory."""

    def heuristics(self, cluster: Cluster) -> Sequence[str]:
        assert isinstance(cluster.fabric, Sipam)
        if _is_packed(cluster):
            return ("priced",)
        return ("priced", "best_fit", *(() if cluster.fabric.local_memory else ("sipam_loop",)))

    def packed(self, problem: Problem, seed: int, clock: Clock, most_moves: int) -> Iterator[list[Assignment]]:
        return packed(problem, seed, clock, most_moves) if _is_packed(problem.cluster) else iter(())


def _is_packed(cluster: Cluster) -> bool:
    """True if a pool is too large for CP-SAT alone."""
    return cluster.fabric.num_devices > FEW_DEVICES
