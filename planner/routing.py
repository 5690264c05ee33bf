"""From counts of blocks to ranks, devices and circuits without a solver."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, permutations

import numpy as np

from costmodel.fabrics import Lightpath
from planner.cluster import Cluster
from planner.demand import Shape
from planner.light import Device, Light
from planner.plan import Assignment, HeldCircuits
from planner.problem import JobOptions, Problem

MAX_LAYOUTS = 24
MAX_ORDERS = 12


@dataclass(frozen=True)
class Choice:
    """Step 1's word on one admitted job: candidate row, and blocks by server; or the resident stays."""

    row: int
    stays: bool
    blocks: tuple[tuple[int, int], ...]
    """(server, number of blocks), ascending"""


Pattern = Mapping[int, Choice]
"""Choices by index of the job in `Problem.options`."""


class Slots:
    """Free devices by server."""

    def __init__(self, cluster: Cluster) -> None:
        servers = range(cluster.fabric.num_servers)
        self.lit: list[list[int]] = [list(cluster.lit_slots(s)) for s in servers]
        self.dark: list[list[int]] = [sorted(set(cluster.healthy_slots(s)) - set(self.lit[s])) for s in servers]

    def free(self, server: int, *, single: bool) -> list[int]:
        """Slots that a job may take; a single-device job takes those without a port first."""
        return [*self.dark[server], *self.lit[server]] if single else self.lit[server]

    def take(self, devices: Iterable[Device]) -> None:
        for server, slot in devices:
            (self.lit if slot in self.lit[server] else self.dark)[server].remove(slot)


@dataclass
class Board:
    """State while jobs are placed one by one: free devices and taken light."""

    cluster: Cluster
    slots: Slots
    light: Light | None

    @classmethod
    def empty(cls, cluster: Cluster, most_lit: Mapping[tuple[int, int], int] | None = None) -> "Board":
        light = Light(cluster, most_lit) if isinstance(cluster.fabric, Lightpath) else None
        return cls(cluster, Slots(cluster), light)

    def take(self, assignment: Assignment) -> None:
        """Take the devices and the light of an assignment."""
        self.slots.take(self.cluster.fabric.parse_device(name) for name in assignment.devices)
        if self.light is not None:
            self.light.commit(assignment.circuits)

    def realize(
        self,
        options: JobOptions,
        row: int,
        blocks: Sequence[tuple[int, int]],
        layout: Sequence[int] | None = None,
    ) -> Assignment | None:
        """Place a candidate with so many blocks on each server, and take it; None where first fit fails.

        `layout` gives the server of each block; else several are tried.
        """
        shape = options.shapes[row]
        for servers in [layout] if layout is not None else layouts(shape, blocks):
            devices = self._devices(shape, servers)
            if devices is None:
                return None
            circuits: tuple[HeldCircuits, ...] | None = ()
            if self.light is not None:
                circuits = self.light.route(shape, devices) if has_room(self.light, shape, servers) else None
            if circuits is not None:
                names = [self.cluster.fabric.device_name(*device) for device in devices]
                assignment = options.assignment(row, names, circuits)
                self.take(assignment)
                return assignment
            if len(blocks) == 1 and not self._slots_matter:
                return None
        return None

    @property
    def _slots_matter(self) -> bool:
        return self.light is not None and self.light.fabric.slots_matter

    def _devices(self, shape: Shape, layout: Sequence[int]) -> list[Device] | None:
        single = shape.num_ranks == 1
        free = {s: iter(list(self.slots.free(s, single=single))) for s in set(layout)}
        devices = []
        for server in layout:
            for _ in range(shape.block):
                slot = next(free[server], None)
                if slot is None:
                    return None
                devices.append((server, slot))
        return devices


def has_room(light: Light, shape: Shape, servers: Sequence[int]) -> bool:
    """Whether each pair of servers has the free wavelengths that blocks on these servers need; necessary only."""
    names, places = np.unique(np.asarray(servers), return_inverse=True)
    if len(names) == 1:
        return True
    on = np.zeros((len(servers), len(names)), dtype=np.int64)
    on[np.arange(len(servers)), places] = 1
    needed = np.zeros((len(names), len(names)), dtype=np.int64)
    for between in shape.between_blocks:
        needed = np.maximum(needed, on.T @ between @ on)
    np.fill_diagonal(needed, 0)
    return all(needed[a, b] <= light.free_wavelengths(int(names[a]), int(names[b])) for a, b in np.argwhere(needed))


def layouts(shape: Shape, blocks: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
    """Servers of the blocks in rank order: runs on one server, the servers in several orders.

    With a pipeline and data replicas the blocks are also laid out stage by stage.
    """
    for order in islice(permutations(blocks), MAX_LAYOUTS):
        runs = [server for server, count in order for _ in range(count)]
        yield runs
        if (
            shape.pipeline > 1
            and shape.data > 1
            and shape.num_blocks == shape.pipeline * shape.data
            and len(blocks) > 1
        ):
            stages = range(shape.pipeline)
            yield [runs[stage * shape.data + index] for index in range(shape.data) for stage in stages]


def route_pattern(
    problem: Problem,
    pattern: Pattern,
    most_lit: Mapping[tuple[int, int], int] | None = None,
    fixed: Mapping[int, Sequence[int]] | None = None,
) -> list[Assignment] | None:
    """Assignments that realise a pattern, job by job; None where first fit finds none in several orders.

    `fixed` gives the server of each block of some jobs.
    """
    fixed = fixed or {}
    staying = [problem.options[j].staying() for j, choice in pattern.items() if choice.stays]
    placed = [j for j, choice in pattern.items() if not choice.stays]
    order = sorted(placed, key=lambda j: _difficulty(problem, j, pattern[j]), reverse=True)
    for _ in range(MAX_ORDERS):
        board = Board.empty(problem.cluster, most_lit)
        for assignment in staying:
            board.take(assignment)
        assignments = list(staying)
        for j in order:
            found = board.realize(problem.options[j], pattern[j].row, pattern[j].blocks, fixed.get(j))
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


def _difficulty(problem: Problem, j: int, choice: Choice) -> tuple[bool, int, int]:
    shape = problem.options[j].shapes[choice.row]
    spans = len(choice.blocks) > 1
    return spans, int(shape.boundary.max()) if spans else 0, shape.num_ranks
