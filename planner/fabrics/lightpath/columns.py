r"""Columns of tiles beyond the fibers, where tiles share waveguides: what jobs over several servers take of them.

Fibers end in the first columns of a server. The columns beyond are joined to these by one waveguide of each row, which
carry $q$ wavelengths together: of job j at least $L_j(k)$, where k of its ranks lie beyond and others do not. So each
server has $\sum_j L_j(k_j) \le q$, and at most one job for which $L_j(k_j) > q / 2$. All other ranks lie beside the
fibers, where there are few tiles. `FiberColumns` sums this over all servers; weights join the three into one row each
time, for which every job is charged the cheapest way to divide it.
"""

from math import inf

from costmodel.fabrics import Lightpath
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.least_light import Least, leaving_in_block, leaving_ranks
from planner.formulation.step_one import Scarce
from planner.model.cluster import Cluster

Weights = tuple[int, int, int]
"""of a rank beside fibers, of a wavelength to the columns beyond, of more than half of all wavelengths there"""
Needs = tuple[int, ...] | None


class FiberColumns:
    """What jobs need of all columns together, by what they ask for."""

    def __init__(self, cluster: Cluster) -> None:
        fabric = cluster.fabric
        assert isinstance(fabric, Lightpath)
        self._rows, self._tiles = fabric.tile_rows, fabric.tiles_per_server
        self._carried = self._rows * fabric.wavelengths_per_tile
        columns, servers = self._tiles // self._rows, range(fabric.num_servers)
        beside = min(_most_fibers(fabric), columns)
        self._most_beside = beside * self._rows
        self._beside = sum(slot % columns < beside for s in servers for slot in cluster.healthy_slots(s))
        self._num_servers = len(servers)
        carried, has_beyond = self._carried, beside < columns
        self._weights: tuple[Weights, ...] = ((carried, 1, 0), (1, 0, 1), (2 * carried, 1, carried)) * has_beyond
        self._known: dict[tuple[int, int, Least, Least], Needs] = {}

    @classmethod
    def scarce(cls, cluster: Cluster) -> Scarce:
        """One row of each weights; none where fibers end in all columns."""
        columns = cls(cluster)
        return Scarce(columns.capacities, columns.needs)

    @property
    def capacities(self) -> tuple[int, ...]:
        """By weights: of all servers together."""
        boundary = self._num_servers * self._carried
        return tuple(
            rank * self._beside + light * boundary + wide * self._num_servers for rank, light, wide in self._weights
        )

    def needs(self, demand: Demand) -> Needs:
        """By weights: what a job takes at least, wherever it lies; None where no servers have a place for it."""
        if demand.racks > 1:
            return (0,) * len(self._weights)
        question = demand.num_ranks, demand.block, leaving_ranks(demand), leaving_in_block(demand)
        if question not in self._known:
            self._known[question] = self._needs(*question)
        return self._known[question]

    def _needs(self, ranks: int, block: int, leaving: Least, in_block: Least) -> Needs:
        """In one server it needs nothing beside fibers, and its circuits take none."""
        if not self._may_lie(in_block)[block]:
            return None
        if ranks <= self._tiles and self._may_lie(leaving)[ranks]:
            return (0,) * len(self._weights)
        beyond = self._may_lie(leaving[: min(ranks - 1, self._tiles - self._most_beside) + 1])
        needed = [self._least(ranks, block, leaving, beyond, weights) for weights in self._weights]
        return tuple(int(each) for each in needed) if max(needed, default=0) < inf else None

    def _may_lie(self, leaving: Least) -> list[bool]:
        """For k = 0, 1, ...: whether the last columns of a server may hold k ranks, as far as the waveguides that lead
        there carry their light, and that of those further on, one column less each time."""
        lies = [True]
        for needed in leaving[1:]:
            lies.append(needed <= self._carried and any(lies[-self._rows :]))
        return lies

    def _least(self, ranks: int, block: int, leaving: Least, beyond: list[bool], weights: Weights) -> float:
        """Over all ways to divide whole blocks over servers, and each server's ranks between its columns."""
        rank, light, wide = weights
        beyond_cost = {
            k: light * leaving[k] + wide * (2 * leaving[k] > self._carried) for k, lies in enumerate(beyond) if lies
        }
        of_server = {}
        for count in range(block, min(ranks - block, self._tiles) + 1, block):
            ways = [rank * (count - k) + c for k, c in beyond_cost.items() if 0 <= count - k <= self._most_beside]
            if ways:
                of_server[count] = min(ways)
        least: list[float] = [0.0, *[inf] * ranks]
        for total in range(block, ranks + 1, block):
            least[total] = min((least[total - n] + cost for n, cost in of_server.items() if n <= total), default=inf)
        return least[ranks]


def _most_fibers(fabric: Lightpath) -> int:
    """Of a pair of servers."""
    fibers = fabric.fibers
    return fibers if isinstance(fibers, int) else max((bundle.count for bundle in fibers), default=0)
