"""From counts of blocks to ranks, devices and circuits without a solver."""

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from costmodel.fabrics import Lightpath, OcsRail, Sipam, SlicedFabric
from costmodel.fabrics.sliced import Held
from planner.fabrics.circuits_between import busiest
from planner.fabrics.demand import Demand
from planner.fabrics.divided_ports.free_shares import FreeShares
from planner.fabrics.lightpath.layouts import MAX_LAYOUTS, arrangements, layouts, runs
from planner.fabrics.lightpath.routes import Device
from planner.fabrics.lightpath.rwa import Spectrum
from planner.fabrics.ocs_rail.rails import FreeRails
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.sipam.free_pool import FreePool
from planner.fabrics.slices.free_slices import FreeSlices, as_before, slice_circuits
from planner.model.cluster import Cluster
from planner.model.instance import Resident
from planner.model.plan import Assignment

MOST_SLOTTED = 2
"""orders of the servers tried for one job where slots matter: each comes with several orders of the slots"""
MAX_ORDERS = 12
"""orders of the jobs that first fit tries"""
MOST_SLOTTED_ORDERS = 3
"""the same where slots matter"""


@dataclass(frozen=True)
class Choice:
    """Step 1's word on one admitted job: candidate row, and blocks by server; or the resident stays."""

    row: int
    stays: bool
    blocks: tuple[tuple[int, int], ...]
    """(server, number of blocks), ascending"""


Pattern = Mapping[int, Choice]
"""Choices by index of the job in `Problem.options`."""


class FreeSlots:
    """Free devices by server."""

    def __init__(self, cluster: Cluster) -> None:
        servers = range(cluster.fabric.num_servers)
        self._without_port = cluster.dark_devices
        self._num_lost = {d: mask.bit_count() for d, mask in cluster.failed_lasers.items()}
        for device, mask in cluster.failed_receivers.items():
            self._num_lost[device] = self._num_lost.get(device, 0) + mask.bit_count()
        self.lit: list[list[int]] = [self._by_loss(s, cluster.lit_slots(s)) for s in servers]
        self.dark: list[list[int]] = [sorted(set(cluster.healthy_slots(s)) - set(self.lit[s])) for s in servers]

    def free(self, server: int, *, single: bool) -> list[int]:
        """Slots that a job may take, those that can use the most wavelengths first.

        A single-device job takes those without a port first, then those that can use the fewest wavelengths.
        """
        return [*self.dark[server], *self._by_loss(server, self.lit[server], -1)] if single else self.lit[server]

    def _by_loss(self, server: int, slots: Iterable[int], sign: int = 1) -> list[int]:
        if not self._num_lost:
            return list(slots)
        return sorted(slots, key=lambda slot: sign * self._num_lost.get((server, slot), 0))

    def take(self, devices: Iterable[Device]) -> None:
        for server, slot in devices:
            (self.lit if slot in self.lit[server] else self.dark)[server].remove(slot)

    def release(self, devices: Iterable[Device]) -> None:
        for server, slot in devices:
            if (server, slot) in self._without_port:
                insort(self.dark[server], slot)
            elif self._num_lost:
                self.lit[server] = self._by_loss(server, sorted([*self.lit[server], slot]))
            else:
                insort(self.lit[server], slot)


