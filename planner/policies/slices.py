"""The frame of policies that cut slices of fixed shapes: jobs in arrival order, each on the first slice that fits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from planner.fabrics import plugin_of
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.search import MAX_FAILED
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

    def take(self, shape: Demand) -> tuple[Slice, list[Device]] | None:
        """The first slice for a shape, and the devices of its ranks; None where no slice or no block fits."""
        slice_ = self.allocator.allocate(shape.num_ranks)
        if slice_ is None:
            return None
        chosen = [self.devices[i] for i in members(slice_.devices)]
        devices = ranks_on(chosen, shape, apart=self.free.is_apart(shape))
        if not devices:
            self.allocator.release(slice_)
            return None
        return slice_, devices


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
    """Place one job with its most valuable row that a slice can realise."""
    hopeless: set[tuple[int, int]] = set()
    num_failed = 0
    for row in options.rows_by_value():
        shape = options.shapes[row]
        if (shape.num_ranks, shape.block) in hopeless:
            continue
        if shape.num_ranks == 1 and (dark := _without_port(free)):
            return free.assign_on(options, row, dark)
        found_any = False
        for place in places:
            given = place.take(shape)
            if given is None:
                continue
            found_any = True
            assignment = free.assign_on(options, row, given[1])
            if assignment is not None:
                return assignment
            place.allocator.release(given[0])
        num_failed += found_any
        if not found_any or num_failed >= MAX_FAILED:
            hopeless.add((shape.num_ranks, shape.block))
    return None


def _without_port(free: FreeState) -> list[Device]:
    """The first free device with a failed port, which serves single-device jobs only."""
    return [(server, slots[0]) for server, slots in enumerate(free.slots.dark) if slots][:1]
