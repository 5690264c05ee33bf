"""Greedy packing where jobs hold accelerators alone, and those of a server are alike: by numbers, without a free state.

The same jobs get the same accelerators as on a free state, in a fraction of its time.
"""

from collections.abc import Iterable
from operator import attrgetter

from costmodel.fabrics import FabricBase
from planner.fabrics import plugin_of
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.room_index import MANY_SERVERS, Room, ServersByCount
from planner.fabrics.search import Blocks, Strategy
from planner.model.health import Health
from planner.model.plan import Assignment


class CountedServers:
    """Numbers of free accelerators of servers that one job may use together, all of which work."""

    def __init__(self, fabric: FabricBase, strategy: Strategy) -> None:
        """`strategy` says how a job lies on the servers."""
        self._fabric, self._strategy, self._servers = fabric, strategy, range(fabric.num_servers)
        self._most = fabric.devices_per_server
        self._free = [self._most] * fabric.num_servers
        self._by_count = ServersByCount(self._free, self._most)
        self.num_free = fabric.num_devices

    @classmethod
    def of(cls, problem: Problem, strategy: Strategy) -> "CountedServers | None":
        """Those of a problem; None where more than numbers counts, or servers are few."""
        cluster, fabric = problem.cluster, problem.cluster.fabric
        is_counted = (
            plugin_of(fabric).starts.are_counted
            and fabric.num_servers >= MANY_SERVERS
            and (fabric.links_racks or fabric.racks == 1)
            and fabric.upper_layer is None
            and cluster.health == Health()
            and not problem.instance.residents
            and not any(map(attrgetter("job.constraints.servers_by_rack"), problem.options))
        )
        return cls(fabric, strategy) if is_counted else None

    def place(self, options: JobOptions, rows: Iterable[int]) -> Assignment | None:
        """Place one job with the first of the rows that fits, and take what it needs."""
        hopeless = set[object]()
        for row in rows:
            demand = options.shapes[row]
            if demand.num_ranks > self.num_free or demand.room_key in hopeless:
                continue
            most = 1 if demand.is_even else self._most // demand.part
            room = Room(self._by_count, demand.part)
            blocks = next(iter(self._strategy(room, self._servers, demand.num_parts, most)), None)
            if blocks is not None:
                return options.assignment(row, self._taken(blocks, demand.part), ())
            hopeless.add(demand.room_key)
        return None

    def _taken(self, blocks: Blocks, part: int) -> list[str]:
        """The first free accelerators of each server for so many parts, taken: names by rank."""
        names, free = list[str](), self._free
        for server, count in blocks:
            first = self._most - free[server]
            names += self._fabric.device_names([(server, slot) for slot in range(first, first + count * part)])
            free[server] -= count * part
            self._by_count.changed(server)
        self.num_free -= len(names)
        return names