@dataclass
class FreeState:
    """State while jobs are placed one by one: free devices and taken light."""

    cluster: Cluster
    slots: FreeSlots
    shares: FreeShares
    light: Spectrum | None
    rails: FreeRails | None = None
    cuts: FreeSlices | None = None
    pool: FreePool | None = None

    @classmethod
    def empty(cls, cluster: Cluster, most_lit: Mapping[tuple[int, int], int] | None = None) -> "FreeState":
        light = Spectrum(cluster, most_lit) if isinstance(cluster.fabric, Lightpath) else None
        rails = FreeRails(cluster) if isinstance(cluster.fabric, OcsRail) else None
        cuts = FreeSlices(cluster) if isinstance(cluster.fabric, SlicedFabric) else None
        pool = FreePool(cluster) if isinstance(cluster.fabric, Sipam) else None
        return cls(cluster, FreeSlots(cluster), FreeShares.of(cluster), light, rails, cuts, pool)

    def take(self, assignment: Assignment) -> None:
        """Take the devices and the light of an assignment."""
        devices = [self.cluster.fabric.parse_device(name) for name in assignment.devices]
        self.slots.take(devices)
        if self.cuts is not None:
            self.cuts.take(devices)
        if self.light is not None:
            self.light.commit(assignment.circuits)
        if self.pool is not None:
            self.pool.take(assignment)
        self.shares.take(assignment.configuration, devices)

    def release(self, assignment: Assignment) -> None:
        """Give back the devices, light or slices of an assignment that was taken; not on rails and pooled racks."""
        assert (self.rails, self.pool) == (None, None)
        devices = [self.cluster.fabric.parse_device(name) for name in assignment.devices]
        self.slots.release(devices)
        if self.light is not None:
            self.light.release(assignment.circuits)
        if self.cuts is not None:
            self.cuts.release(devices)
        self.shares.take(assignment.configuration, devices, -1)

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
        if self.needs_rails(shape):
            return self.realize_on_rails(options, row, [server for server, _ in blocks])
        if shape.cut:
            return self._realize_on_free_slices(options, row, blocks)
        if self.pool is not None:
            return self._realize_in_pool(options, row, layout or runs(blocks))
        for servers in [layout] if layout is not None else self._layouts(shape, blocks):
            if self.light is not None and not has_room(self.light, shape, servers):
                continue
            for devices in self._ways_to_lie(shape, servers):
                circuits = () if self.light is None else self.light.route(shape, devices)
                if circuits is not None:
                    names = [self.cluster.fabric.device_name(*device) for device in devices]
                    assignment = options.assignment(row, names, circuits)
                    self.take(assignment)
                    return assignment
        return None

    def _realize_in_pool(self, options: JobOptions, row: int, layout: Sequence[int]) -> Assignment | None:
        """Blocks in runs, server after server, with memory and circuits by first fit."""
        assert self.pool is not None
        shape = options.shapes[row]
        devices = self.devices(shape, layout)
        found = None if devices is None else self.pool.connect(shape, devices)
        if devices is None or found is None:
            return None
        self.slots.take(devices)
        return options.assignment(row, [self.cluster.fabric.device_name(*device) for device in devices], *found)

    def needs_rails(self, shape: Demand) -> bool:
        """Whether a shape takes one block on each of its servers, all on the same rails."""
        return self.rails is not None and shape.num_ports > 0

    def realize_on_rails(
        self, options: JobOptions, row: int, servers: Sequence[int], rails: Sequence[int] | None = None
    ) -> Assignment | None:
        """Place a candidate with one block on each of these servers, and take it, on the given rails or the first that
        all have free; None where they have not."""
        assert self.rails is not None
        shape = options.shapes[row]
        if rails is None:
            rails = self.rails.common(shape, [self.slots.lit[server] for server in servers])[: shape.block]
        if len(rails) < shape.block or len(servers) != shape.num_blocks:
            return None
        devices = [(server, rail) for server in servers for rail in rails]
        names = [self.cluster.fabric.device_name(*device) for device in devices]
        assignment = options.assignment(row, names, self.rails.circuits(shape, devices))
        self.take(assignment)
        return assignment

    def _realize_on_free_slices(
        self, options: JobOptions, row: int, blocks: Sequence[tuple[int, int]]
    ) -> Assignment | None:
        assert self.cuts is not None
        shape, held = options.shapes[row], list[Held]()
        for server, count in blocks:
            free = self.cuts.disjoint(server, shape.cut)[: count * shape.slices_together]
            if len(free) < count * shape.slices_together:
                return None
            held += [(server, each.slots) for each in free]
        return self.realize_on_slices(options, row, held)

    def realize_on_slices(self, options: JobOptions, row: int, held: Sequence[Held]) -> Assignment:
        """Place a candidate on these slices, which are free, and take it; a resident keeps its ranks where it can."""
        assert self.cuts is not None
        fabric, plans = self.cuts.fabric, options.candidates.row_plans(row)
        if isinstance(options.job, Resident) and row == options.current and options.shapes[row].slices_together == 1:
            now = fabric.held(plans, [fabric.parse_device(name) for name in options.job.devices])
            held = as_before(held, now or ())
        names = [fabric.device_name(*device) for device in fabric.layout(plans, held)]
        assignment = options.assignment(row, names, slice_circuits(fabric, plans, held))
        self.take(assignment)
        return assignment

    def _layouts(self, shape: Demand, blocks: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
        """Servers of the blocks to try; inside one server they differ only where slots matter."""
        few = 1 if len(blocks) == 1 else MAX_LAYOUTS
        return layouts(shape, blocks, MOST_SLOTTED if slots_matter(self.cluster) else few)

    def _ways_to_lie(self, shape: Demand, layout: Sequence[int]) -> Iterator[list[Device]]:
        """Free devices for ranks whose blocks lie on these servers: the first ones, and others where slots matter."""
        if slots_matter(self.cluster) and shape.num_ranks > 1:
            assert self.light is not None
            yield from arrangements(self.light.fabric, shape, layout, self.slots.lit)
        first = self.devices(shape, layout)
        if first is not None:
            yield first

    def devices(self, shape: Demand, layout: Sequence[int]) -> list[Device] | None:
        """Free devices for ranks whose blocks lie on these servers; None where a server has too few."""
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


def slots_matter(cluster: Cluster) -> bool:
    """Whether it matters on which tiles of a server a job lies."""
    return isinstance(cluster.fabric, Lightpath) and cluster.fabric.slots_matter


def has_room(light: Spectrum, shape: Demand, servers: Sequence[int]) -> bool:
    """Whether each pair of servers has the free wavelengths that blocks on these servers need; necessary only."""
    names, places = np.unique(np.asarray(servers), return_inverse=True)
    if len(names) == 1:
        return True
    needed = busiest(shape.between_blocks, places, len(names))
    return all(needed[a, b] <= light.room(int(names[a]), int(names[b])) for a, b in np.argwhere(needed))


def route_pattern(
    problem: Problem,
    pattern: Pattern,
    most_lit: Mapping[tuple[int, int], int] | None = None,
    fixed: Mapping[int, Sequence[int]] | None = None,
) -> list[Assignment] | None:
    """Assignments that realise a pattern, job by job; None where first fit finds none in several orders.

    `fixed` gives the server of each block of some jobs.
    """
    staying = [problem.options[j].staying() for j, choice in pattern.items() if choice.stays]
    placed = [j for j, choice in pattern.items() if not choice.stays]
    order = sorted(placed, key=lambda j: _difficulty(problem, j, pattern[j]), reverse=True)
    for _ in range(MOST_SLOTTED_ORDERS if slots_matter(problem.cluster) else MAX_ORDERS):
        board = FreeState.empty(problem.cluster, most_lit)
        for assignment in staying:
            board.take(assignment)
        assignments = list(staying)
        for j in order:
            found = board.realize(problem.options[j], pattern[j].row, pattern[j].blocks, (fixed or {}).get(j))
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
    if isinstance(problem.cluster.fabric, OcsRail):
        return shape.num_ports > 0, shape.num_ports, shape.num_ranks
    if isinstance(problem.cluster.fabric, Sipam):
        has_rest = shape.held_units % problem.cluster.fabric.port_units > 0
        return len(choice.blocks) > 1, 2 * shape.held_io + has_rest, shape.held_units * shape.num_ranks
    spans = len(choice.blocks) > 1
    return spans, int(shape.boundary.max()) if spans else 0, shape.num_ranks
