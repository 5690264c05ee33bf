"""Free devices of a cluster while jobs come and go, kept by number: what replays and controllers place on.

What is kept of the full model is exact for the cluster's health; candidates and their speeds are expanded beforehand,
names and plans are never built. As given here servers are joined by packets; a fabric whose jobs hold more extends it.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import inf
from typing import Any, ClassVar

from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import Blocks, FreeState, Strategy
from planner.fabrics.job_class import JobClass, Option
from planner.fabrics.placement import Owned, Placement
from planner.model.cluster import Cluster, Health
from planner.model.edit import edited

MAX_FAILED = 30
"""so often a job is routed across servers in vain before only single servers are tried"""
NOBODY: frozenset[int] = frozenset()


class OutOfTimeError(Exception):
    """A search for a place has run out of its time; nothing was taken."""


def require_time(deadline_s: float) -> None:
    """OutOfTimeError where a time on the clock of time.perf_counter is over."""
    if deadline_s < inf and time.perf_counter() > deadline_s:
        raise OutOfTimeError


@dataclass(frozen=True, slots=True)
class Search:
    """How, where and how long a place is looked for."""

    strategy: Strategy
    is_fixed: bool = True
    """whether the strategy gives the same ways whenever it is asked"""
    of_loop: bool = False
    """whether only rows of the published loop are looked at"""
    among: Sequence[Sequence[int]] | None = None
    """servers that are looked at together; all of each rack by default"""
    barred: frozenset[int] = NOBODY
    """servers that the job may not take where no strategy chooses servers"""
    deadline_s: float = inf
    """on the clock of time.perf_counter"""


class State:
    """One cluster; every method is exact for its health."""

    is_costly: ClassVar[bool] = False
    """whether a search takes so long that a controller looks at a few racks at a time"""
    has_pool: ClassVar[bool] = False
    """whether free devices of a server may lack memory, so that counting them does not say who fits"""
    least_search_s: ClassVar[float] = 0.0
    """time that a controller gives a search at least"""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.board = FreeState.empty(cluster)
        self.slots = self.board.slots
        self.per_server = cluster.fabric.devices_per_server
        self.together = self.board.together
        """servers that one job may use together"""
        self.lit = [len(slots) for slots in self.slots.lit]
        """free devices with a port, by server"""
        self.any = [lit + len(dark) for lit, dark in zip(self.lit, self.slots.dark, strict=True)]
        """free devices, by server"""
        self.num_free = sum(self.any)
        slots = zip(self.slots.lit, self.slots.dark, strict=True)
        self.free = [sum(1 << slot for slot in (*lit, *dark)) for lit, dark in slots]
        """masks of the slots of free devices, by server"""
        self.taken_hooks: list[Callable[[Sequence[Device], bool], None]] = []
        """told which devices are taken (True) or given back"""
        self.dark, self.failed = cluster.dark_devices, cluster.failed_devices

    def place(self, kind: JobClass, search: Search) -> Placement | None:
        """The class's most valuable row that finds a place, taken; None where none does."""
        if kind.held > self.num_free:
            return None
        hopeless: set[object] = set()
        num_failed = 0
        for row in kind.of_loop if search.of_loop else kind.rows:
            if row.shape.room_key in hopeless:
                continue
            found_any = False
            for blocks in self.ways(row, search):
                found_any = True
                if len(blocks) > 1 and (num_failed == MAX_FAILED or not self.may_span(row, blocks)):
                    continue
                placement = self.realize(row, blocks, search.deadline_s)
                if placement is not None:
                    return self.taking(placement)
                num_failed += 1
            if not found_any:
                hopeless.add(row.shape.room_key)
        return None

    def may_span(self, row: Option, blocks: Blocks) -> bool:
        """True if enough light is free between these servers; necessary, not sufficient."""
        return self.board.may_span(row.shape, blocks)

    def taking(self, placement: Placement) -> Placement:
        """A placement, taken."""
        self.take(placement)
        return placement

    def take(self, placement: Placement) -> None:
        """Mark a placement as taken, all of which is free."""
        self._count(placement.held, -1)
        self.slots.take(placement.held)
        for hook in self.taken_hooks:
            hook(placement.held, True)

    def release(self, placement: Placement) -> None:
        """Give back what works of a placement."""
        held: Sequence[Device] = placement.held
        if self.failed:
            held = [device for device in held if device not in self.failed]
        self._count(held, 1)
        self.slots.release(held)
        for hook in self.taken_hooks:
            hook(held, False)

    def working(self, placement: Placement) -> Placement:
        """A placement without what has failed of a slice beyond its ranks."""
        if self.failed.isdisjoint(placement.held):
            return placement
        return replace(placement, held=tuple(device for device in placement.held if device not in self.failed))

    @property
    def taken(self) -> Mapping[Any, int]:
        """Masks of what jobs hold beside devices: wavelengths by fiber, or numbers by part of a pooled rack."""
        return {}

    def broken(self, placement: Placement) -> bool:
        """True if a job stands on something that has failed."""
        cluster = self.cluster
        if any(device in self.failed for device in placement.devices):
            return True
        if len(placement.devices) > 1 and any(device in self.dark for device in placement.devices):
            return True
        if not cluster.failed_switches.isdisjoint(placement.switches):
            return True
        return placement.owned is not None and self.has_lost(placement.devices, placement.owned)

    def has_lost(self, devices: Sequence[Device], owned: Owned[Any]) -> bool:
        """True if something that a job holds beside its devices has failed."""
        return False

    def _count(self, devices: Iterable[Device], sign: int) -> None:
        dark, free, any_, lit = self.dark, self.free, self.any, self.lit
        number = 0
        for device in devices:
            server, slot = device
            free[server] ^= 1 << slot
            any_[server] += sign
            number += sign
            if not dark or device not in dark:
                lit[server] += sign
        self.num_free += number

    def ways(self, row: Option, search: Search) -> Iterable[Blocks]:
        """Ways to spread a row over servers with room, the best first."""
        room, most = self.room(row), 1 if row.shape.is_even else self.per_server // row.part
        racks = self.together if search.among is None else search.among
        strategy = search.strategy
        return chain.from_iterable(strategy(room, servers, row.num_parts, most) for servers in racks)

    def room(self, row: Option) -> Sequence[int]:
        """Parts of a row that fit on each server."""
        free = self.any if row.is_single else self.lit
        return free if row.part == 1 else [count // row.part for count in free]

    def able(self, kind: JobClass, working: Sequence[int]) -> Sequence[int]:
        """Accelerators by server that a job could take if nobody else were there, of so many that work."""
        return working

    def free_for(self, kind: JobClass) -> Sequence[int]:
        """Free accelerators with a port by server; in a pool those alone that find memory too."""
        return self.lit

    def shortage(self, kind: JobClass) -> str | None:
        """What beside free accelerators is short for a job, in words; None where nothing but light can be."""
        return None

    def realize(self, row: Option, blocks: Blocks, deadline_s: float = inf) -> Placement | None:
        """Devices, and what else the row needs, for so many parts on each server; None where that is short. Nothing is
        taken. OutOfTimeError after `deadline_s`."""
        require_time(deadline_s)
        devices = tuple(self.first(row, [server for server, count in blocks for _ in range(count)]))
        return self.realize_on(row, devices, devices)

    def realize_on(self, row: Option, devices: Sequence[Device], held: Sequence[Device]) -> Placement | None:
        """The same on these devices in rank order, as part of `held`, all of which are free."""
        return Placement(row, tuple(devices), tuple(held))

    def first(self, row: Option, layout: Sequence[int]) -> list[Device]:
        """The first free devices of the server of each block."""
        used: dict[int, int] = {}
        devices: list[Device] = []
        for server in layout:
            start = used.get(server, 0)
            slots = self.slots.free(server, single=True) if row.is_single else self.slots.lit[server]
            devices += [(server, slot) for slot in slots[start : start + row.shape.block]]
            used[server] = start + row.shape.block
        return devices

    @property
    def servers_are_counts(self) -> bool:
        """True if free devices of a server are alike, so that blocks may move between servers by their number alone."""
        return True

    def dark_fibers(self) -> dict[tuple[int, int], int] | None:
        """Fibers without light from server to server; None where servers need no fibers of their own."""
        return None

    def as_failed(self) -> Health:
        """Health of the cluster in which all that jobs hold has failed: what a policy sees that plans one job."""
        cluster, fabric = self.cluster, self.cluster.fabric
        held = [
            fabric.device_name(server, slot)
            for server, free in enumerate(self.free)
            for slot in cluster.healthy_slots(server)
            if not free >> slot & 1
        ]
        return edited(cluster.health, failed_tiles=(*cluster.health.failed_tiles, *held))

    def realize_chosen(self, row: Option, devices: Sequence[Device]) -> Placement | None:
        """A row where a policy has put it, on free devices by rank: as many parts on the same servers; None where light
        or memory is short there. Nothing is taken."""
        counts = Counter(server for server, _ in devices)
        return self.realize(row, [(server, count // row.part) for server, count in sorted(counts.items())])
