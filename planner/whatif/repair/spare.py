"""Quick repair: lost ranks enter free devices, nothing else moves, and first fit finds the circuits."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count, islice

from costmodel.pricing.servers_by_rack import is_met
from planner.fabrics import plugin_of
from planner.fabrics.ranked_assignment import RankedAssignment
from planner.fabrics.spares import CircuitRouter, Device
from planner.model.plan import Assignment, Circuit
from planner.whatif.repair.damaged_plan import DamagedPlan

MAX_PLACEMENTS, MAX_STEPS = 64, 20_000
"""choices of free devices that are tried, and single devices on the way to them"""


def use_spares(damage: DamagedPlan, *, keep_light: bool) -> list[Assignment] | None:
    """All assignments after lost ranks entered free devices; None where first fit finds no way.

    `keep_light`: circuits between ranks that stay, and without failed parts, stay as they are; otherwise all
    circuits of a touched job are routed anew.
    """
    broken = [tenant for tenant in damage.tenants if tenant.name in damage.touched]
    fixed = [tenant for tenant in damage.tenants if tenant.name not in damage.touched]
    router = plugin_of(damage.cluster.fabric).spares.router(damage.cluster, [tenant.assignment for tenant in fixed])
    for devices in islice(_placements(damage, broken), MAX_PLACEMENTS):
        router.restart()
        found = _routed(damage, broken, devices, router, keep_light)
        if found is not None:
            names = {assignment.job: assignment for assignment in found}
            return [names.get(a.job, a) for a in damage.plan.assignments]
    return None


def _placements(damage: DamagedPlan, broken: Sequence[RankedAssignment]) -> Iterator[list[tuple[Device, ...]]]:
    """Devices of the touched jobs, every lost rank on a free one; of devices that are alike, one is tried."""
    fabric, dark = damage.cluster.fabric, damage.cluster.dark_devices
    slots = [(t, rank) for t, tenant in enumerate(broken) for rank in damage.lost.get(tenant.name, ())]
    places = [list(tenant.devices) for tenant in broken]
    steps = count()

    @cache
    def nearest(home: int, is_single: bool) -> list[Device]:
        """Free devices, those of the server first, and for a job of one device those without a port."""
        return sorted(damage.free, key=lambda d: (d[0] != home, is_single and d not in dark, d))

    def extend(index: int, used: frozenset[Device]) -> Iterator[list[tuple[Device, ...]]]:
        if index == len(slots):
            if all(_keeps_layout(damage, tenant, devices) for tenant, devices in zip(broken, places, strict=True)):
                yield [tuple(devices) for devices in places]
            return
        t, rank = slots[index]
        is_single = len(places[t]) == 1
        servers = _servers_of_block(damage, broken[t], places[t], rank)
        tried: set[object] = set()
        for device in nearest(broken[t].devices[rank][0], is_single):
            kind = device if fabric.slots_matter else (device[0], damage.cluster.condition(device))
            if device in used or kind in tried or (device in dark and not is_single) or servers - {device[0]}:
                continue
            if next(steps) >= MAX_STEPS:
                return
            tried.add(kind)
            places[t][rank] = device
            yield from extend(index + 1, used | {device})

    yield from extend(0, frozenset())


def _servers_of_block(
    damage: DamagedPlan, tenant: RankedAssignment, places: Sequence[Device], rank: int
) -> frozenset[int]:
    """Where the other ranks of its block lie that are not lost, or have a new place."""
    start, lost = rank - rank % tenant.block, damage.lost[tenant.name]
    others = (i for i in range(start, start + tenant.block) if i < rank or i not in lost)
    return frozenset(places[i][0] for i in others)


def _keeps_layout(damage: DamagedPlan, tenant: RankedAssignment, devices: Sequence[Device]) -> bool:
    fabric = damage.cluster.fabric
    racks = [fabric.rack_of(server) for server, _ in devices]
    if not fabric.links_racks and len({*racks}) > tenant.assignment.configuration.racks:
        return False
    if tenant.assignment.configuration.racks > 1 and racks != [fabric.rack_of(server) for server, _ in tenant.devices]:
        return False
    blocks = [{server for server, _ in devices[i : i + tenant.block]} for i in range(0, len(devices), tenant.block)]
    is_even = tenant.name not in damage.even or len(set().union(*blocks)) == len(blocks)
    asked = damage.by_rack.get(tenant.name)
    is_met_by_rack = asked is None or is_met(asked, Counter(map(fabric.rack_of, set().union(*blocks))).values())
    return is_even and is_met_by_rack and all(len(servers) == 1 for servers in blocks)


def _routed(
    damage: DamagedPlan,
    broken: Sequence[RankedAssignment],
    devices: Sequence[Sequence[Device]],
    router: CircuitRouter,
    keep_light: bool,
) -> list[Assignment] | None:
    """The touched jobs on new devices, their circuits beside those of all others."""
    result = []
    for tenant, places in zip(broken, devices, strict=True):
        kept = _kept(damage, tenant, places) if keep_light else [{} for _ in tenant.links]
        circuits = router.add(tenant, places, kept)
        if circuits is None:
            return None
        names = tuple(damage.cluster.fabric.device_names(places))
        result.append(tenant.assignment.model_copy(update={"devices": names, "circuits": circuits}))
    return result


def _kept(damage: DamagedPlan, tenant: RankedAssignment, devices: Sequence[Device]) -> list[dict[int, Circuit]]:
    """Circuits, by position, whose ranks are as they were and whose light needs no failed part."""
    stays = [old == new for old, new in zip(tenant.devices, devices, strict=True)]
    return [
        {
            i: circuit
            for i, (link, circuit) in enumerate(zip(links, held.circuits, strict=True))
            if stays[link.source] and stays[link.destination] and i not in broken
        }
        for links, broken, held in zip(
            tenant.links, damage.broken[tenant.name], tenant.assignment.circuits, strict=True
        )
    ]
