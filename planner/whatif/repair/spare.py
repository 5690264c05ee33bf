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

MAX_PLACEMENTS, MAX_STEPS = 64, 5_000
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
    slots = [(t, rank) for t, tenant in enumerate(broken) for rank in damage.lost.get(tenant.name, ())]
    places, steps = [list(tenant.devices) for tenant in broken], count()

    @cache
    def nearest(home: int, is_single: bool) -> list[list[Device]]:
        """Free devices by kind, those of the server first, and for a job of one device those without a port."""
        dark = damage.cluster.dark_devices
        order = sorted(_alike(damage), key=lambda d: (d[0][0] != home, is_single and d[0] not in dark, d[0]))
        return [devices for devices in order if is_single or devices[0] not in dark]

    def extend(index: int, used: frozenset[Device]) -> Iterator[list[tuple[Device, ...]]]:
        if index == len(slots):
            if all(_keeps_layout(damage, tenant, devices) for tenant, devices in zip(broken, places, strict=True)):
                yield [tuple(devices) for devices in places]
            return
        t, rank = slots[index]
        servers = _servers_of_block(damage, broken[t], places[t], rank)
        racks = _racks_of_rank(damage, broken[t], rank)
        for devices in nearest(broken[t].devices[rank][0], len(places[t]) == 1):
            server = devices[0][0]
            if servers - {server} or (racks and damage.cluster.fabric.rack_of(server) not in racks):
                continue
            device = next((each for each in devices if each not in used), None)
            if device is None:
                continue
            if next(steps) >= MAX_STEPS:
                return
            places[t][rank] = device
            yield from extend(index + 1, used | {device})

    yield from extend(0, frozenset())


def _alike(damage: DamagedPlan) -> list[list[Device]]:
    """Free devices by server and condition, or one by one where slots matter."""
    found: dict[object, list[Device]] = {}
    for device in sorted(damage.free):
        kind = device if damage.cluster.fabric.slots_matter else (device[0], damage.cluster.condition(device))
        found.setdefault(kind, []).append(device)
    return [*found.values()]


def _servers_of_block(
    damage: DamagedPlan, tenant: RankedAssignment, places: Sequence[Device], rank: int
) -> frozenset[int]:
    """Where the other ranks of its block lie that are not lost, or have a new place."""
    start, lost = rank - rank % tenant.block, damage.lost[tenant.name]
    others = (i for i in range(start, start + tenant.block) if i < rank or i not in lost)
    return frozenset(places[i][0] for i in others)


def _racks_of_rank(damage: DamagedPlan, tenant: RankedAssignment, rank: int) -> frozenset[int]:
    """Racks that it may lie in; empty for any."""
    fabric, lost = damage.cluster.fabric, damage.lost[tenant.name]
    if tenant.assignment.configuration.racks > 1:
        return frozenset({fabric.rack_of(tenant.devices[rank][0])})
    if fabric.links_racks:
        return frozenset()
    return frozenset(fabric.rack_of(server) for i, (server, _) in enumerate(tenant.devices) if i not in lost)


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
