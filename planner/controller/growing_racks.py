"""A running job goes on over more of the racks that an upper layer joins: each new rack has what each of its own has.

What it has in its racks stays as it is, and so do the circuits between these. Ranks of the new racks come after its
own, and a job lies rack after rack, so that the new racks are those behind its last one.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations

from planner.controller.free_state import ControllerFreeState
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import Option
from planner.placement.placement import Place


def grown_over_racks(
    free: ControllerFreeState, row: Option, devices: Sequence[Device], barred: frozenset[int], deadline_s: float
) -> Iterator[list[Device]]:
    """Devices by rank of a row over several racks whose first ranks keep `devices`, which are free: whole racks of it.
    Each new rack lies on no barred server, where a place is found there first. OutOfTimeError after `deadline_s`."""
    runs, rack_of = _runs(free.state, row, devices), free.cluster.fabric.rack_of
    held = [rack_of(run[0][0]) for run in runs]
    more = row.shape.racks - len(held)
    if not held or more <= 0:
        return
    behind = range(held[-1] + 1, free.cluster.fabric.racks)
    found = (free.first_in_rack(row.in_rack, rack, barred, deadline_s) for rack in behind)
    able = [part.devices for part in found if part is not None]
    for chosen in combinations(able, more):
        yield [*devices, *chain.from_iterable(chosen)]


def why_not_kept(free: FreeState, row: Option, place: Place) -> str | None:
    """What a row has no place for of the circuits that a place has in its racks, in words; None where it has all."""
    if row.shape.racks == 1:
        return free.why_not_kept(row, place.devices, place.lit)
    runs = _runs(free, row, place.devices)
    if not runs:
        return "its accelerators would lie otherwise in its racks"
    lit = ((run, place.lit.among(free.cluster.fabric.device_names(run))) for run in runs)
    wrong = (free.why_not_kept(row.in_rack, run, own) for run, own in lit if own)
    return next((each for each in wrong if each is not None), None)


def _runs(free: FreeState, row: Option, devices: Sequence[Device]) -> list[Sequence[Device]]:
    """What lies in each rack, where that is what a row has in each of its racks; else nothing."""
    size, rack_of = row.in_rack.shape.num_ranks, free.cluster.fabric.rack_of
    runs = [devices[i : i + size] for i in range(0, len(devices), size)]
    racks = [{rack_of(server) for server, _ in run} for run in runs]
    is_whole = len(devices) % size == 0 and all(len(each) == 1 for each in racks)
    return runs if is_whole and len(set[int]().union(*racks)) == len(runs) else []
