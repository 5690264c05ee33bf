"""Slices of fixed extent: which a server still has, and what a job on them holds."""

from collections.abc import Iterable, Sequence
from copy import copy
from math import prod

from costmodel.fabrics import GroupPlan, SlicedFabric, SliceShape
from costmodel.fabrics.sliced import Held, Slice
from planner.fabrics.free_slots import Device
from planner.model.cluster import Cluster
from planner.model.plan import Circuit, HeldCircuits


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
        self._counts: dict[SliceShape, list[int]] = {}
        """slices of an extent that each server has free at once"""
        self._stale: dict[SliceShape, set[int]] = {}
        """servers that have changed since their slices were counted"""
        self._fitting: dict[tuple[int, SliceShape, int], tuple[Slice, ...]] = {}
        self._most: dict[SliceShape, int] = {}

    def copy(self) -> "FreeSlices":
        """The same chips, to take from apart."""
        twin = copy(self)
        twin._slots = [*self._slots]
        twin._counts = {cut: [*counts] for cut, counts in self._counts.items()}
        twin._stale = {cut: {*servers} for cut, servers in self._stale.items()}
        return twin

    def take(self, devices: Iterable[Device]) -> None:
        """These chips are no longer free."""
        changed = set()
        for server, slot in devices:
            self._slots[server] &= ~(1 << slot)
            changed.add(server)
        self._changed(changed)

    def release(self, devices: Iterable[Device]) -> None:
        """These chips are free again, where they have a port."""
        changed = set()
        for server, slot in devices:
            self._slots[server] |= 1 << slot & self._lit[server]
            changed.add(server)
        self._changed(changed)

    def _changed(self, servers: set[int]) -> None:
        for stale in self._stale.values():
            stale |= servers

    def free_chips(self, server: int) -> int:
        """Free chips of a server with a port, as a bit mask by slot."""
        return self._slots[server]

    def usable(self, server: int, cut: SliceShape) -> list[Slice]:
        """Slices of an extent that lie on free chips of a server; they may overlap."""
        free = self._slots[server]
        return [each for each in self._with_switches(server, cut) if each.mask & free == each.mask]

    def disjoint(self, server: int, cut: SliceShape) -> tuple[Slice, ...]:
        """Slices of an extent that a server has free at once, first fit."""
        key = self.fabric.rack_of(server), cut, self._slots[server]
        if key not in self._fitting:
            self._fitting[key] = first_fit(self._with_switches(server, cut), self._slots[server])
        return self._fitting[key]

    def parts(self, cut: SliceShape, slices: int) -> Sequence[int]:
        """Number of times that each server has so many slices of an extent free at once, first fit."""
        counts = self._counts.setdefault(cut, [0] * len(self._slots))
        stale = self._stale.setdefault(cut, set(range(len(self._slots))))
        size = prod(cut)
        for server in stale:
            is_enough = self._slots[server].bit_count() >= size
            counts[server] = len(self.disjoint(server, cut)) if is_enough else 0
        stale.clear()
        return counts if slices == 1 else [number // slices for number in counts]

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
