"""Free devices of a cluster by slot, by count and by mask, kept together as jobs take them and give them back."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from math import inf
from typing import Any, Self

from planner.fabrics.added_devices import BegunParts, grown
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device, FreeSlots, masks_by_server
from planner.fabrics.job_class import Option
from planner.fabrics.placement import Owned
from planner.fabrics.refuted_spreads import RefutedSpreads
from planner.fabrics.room_index import MANY_SERVERS, Room, ServersByCount
from planner.fabrics.search import Blocks
from planner.model.cluster import Cluster

Masks = Mapping[int, int]
"""of slots, by server"""


class FreeDevices:
    """Free devices of one cluster, exact for its health."""

    def __init__(self, cluster: Cluster) -> None:
        """Nothing is taken."""
        self.cluster = cluster
        self.slots = FreeSlots(cluster)
        fabric = cluster.fabric
        servers = range(fabric.num_servers)
        self.per_server = fabric.devices_per_server
        self.together: Sequence[Sequence[int]] = (
            [servers] if fabric.links_racks else [servers[i : i + fabric.servers] for i in servers[:: fabric.servers]]
        )
        """servers that one job may use together"""
        self.lit = [len(slots) for slots in self.slots.lit]
        """free devices with a port, by server"""
        self.any = [lit + len(dark) for lit, dark in zip(self.lit, self.slots.dark, strict=True)]
        """free devices, by server"""
        self.num_free = sum(self.any)
        self._num_together = len(self.together[0])
        self.free_together = [sum(self.any[server] for server in servers) for servers in self.together]
        """free devices of servers that one job may use together"""
        self._all_together = tuple(self.free_together)
        self._with_free: dict[int, list[Sequence[int]]] = {}
        """those with so many, while nothing is taken or given back"""
        self.refused: RefutedSpreads | None = None
        """what light has refused in racks, where it has"""
        self.free = self.slots.masks
        """masks of the slots of free devices, by server"""
        self.taken_hooks: list[Callable[[Sequence[Device], bool], None]] = []
        """told which devices are taken (True) or given back"""
        self.dark, self.failed = cluster.dark_devices, cluster.failed_devices
        self._dark, self._failed = masks_by_server(self.dark), masks_by_server(self.failed)
        self._by_count: dict[bool, ServersByCount] = {}
        """servers by free devices with a port, and by all free devices (True), where that was asked for"""

    @property
    def racks_are_alike(self) -> bool:
        """True if racks in which nothing is taken are known to refuse the same."""
        return False

    @cached_property
    def _whole(self) -> tuple[int, ...]:
        """Free devices of racks alike in which nothing is taken; -1 for others."""
        return tuple(free if self.racks_are_alike else -1 for free in self._all_together)

    def with_free(self, num_devices: int) -> Sequence[Sequence[int]]:
        """Servers that one job may use together with so many free devices; of racks alike with nothing taken the first
        alone."""
        found = self._with_free.get(num_devices)
        if found is None:
            found = self._with_free[num_devices] = self._found_with_free(num_devices)
        return found

    def _found_with_free(self, num_devices: int) -> list[Sequence[int]]:
        found, is_whole_seen = list[Sequence[int]](), False
        if max(self.free_together) < num_devices:
            return found
        for servers, free, whole in zip(self.together, self.free_together, self._whole, strict=True):
            if free >= num_devices and not (free == whole and is_whole_seen):
                found.append(servers)
                is_whole_seen = is_whole_seen or free == whole
        return found

    def is_untouched(self, rack: int) -> bool:
        """True if nothing is taken in a rack that is known to refuse what others alike refuse."""
        return self.free_together[rack] == self._whole[rack]

    def refuse(self, demand: Demand, blocks: Blocks) -> None:
        """Light has refused a spread; remembered until something changes in the rack."""
        if self.refused is None:
            self.refused = RefutedSpreads(self._num_together, self.free_together, self._whole)
        self.refused.add(demand, blocks)

    def copy(self) -> Self:
        """A state to take from that leaves this one as it is; nobody is told what it takes."""
        twin = copy(self)
        twin.slots = self.slots.copy()
        twin.lit, twin.any, twin.free, twin.taken_hooks = [*self.lit], [*self.any], twin.slots.masks, []
        twin.free_together = [*self.free_together]
        twin.refused, twin._with_free = None, {}
        twin._by_count = {}
        return twin

    def room(self, demand: Demand) -> Sequence[int]:
        """Parts of a job that fit on each server, whatever else they need elsewhere; shape (servers,)."""
        counts, part = self.any if demand.is_single else self.lit, demand.part
        if len(counts) >= MANY_SERVERS:
            if demand.is_single not in self._by_count:
                self._by_count[demand.is_single] = ServersByCount(counts, self.per_server)
            return Room(self._by_count[demand.is_single], part)
        return counts if part == 1 else [count // part for count in counts]

    def devices(self, demand: Demand, layout: Sequence[int]) -> list[Device] | None:
        """The first free devices for ranks whose blocks lie on these servers; None where a server has too few."""
        used: dict[int, int] = {}
        devices: list[Device] = []
        for server in layout:
            start = used.get(server, 0)
            end = used[server] = start + demand.block
            slots = self.slots.free(server, single=True) if demand.is_single else self.slots.lit[server]
            if len(slots) < end:
                return None
            devices += [(server, slot) for slot in slots[start:end]]
        return devices

    def slots_beside(self, demand: Demand, held: Sequence[Device]) -> Mapping[int, Sequence[int]]:
        """Free slots by server that ranks may take together beside those on `held`, which are free too."""
        mine = {*held}
        return {
            server: [slot for slot in slots if (server, slot) not in mine]
            for server, slots in enumerate(self.slots.lit)
        }

    def grown(
        self, row: Option, devices: Sequence[Device], barred: frozenset[int], deadline_s: float = inf
    ) -> Iterator[list[Device]]:
        """Devices by rank of a row in one rack on which its first ranks keep `devices`, which are free, and the others
        lie on no barred server, the best first. Whether light or memory allows it is not looked at. OutOfTimeError
        after `deadline_s`."""
        held = BegunParts.of(row.shape, devices)
        if held is not None and self.dark.isdisjoint(devices):
            yield from self.grown_around(row, held, barred, deadline_s)

    def grown_around(
        self, row: Option, held: BegunParts, barred: frozenset[int], deadline_s: float
    ) -> Iterator[list[Device]]:
        """The same, of parts that lie right so far."""
        near = next(servers for servers in self.together if held.servers[0] in servers)
        slots = self.slots_beside(row.shape, held.devices)
        free = {server: slots[server] for server in near if slots.get(server) and server not in barred}
        return grown(self.cluster.fabric, row.shape, held, near, free)

    def hold(self, devices: Sequence[Device], owned: Owned[Any] | None = None, masks: Masks | None = None) -> None:
        """Take free devices, and what a job owns beside them; `masks`: the same devices by server, where known.
        ValueError where one is not free."""
        masks = masks_by_server(devices) if masks is None else masks
        self._forget_refusals(masks)
        self._count(masks, -1)
        for hook in self.taken_hooks:
            hook(devices, True)
        if owned is not None:
            self._take_owned(owned)
        self._changed(masks.keys(), owned)

    def give_back(self, devices: Sequence[Device], owned: Owned[Any] | None = None, masks: Masks | None = None) -> None:
        """Free those of these devices that work, and what a job owned beside them."""
        masks = masks_by_server(devices) if masks is None else masks
        self._forget_refusals(masks)
        if self.failed:
            devices, failed = [device for device in devices if device not in self.failed], self._failed
            masks = {server: mask & ~failed.get(server, 0) for server, mask in masks.items()}
        self._count(masks, 1)
        for hook in self.taken_hooks:
            hook(devices, False)
        if owned is not None:
            self._release_owned(owned)
        self._changed(masks.keys(), owned)

    def _forget_refusals(self, servers: Iterable[int]) -> None:
        """Light may be free, or taken, on these servers, whether or not their devices work."""
        if self.refused is not None and self.refused.are_any:
            self.refused.changed(servers)

    def _take_owned(self, owned: Owned[Any]) -> None:
        """Take what a job owns beside devices, where the fabric has anything of the kind."""

    def _release_owned(self, owned: Owned[Any]) -> None:
        """Free what a job owned beside devices."""

    def _count(self, masks: Masks, sign: int) -> None:
        """Fewer (-1) or more devices are free."""
        free, any_, lit, together, size = self.free, self.any, self.lit, self.free_together, self._num_together
        dark, total = self._dark, 0
        self._with_free.clear()
        for server, slots in masks.items():
            number = sign * slots.bit_count()
            if slots & free[server] != (slots if number < 0 else 0):
                raise ValueError(f"slots {slots:b} of server {server} are taken, or free, already")
            free[server] ^= slots
            any_[server] += number
            lit[server] += number - sign * (slots & dark[server]).bit_count() if server in dark else number
            together[server // size] += number
            total += number
        self.num_free += total

    def _changed(self, servers: Collection[int], owned: Owned[Any] | None) -> None:
        """Devices were taken or given back on these servers, and what a job owned beside them."""
        for index in self._by_count.values():
            for server in servers:
                index.changed(server)
