"""The frame of policies that cut slices of fixed shapes: jobs in arrival order, each on the first slice that fits."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from planner.fabrics import plugin_of
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.search import MAX_FAILED
from planner.fabrics.spreads_over_racks import JoinedAsFound
from planner.heuristics.greedy import LEAST_S
from planner.model.clock import Clock
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.model.plan import Assignment
from planner.slices.allocator import MaskAllocator, Slice, members


@dataclass(frozen=True)
class RackSlicing:
    """How a rack is cut: its devices in the order of the allocator's numbers, and the allocator of what is free."""

    devices: tuple[Device, ...]
    allocator: Callable[[int], MaskAllocator]
    """taken numbers as a bitmask -> allocator"""


Cutter = Callable[[Cluster, Sequence[int]], RackSlicing]
"""Cluster and the servers of one rack -> how to cut it."""


def place_on_slices(problem: Problem, cutter: Cutter, clock: Clock | None = None) -> list[Assignment] | None:
    """Assignments of residents and of every job that fits, or None if one that must run does not.

    The order is that of `place_all`: residents stay if they can, then displaced residents, required jobs and the
    others, each with its most valuable candidate that fits. What rounding adds to a slice stays idle. When the
    clock is over, jobs that may wait do.
    """
    if plugin_of(problem.cluster.fabric).own_slices:
        raise InputError(
            problem.instance.name, "policy", "a torus has its own torus_slices, a sipac its own bcube_slices; use those"
        )
    free = FreeState.empty(problem.cluster)
    assignments = [options.staying() for options in problem.options if options.can_stay]
    for assignment in assignments:
        free.take_named(assignment)
    places = [_Places(free, cutter(problem.cluster, servers)) for servers in free.together]
    clock = None if clock is None else clock.lasting(LEAST_S)
    waiting = [options for options in problem.options if not options.can_stay]
    for options in sorted(waiting, key=lambda options: not options.must_run):
        if clock is not None and clock.is_over and not options.must_run:
            break
        found = _place(free, places, options)
        if found is not None:
            assignments.append(found)
        elif options.must_run:
            return None
    return assignments


class _Places:
    """Slices of one rack; devices with a failed port belong to none."""

    def __init__(self, free: FreeState, cut: RackSlicing) -> None:
        self.free, self.devices = free, cut.devices
        lit = {(server, slot) for server, _ in cut.devices for slot in free.slots.lit[server]}
        self.allocator = cut.allocator(sum(1 << i for i, device in enumerate(cut.devices) if device not in lit))

    def find(self, shape: Demand) -> "_Given | None":
        """The first slice for a shape; None where no slice or no block fits. Nothing is taken."""
        slice_ = self.allocator.allocate(shape.num_ranks)
        if slice_ is None:
            return None
        self.allocator.release(slice_)
        chosen = [self.devices[i] for i in members(slice_.devices)]
        devices = ranks_on(chosen, shape, apart=shape.is_apart)
        return _Given(self, slice_, devices) if devices else None


@dataclass(frozen=True)
class _Given:
    """A slice of one rack, and the devices of the ranks on it."""

    places: _Places
    slice_: Slice
    devices: list[Device]

    def take(self) -> None:
        """Nobody else is given it."""
        self.places.allocator.free ^= self.slice_.devices


def ranks_on(devices: Sequence[Device], shape: Demand, *, apart: bool = False) -> list[Device]:
    """Device of each rank, server by server, every block in one server; [] where the slice is cut otherwise.

    `apart`: no two blocks in one server.
    """
    by_server: dict[int, list[Device]] = {}
    for device in sorted(devices):
        by_server.setdefault(device[0], []).append(device)
    blocks = {server: min(len(group) // shape.block, 1 if apart else len(group)) for server, group in by_server.items()}
    whole = [device for server, group in by_server.items() for device in group[: blocks[server] * shape.block]]
    return whole[: shape.num_ranks] if len(whole) >= shape.num_ranks else []


def _place(free: FreeState, places: Sequence[_Places], options: JobOptions) -> Assignment | None:
    """Place one job with its most valuable row that slices can realise."""
    hopeless: set[tuple[int, ...]] = set()
    num_failed = {True: 0, False: 0}
    for row in options.rows_by_value():
        shape = options.shapes[row]
        key, is_whole = (shape.num_ranks, shape.block, shape.racks, shape.links), shape.racks == 1
        if key in hopeless:
            continue
        if shape.num_ranks == 1 and (dark := _without_port(free)):
            return free.assign_on(options, row, dark)
        found_any = False
        for chosen in _chosen(free, places, options, row):
            found_any = True
            devices = [device for given in chosen for device in given.devices]
            assignment = free.assign_on(options, row, devices) if chosen else None
            if assignment is not None:
                for given in chosen:
                    given.take()
                return assignment
        num_failed[is_whole] += found_any
        if not found_any or num_failed[is_whole] >= MAX_FAILED:
            hopeless.add(key)
    return None


def _chosen(free: FreeState, places: Sequence[_Places], options: JobOptions, row: int) -> Iterator[list[_Given]]:
    """Slices for a row, one in each of its racks, the first racks first; [] for a slice on which light is refused."""
    shape = options.shapes[row]
    found = ((rack, given) for rack, each in enumerate(places) if (given := each.find(shape.in_rack)) is not None)
    if shape.racks == 1:
        yield from ([given] for _, given in found)
    elif free.links is not None:
        racks = JoinedAsFound[_Given](shape, free.links)
        for rack, given in found:
            yield from racks.choices_with(rack, given) if free.fits_in_rack(options, row, given.devices) else ([],)


def _without_port(free: FreeState) -> list[Device]:
    """The first free device with a failed port, which serves single-device jobs only."""
    return [(server, slots[0]) for server, slots in enumerate(free.slots.dark) if slots][:1]
