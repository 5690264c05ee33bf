"""The quick repair: lost ranks enter free devices, nothing else moves, and first fit finds the circuits."""

from collections.abc import Iterator, Sequence
from itertools import islice

from costmodel.fabrics import Lightpath
from planner.fabrics.lightpath.routes import Device
from planner.fabrics.lightpath.rwa import Spectrum
from planner.model.plan import Assignment, Circuit, HeldCircuits
from planner.model.ranked_assignment import RankedAssignment
from planner.whatif.repair.damaged_plan import DamagedPlan

MAX_PLACEMENTS = 64
"""choices of free devices that are tried"""


def use_spares(wreck: DamagedPlan, *, keep_light: bool) -> list[Assignment] | None:
    """All assignments after lost ranks entered free devices; None where first fit finds no way.

    `keep_light`: circuits between ranks that stay, and without failed parts, stay as they are; otherwise all
    circuits of a touched job are routed anew.
    """
    broken = [tenant for tenant in wreck.tenants if tenant.name in wreck.touched]
    fixed = [tenant for tenant in wreck.tenants if tenant.name not in wreck.touched]
    light = wreck.light_beside(fixed)
    taken = {} if light is None else dict(light.taken)
    for devices in islice(_placements(wreck, broken), MAX_PLACEMENTS):
        if light is not None:
            light.taken = dict(taken)
        found = _routed(wreck, broken, devices, light, keep_light)
        if found is not None:
            names = {assignment.job: assignment for assignment in found}
            return [names.get(a.job, a) for a in wreck.plan.assignments]
    return None


def _placements(wreck: DamagedPlan, broken: Sequence[RankedAssignment]) -> Iterator[list[tuple[Device, ...]]]:
    """Devices of the touched jobs, every lost rank on a free one; of devices that are alike, one is tried."""
    fabric = wreck.cluster.fabric
    matters = isinstance(fabric, Lightpath) and fabric.slots_matter
    slots = [(t, rank) for t, tenant in enumerate(broken) for rank in wreck.lost.get(tenant.name, ())]
    places = [list(tenant.devices) for tenant in broken]
    free = sorted(wreck.free)

    def extend(index: int, used: frozenset[Device]) -> Iterator[list[tuple[Device, ...]]]:
        if index == len(slots):
            if all(_keeps_layout(wreck, tenant, devices) for tenant, devices in zip(broken, places, strict=True)):
                yield [tuple(devices) for devices in places]
            return
        t, rank = slots[index]
        home, is_single = broken[t].devices[rank][0], len(places[t]) == 1
        tried: set[object] = set()
        dark = wreck.cluster.dark_devices
        for device in sorted(free, key=lambda d: (d[0] != home, is_single and d not in dark, d)):
            kind = device if matters else (device[0], wreck.cluster.condition(device))
            if device in used or kind in tried or (device in dark and not is_single):
                continue
            tried.add(kind)
            places[t][rank] = device
            yield from extend(index + 1, used | {device})

    yield from extend(0, frozenset())


def _keeps_layout(wreck: DamagedPlan, tenant: RankedAssignment, devices: Sequence[Device]) -> bool:
    fabric = wreck.cluster.fabric
    if not fabric.links_racks and len({fabric.rack_of(server) for server, _ in devices}) > 1:
        return False
    blocks = [{server for server, _ in devices[i : i + tenant.block]} for i in range(0, len(devices), tenant.block)]
    is_even = tenant.name not in wreck.even or len(set().union(*blocks)) == len(blocks)
    return is_even and all(len(servers) == 1 for servers in blocks)


def _routed(
    wreck: DamagedPlan,
    broken: Sequence[RankedAssignment],
    devices: Sequence[Sequence[Device]],
    light: Spectrum | None,
    keep_light: bool,
) -> list[Assignment] | None:
    """The touched jobs on new devices, their circuits beside those of all others."""
    result = []
    for tenant, places in zip(broken, devices, strict=True):
        circuits: tuple[HeldCircuits, ...] | None = ()
        if light is not None:
            kept = _kept(wreck, tenant, places) if keep_light else [{} for _ in tenant.links]
            circuits = tenant.complete(light, places, kept)
            if circuits is None:
                return None
            light.commit(circuits)
        names = tuple(wreck.cluster.fabric.device_name(*device) for device in places)
        result.append(tenant.assignment.model_copy(update={"devices": names, "circuits": circuits}))
    return result


def _kept(wreck: DamagedPlan, tenant: RankedAssignment, devices: Sequence[Device]) -> list[dict[int, Circuit]]:
    """Circuits, by position, whose ranks are as they were and whose light needs no failed part."""
    stays = [old == new for old, new in zip(tenant.devices, devices, strict=True)]
    return [
        {
            i: circuit
            for i, (link, circuit) in enumerate(zip(links, held.circuits, strict=True))
            if stays[link.source] and stays[link.destination] and i not in broken
        }
        for links, broken, held in zip(tenant.links, wreck.broken[tenant.name], tenant.assignment.circuits, strict=True)
    ]
