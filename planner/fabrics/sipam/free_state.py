"""Free devices, memory units, ports and uplinks of racks: a job is placed with first-fit memory and circuits."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Self

from costmodel.fabrics import Sipam
from planner.fabrics.added_devices import BegunParts
from planner.fabrics.claims import Placed
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass, Option
from planner.fabrics.lit import Lit
from planner.fabrics.look_ahead import LookAhead
from planner.fabrics.placement import Owned, Placement
from planner.fabrics.problem import JobOptions
from planner.fabrics.search import Blocks, Search
from planner.fabrics.sipam.fast_pool import FreePoolParts
from planner.fabrics.sipam.free_pool import Connected, FreePool, Wires
from planner.fabrics.sipam.kept_pool import KeptPool
from planner.fabrics.sipam.look_ahead import HeldByRack, PoolLookAhead
from planner.fabrics.sipam.server_rooms import AskedPart, ServerCounts, ServerRooms, needs_of, parts_of
from planner.model.cluster import Cluster
from planner.model.edit import edited
from planner.model.health import Health
from planner.model.plan import Assignment

Answers = dict[tuple[int, int], tuple[Placement | None, JobClass, Search]]
"""where jobs are put, by class and search; both are kept, since their numbers are keys"""
MOST_KNOWN = 4_096
"""answers that are remembered"""


class PoolFreeState(FreeState):
    """Ranks take memory units behind ports of their server; jobs take rails and uplinks."""

    has_pool = True
    keeps_lit = True
    least_search_s = 0.05

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        assert isinstance(cluster.fabric, Sipam)
        self.fabric: Sipam = cluster.fabric
        self.parts = FreePoolParts(cluster)
        self._rooms, self._held = self._counted(), HeldByRack(self.parts.bits, self._num_together)
        self._forget()

    def _forget(self) -> None:
        """No answer is remembered."""
        self._known: dict[object, Answers] = {}
        """by all that was free"""
        self._num_known = 0
        self._now: Answers | None = None
        """those of the state as it is; None until it is asked again after a change"""
        self._numbers: dict[tuple[int, int, int], int] = {}
        """a number for all that was free of a server"""
        self._free_of = [0] * len(self.free)
        """these numbers now, by server, where nothing has changed since"""
        self._changed_since = set(range(len(self.free)))
        """servers where something has"""

    def copy(self) -> Self:
        twin = super().copy()
        twin.parts = self.parts.copy()
        twin._rooms = twin._counted()
        twin._forget()
        return twin

    def _counted(self) -> ServerRooms:
        counts = ServerCounts(self.lit, self.any, self.parts.units, self.parts.ports)
        return ServerRooms(counts, self._num_together)

    def _changed(self, servers: Collection[int], owned: Owned[Any] | None) -> None:
        beside = () if owned is None else [server for server, _ in owned.masks if server not in servers]
        self._rooms.changed([*servers, *beside] if beside else servers)
        self._changed_since.update(servers, beside)
        self._now = None

    @property
    def pool(self) -> FreePool:
        """Free numbers of each server, to look at."""
        return self.parts.pool

    def _take_owned(self, owned: Owned[Any]) -> None:
        self.parts.take(owned)

    def _release_owned(self, owned: Owned[Any]) -> None:
        self.parts.release(owned)

    def owned_by(self, placed: Placed) -> Owned[Any] | None:
        return self.parts.owned_by(placed)

    @property
    def taken(self) -> Mapping[Any, int]:
        return self.parts.taken

    def has_lost(self, devices: Sequence[Device], owned: Owned[Any]) -> bool:
        return self.parts.broken(owned)

    @property
    def servers_are_counts(self) -> bool:
        return False

    def room(self, demand: Demand) -> Sequence[int]:
        return self._rooms.of(AskedPart.of(demand)).by_server

    def spreads(self, demand: Demand, search: Search) -> Iterable[Blocks]:
        if search.among is not None or not search.is_repeatable:
            return super().spreads(demand, search)
        room, parts = self._rooms.of(AskedPart.of(demand)), demand.num_parts
        return room.spreads(self.together, search.strategy, parts, self.most_blocks(demand))

    def able(self, kind: JobClass, working: Sequence[int]) -> Sequence[int]:
        rooms = [[row.part * parts for parts in self.parts.most(row.shape, working)] for row in kind.leanest]
        return [max(most) for most in zip(*rooms, strict=True)]

    def free_for(self, kind: JobClass) -> Sequence[int]:
        rooms = [[row.part * parts for parts in self.room(row.shape)] for row in kind.leanest]
        return [max(most) for most in zip(*rooms, strict=True)]

    def shortage(self, kind: JobClass) -> str | None:
        best: tuple[int, int, Demand] | None = None
        for row in kind.leanest:
            room = self.room(row.shape)
            part = row.shape.in_rack
            most = max(row.part * sum(room[server] for server in servers) for servers in self.together)
            if most >= part.num_ranks:
                return None
            if best is None or most > best[0]:
                best = most, max(room) * row.part, part
        if best is None:
            return None
        found, on_one, demand = best
        units, ports = demand.held_units, demand.held_io
        asked = f"each takes at least {units} memory unit{'s' * (units > 1)} over {ports} port{'s' * (ports > 1)}"
        return f"{asked}, and only {found} find{'s' * (found == 1)} that, at most {on_one} on one server"

    def difficulty(self, demand: Demand, blocks: Sequence[tuple[int, int]]) -> tuple[float, ...]:
        """Jobs on several servers with the most circuits to memory come first."""
        has_rest = demand.held_units % self.fabric.port_units > 0
        return len(blocks) > 1, 2 * demand.held_io + has_rest, demand.held_units * demand.num_ranks

    def as_failed(self) -> Health:
        """Units, ports and uplinks have failed too that jobs hold."""
        health = super().as_failed()
        held: dict[str, list[str]] = {"unit": [], "port": [], "uplink": []}
        for server, mask in self.taken.items():
            for kind, name in self.parts.bits.names(server, mask):
                held[kind].append(name)
        return edited(
            health,
            failed_memory_units=(*health.failed_memory_units, *held["unit"]),
            failed_tray_ports=(*health.failed_tray_ports, *held["port"]),
            failed_uplinks=(*health.failed_uplinks, *held["uplink"]),
        )

    def found(self, kind: JobClass, search: Search) -> Placement | None:
        """As before where all that is free is the same: replays hide, reserve and look ahead, and come back to that."""
        if kind.held > self.num_free:
            return None
        if not self._may_place(kind, search):
            return None
        if not search.is_repeatable:
            return super().found(kind, search)
        answers, key = self._answers(), (id(kind), id(search))
        if key not in answers:
            answers[key] = super().found(kind, search), kind, search
            self._num_known += 1
        return answers[key][0]

    def look_ahead(self, kind: JobClass, search: Search) -> LookAhead:
        if kind.over_racks or not search.is_fixed:
            return super().look_ahead(kind, search)
        needs = needs_of(kind, search.of_loop)
        if self._rooms.fit_any(needs):
            return LookAhead(kind, self.num_free)
        return PoolLookAhead(kind, self.num_free, self._held, self._rooms.counts, needs)

    def _answers(self) -> Answers:
        """What is remembered of the state as it is."""
        if self._now is None:
            if self._num_known >= MOST_KNOWN:
                self._forget()
            numbers, free, taken = self._numbers, self.free, self.parts.taken
            for server in self._changed_since:
                own = server, free[server], taken[server]
                self._free_of[server] = numbers.setdefault(own, len(numbers))
            self._changed_since.clear()
            links = () if self.links is None else self.links.state
            self._now = self._known.setdefault((*self._free_of, links), {})
        return self._now

    def rows_to_try(self, kind: JobClass, search: Search) -> Iterable[Option]:
        rows = kind.of_loop if search.of_loop else kind.rows
        if not search.is_fixed:
            return rows
        return (row for row, parts, part in parts_of(rows) if self._may_lie(row, search, parts, part))

    def _may_lie(self, row: Option, search: Search, parts: int, part: AskedPart) -> bool:
        """False where so many parts fit in no rack, or the strategy is known to find no way for them."""
        if self._lacks(parts, part):
            return False
        if search.among is not None or not search.is_repeatable:
            return True
        most = self.most_blocks(row.shape.in_rack)
        return not self._rooms.of(part).is_refused(search.strategy, parts, most)

    def _lacks(self, parts: int, part: AskedPart) -> bool:
        """True where so many parts fit in no rack, as all servers together have too little, or each rack has."""
        have = self.parts
        if have.num_units < part.units * parts or have.num_ports < part.io * parts:
            return True
        return self._rooms.of(part).most < parts

    def _may_place(self, kind: JobClass, search: Search) -> bool:
        """False where no row finds room, as the row of each block size that asks for the least memory finds none. A
        strategy that is not fixed is asked itself, as each of its answers is another one."""
        if kind.over_racks:
            return True
        if not search.is_fixed:
            return any(any(self.spreads(row.shape, search)) for row in kind.leanest)
        for parts, part in needs_of(kind, search.of_loop):
            if self._lacks(parts, part):
                continue
            room, racks = self._rooms.of(part).by_server, search.among
            if racks is None or any(sum(map(room.__getitem__, servers)) >= parts for servers in racks):
                return True
        return False

    def realize_on(self, row: Option, devices: Sequence[Device], held: Sequence[Device]) -> Placement | None:
        found = self.parts.connect(row.shape, devices)
        return None if found is None else Placement(row, tuple(devices), tuple(held), *found)

    def realize_chosen_in_rack(self, row: Option, devices: Sequence[Device]) -> Placement | None:
        return self.realize_on(row, devices, devices)

    def slots_beside(self, demand: Demand, held: Sequence[Device]) -> Mapping[int, Sequence[int]]:
        """Without those of servers after which the job goes on in others, and those that find no memory."""
        own, parts, (last, _) = Counter(server for server, _ in held), self.parts, held[-1]
        found = dict[int, Sequence[int]]()
        for server, slots in super().slots_beside(demand, held).items():
            room = min(parts.units[server] // demand.held_units, parts.ports[server] // demand.held_io)
            found[server] = slots[: max(room - own[server], 0)] if server == last or not own[server] else ()
        return found

    def grown_around(
        self, row: Option, held: BegunParts, barred: frozenset[int], deadline_s: float
    ) -> Iterator[list[Device]]:
        for devices in super().grown_around(row, held, barred, deadline_s):
            servers = [server for server, _ in groupby(devices, lambda device: device[0])]
            if len(servers) == len({*servers}):
                yield devices

    def why_not_kept(self, row: Option, devices: Sequence[Device], lit: Lit) -> str | None:
        return KeptPool(self.pool, row.shape, devices, lit).missing()

    def assign_around(self, options: JobOptions, row: int, devices: Sequence[Device], lit: Lit) -> Assignment | None:
        return self._connected(options, row, devices, KeptPool(self.pool, options.shapes[row], devices, lit).beside())

    def assign_within(self, options: JobOptions, row: int, devices: Sequence[Device], lit: Lit) -> Assignment | None:
        return self._connected(options, row, devices, KeptPool(self.pool, options.shapes[row], devices, lit).within())

    def _connected(
        self, options: JobOptions, row: int, devices: Sequence[Device], found: Connected | None
    ) -> Assignment | None:
        """A candidate with this network and memory, taken; None where there are none."""
        if found is None:
            return None
        assignment = options.assignment(row, self.fabric.device_names(devices), *found)
        self.hold(devices, self.owned_by(assignment))
        return assignment

    def assign_on_in_rack(self, options: JobOptions, row: int, devices: Sequence[Device]) -> Assignment | None:
        wires = self.parts.wires(options.shapes[row], devices)
        return None if wires is None else self.assign_wired(options, row, devices, wires)

    def assign_wired(self, options: JobOptions, row: int, devices: Sequence[Device], wires: Wires) -> Assignment:
        """Place a candidate with rank i on devices[i] and with these rails and plugs, and take it."""
        demand = options.shapes[row]
        self.parts.refresh(wires.kept)
        owned, named = self.parts.owned(demand, wires), self.parts.connected(demand, devices, wires)
        return self._assigned(options, row, devices, owned, *named)
