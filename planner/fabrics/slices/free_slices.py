"""Slices of fixed extent: which a server still has, and what a job on them holds."""

from collections.abc import Iterable, Sequence
from copy import copy
from math import prod

from costmodel.fabrics import GroupPlan, SlicedFabric, SliceShape
from costmodel.fabrics.sliced import Held, Slice
from planner.fabrics.free_devices import Masks
from planner.model.cluster import Cluster
from planner.model.plan import Circuit, HeldCircuits

MOST_CHANGES = 1024
"""of servers that are told apart; slices that were counted before are counted anew"""


class _Counted:
    """Slices of one extent that are free at once."""

    def __init__(self, num_servers: int, num_racks: int) -> None:
        """Nothing is counted."""
        self.by_server, self.by_rack = [0] * num_servers, [0] * num_racks
        """racks: servers that one job may use together"""
        self.most_chips = 0
        """on those of the rack with the most"""
        self.seen = -1
        """changes before these were counted"""

    def copy(self) -> "_Counted":
        twin = copy(self)
        twin.by_server, twin.by_rack = [*self.by_server], [*self.by_rack]
        return twin


class FreeSlices:
    """Slices of a cluster on working chips, whose wraps need no failed switch, and which chips are still free."""

    def __init__(self, cluster: Cluster) -> None:
        assert isinstance(cluster.fabric, SlicedFabric)
        self.fabric: SlicedFabric = cluster.fabric
        self._cluster = cluster
        self._lit = [sum(1 << slot for slot in cluster.lit_slots(s)) for s in range(self.fabric.num_servers)]
        self._slots = list(self._lit)
        self._switched: dict[tuple[int, SliceShape], Sequence[Slice]] = {}
        self._needed: dict[tuple[int, SliceShape, int], frozenset[tuple[int, int]]] = {}
        self._together = self.fabric.num_servers if self.fabric.links_racks else self.fabric.servers
        self._counts: dict[SliceShape, _Counted] = {}
        self._changes: list[int] = []
        """servers that have changed, the last ones"""
        self._num_before = 0
        """changes before these"""
        self._fitting: dict[tuple[int, SliceShape, int], tuple[Slice, ...]] = {}
        self._most: dict[SliceShape, int] = {}

    def copy(self) -> "FreeSlices":
        """The same chips, to take from apart."""
        twin = copy(self)
        twin._slots = [*self._slots]
        twin._changes = [*self._changes]
        twin._counts = {cut: counted.copy() for cut, counted in self._counts.items()}
        return twin

    def take(self, masks: Masks) -> None:
        """These chips are no longer free."""
        for server, mask in masks.items():
            self._slots[server] &= ~mask
        self._changed(masks)

    def release(self, masks: Masks) -> None:
        """These chips are free again, where they have a port."""
        for server, mask in masks.items():
            self._slots[server] |= mask & self._lit[server]
        self._changed(masks)

    def _changed(self, masks: Masks) -> None:
        if len(self._changes) > MOST_CHANGES:
            self._num_before += len(self._changes)
            self._changes.clear()
        self._changes.extend(masks)

    def free_chips(self, server: int) -> int:
        """Free chips of a server with a port, as a bit mask by slot."""
        return self._slots[server]

    def usable(self, server: int, cut: SliceShape) -> list[Slice]:
        """Slices of an extent that lie on free chips of a server; they may overlap."""
        free = self._slots[server]
        return [each for each in self._with_switches(server, cut) if each.mask & free == each.mask]

    def disjoint(self, server: int, cut: SliceShape) -> tuple[Slice, ...]:
        """Slices of an extent that a server has free at once, first fit."""
        rack = self.fabric.rack_of(server) if self._cluster.failed_switches else 0
        key = rack, cut, self._slots[server]
        if key not in self._fitting:
            self._fitting[key] = first_fit(self._with_switches(server, cut), self._slots[server])
        return self._fitting[key]

    def parts(self, cut: SliceShape, slices: int) -> Sequence[int]:
        """Number of times that each server has so many slices of an extent free at once, first fit."""
        counts = self._counted(cut).by_server
        return counts if slices == 1 else [number // slices for number in counts]

    def by_rack(self, cut: SliceShape) -> Sequence[int]:
        """Slices of an extent that the servers that one job may use together have free at once, first fit."""
        return self._counted(cut).by_rack

    def most_chips(self, cut: SliceShape) -> int:
        """Chips on the slices of an extent that one job may use together at most."""
        return self._counted(cut).most_chips

    def _counted(self, cut: SliceShape) -> _Counted:
        now, num_servers = self._num_before + len(self._changes), len(self._slots)
        counted = self._counts.get(cut)
        if counted is None:
            counted = self._counts[cut] = _Counted(num_servers, num_servers // self._together)
        if counted.seen < now:
            is_known = counted.seen >= self._num_before
            self._count(cut, counted, {*self._changes[counted.seen - self._num_before :]} if is_known else None)
            counted.seen = now
        return counted

    def _count(self, cut: SliceShape, counted: _Counted, servers: set[int] | None) -> None:
        """Count the slices of these servers anew, those of all where it is not known which have changed."""
        size = prod(cut)
        for server in range(len(self._slots)) if servers is None else servers:
            is_enough = self._slots[server].bit_count() >= size
            number = len(self.disjoint(server, cut)) if is_enough else 0
            counted.by_rack[server // self._together] += number - counted.by_server[server]
            counted.by_server[server] = number
        counted.most_chips = max(counted.by_rack) * size

    def most(self, cut: SliceShape) -> int:
        """Slices of an extent that an empty server has at once, first fit."""
        if cut not in self._most:
            self._most[cut] = len(first_fit(self.fabric.slices(cut), -1))
        return self._most[cut]

    def switches(self, server: int, cut: SliceShape, each: Slice) -> frozenset[tuple[int, int]]:
        """Optical switches that a slice needs."""
        key = server, cut, each.mask
        if key not in self._needed:
            self._needed[key] = self.fabric.needed_switches(server, cut, each.slots)
        return self._needed[key]

    def _with_switches(self, server: int, cut: SliceShape) -> Sequence[Slice]:
        failed, key = self._cluster.failed_switches, (self.fabric.rack_of(server), cut)
        if not failed:
            return self.fabric.slices(cut)
        if key not in self._switched:
            self._switched[key] = [
                each
                for each in self.fabric.slices(cut)
                if failed.isdisjoint(self.fabric.needed_switches(server, cut, each.slots))
            ]
        return self._switched[key]


def first_fit(slices: Iterable[Slice], free: int) -> tuple[Slice, ...]:
    """Slices that lie on free slots, a bit mask, and do not overlap, each as soon as it fits."""
    found = []
    for each in slices:
        if each.mask & free == each.mask:
            found.append(each)
            free ^= each.mask
    return tuple(found)


def as_before(held: Sequence[Held], now: Sequence[Held]) -> list[Held]:
    """The same slices in the order in which a job holds them now, new ones in place of those that it loses."""
    new = iter([each for each in held if each not in now])
    return [each if each in held else next(new) for each in now] if len(held) == len(now) else list(held)


def slice_circuits(fabric: SlicedFabric, plans: Sequence[GroupPlan], held: Sequence[Held]) -> tuple[HeldCircuits, ...]:
    """Circuits of a job on slices as a plan writes them: one configuration, or none."""
    circuits = tuple(
        Circuit(
            source=fabric.device_name(*line.source),
            destination=fabric.device_name(*line.destination),
            wavelengths=(0,),
            fibers=(fabric.switch_name(*line.switch),),
        )
        for line in fabric.lines(plans, held)
    )
    return (HeldCircuits(dimension="slice", circuits=circuits),) if circuits else ()
