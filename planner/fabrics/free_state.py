"""What is free while jobs are placed one by one, and from counts of blocks to ranks, devices and circuits."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner.fabrics import plugin_of
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device, FreeSlots
from planner.fabrics.problem import JobOptions, Problem
from planner.model.cluster import Cluster
from planner.model.plan import Assignment, HeldCircuits

Blocks = list[tuple[int, int]]
"""(server, number of blocks), ascending"""
Strategy = Callable[[Sequence[int], Sequence[int], int, int], Iterable[Blocks]]
"""(blocks that fit by server, servers that one job may use together, blocks, blocks that one server takes at most) ->
ways to spread the blocks over the servers, the best first"""
MostLit = Mapping[tuple[int, int], int]
"""by ordered pair of servers: fibers that may carry light"""


@dataclass(frozen=True)
class Choice:
    """Step 1's word on one admitted job: candidate row, and blocks by server; or the resident stays."""

    row: int
    stays: bool
    blocks: tuple[tuple[int, int], ...]
    """(server, number of blocks), ascending"""


Pattern = Mapping[int, Choice]
"""Choices by index of the job in `Problem.options`."""


class FreeState:
    """Free devices of servers joined by packets; fabrics whose jobs hold more than devices extend it."""

    most_orders = 12
    """orders of the jobs that first fit tries"""

    def __init__(self, cluster: Cluster) -> None:
        """Nothing is taken."""
        self.cluster = cluster
        self.slots = FreeSlots(cluster)
        fabric = cluster.fabric
        servers = range(fabric.num_servers)
        self.together: Sequence[Sequence[int]] = (
            [servers] if fabric.links_racks else [servers[i : i + fabric.servers] for i in servers[:: fabric.servers]]
        )
        """servers that one job may use together"""

    @staticmethod
    def empty(cluster: Cluster, most_lit: MostLit | None = None) -> "FreeState":
        """The state of a cluster with nothing placed, as its fabric has it."""
        return plugin_of(cluster.fabric).free_state(cluster, most_lit)

    def take(self, assignment: Assignment) -> None:
        """Take all that an assignment holds."""
        self._take(assignment, self._devices_of(assignment))

    def release(self, assignment: Assignment) -> None:
        """Give back all that an assignment holds, which was taken."""
        self._release(assignment, self._devices_of(assignment))

    def _devices_of(self, assignment: Assignment) -> list[Device]:
        return [self.cluster.fabric.parse_device(name) for name in assignment.devices]

    def _take(self, assignment: Assignment, devices: Sequence[Device]) -> None:
        self.slots.take(devices)

    def _release(self, assignment: Assignment, devices: Sequence[Device]) -> None:
        self.slots.release(devices)

    def room(self, demand: Demand) -> Sequence[int]:
        """Blocks that fit on each server, whatever else they need elsewhere; shape (servers,)."""
        counts, block = self.slots.counts(single=demand.num_ranks == 1), demand.part
        return counts if block == 1 else [count // block for count in counts]

    def most_blocks(self, demand: Demand) -> int:
        """Blocks that a server takes at most, with nothing placed there."""
        return 1 if demand.is_even else self.cluster.fabric.devices_per_server // demand.part

    def spreads(self, demand: Demand, strategy: Strategy) -> Iterator[Blocks]:
        """Ways to spread a job over servers with room, the best first."""
        room, most = self.room(demand), self.most_blocks(demand)
        for servers in self.together:
            yield from strategy(room, servers, demand.num_parts, most)

    def is_apart(self, demand: Demand) -> bool:
        """Whether no two blocks of a job may lie in one server."""
        return demand.is_even

    def may_span(self, demand: Demand, blocks: Sequence[tuple[int, int]]) -> bool:
        """Whether the servers may be joined as so many blocks on each need it; necessary, not sufficient."""
        return True

    def difficulty(self, demand: Demand, blocks: Sequence[tuple[int, int]]) -> tuple[float, ...]:
        """A key: first fit places the jobs with the greatest first."""
        return len(blocks) > 1, 0, demand.num_ranks

    def realize(
        self, options: JobOptions, row: int, blocks: Sequence[tuple[int, int]], layout: Sequence[int] | None = None
    ) -> Assignment | None:
        """Place a candidate with so many blocks on each server, and take it; None where first fit fails.

        `layout` gives the server of each block; else several are tried.
        """
        devices = self.devices(options.shapes[row], layout or runs(blocks))
        return None if devices is None else self.realize_on(options, row, devices)

    def realize_on(self, options: JobOptions, row: int, devices: Sequence[Device]) -> Assignment | None:
        """Place a candidate with rank i on devices[i], which are free, and take it; None where first fit fails."""
        return self._placed(options, row, devices)

    def devices(self, demand: Demand, layout: Sequence[int]) -> list[Device] | None:
        """Free devices for ranks whose blocks lie on these servers; None where a server has too few."""
        single = demand.num_ranks == 1
        free = {s: iter(list(self.slots.free(s, single=single))) for s in set(layout)}
        devices = []
        for server in layout:
            for _ in range(demand.block):
                slot = next(free[server], None)
                if slot is None:
                    return None
                devices.append((server, slot))
        return devices

    def _placed(
        self, options: JobOptions, row: int, devices: Sequence[Device], circuits: Sequence[HeldCircuits] = ()
    ) -> Assignment:
        """The candidate on these devices, taken."""
        names = [self.cluster.fabric.device_name(*device) for device in devices]
        assignment = options.assignment(row, names, circuits)
        self._take(assignment, devices)
        return assignment


def runs(blocks: Iterable[tuple[int, int]]) -> list[int]:
    """Server of each block, all blocks of a server one after the other."""
    return [server for server, count in blocks for _ in range(count)]


def route_pattern(
    problem: Problem,
    pattern: Pattern,
    most_lit: MostLit | None = None,
    fixed: Mapping[int, Sequence[int]] | None = None,
) -> list[Assignment] | None:
    """Assignments that realise a pattern, job by job; None where first fit finds none in several orders.

    `fixed` gives the server of each block of some jobs.
    """
    staying = [problem.options[j].staying() for j, choice in pattern.items() if choice.stays]
    placed = [j for j, choice in pattern.items() if not choice.stays]
    free = FreeState.empty(problem.cluster, most_lit)

    def difficulty(j: int) -> tuple[float, ...]:
        return free.difficulty(problem.options[j].shapes[pattern[j].row], pattern[j].blocks)

    order = sorted(placed, key=difficulty, reverse=True)
    for number in range(free.most_orders):
        if number:
            free = FreeState.empty(problem.cluster, most_lit)
        for assignment in staying:
            free.take(assignment)
        assignments = list(staying)
        for j in order:
            found = free.realize(problem.options[j], pattern[j].row, pattern[j].blocks, (fixed or {}).get(j))
            if found is None:
                break
            assignments.append(found)
        else:
            return assignments
        if order[0] == j:
            return None
        order.remove(j)
        order.insert(0, j)
    return None
