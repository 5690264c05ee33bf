"""Free state: the free devices and parts of a cluster while jobs are placed one by one, and given back.

It is kept by number, exact for the health of the cluster: devices as (server, slot), what else jobs hold as bit masks.
Heuristics, repair and step 2 place jobs on it by name (`assign`), replays and the controller by number (`place`). As
given here servers are joined by packets; a fabric whose jobs hold more than devices extends it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import inf
from typing import Any, ClassVar, TypeVar

from planner.fabrics import plugin_of
from planner.fabrics.asked_racks import spreads_by_rack
from planner.fabrics.claims import Placed
from planner.fabrics.demand import Demand
from planner.fabrics.free_racks import FreeRacks
from planner.fabrics.free_slots import Device
from planner.fabrics.job_class import JobClass, Option
from planner.fabrics.known_spreads import KnownSpreads
from planner.fabrics.lit import Lit
from planner.fabrics.look_ahead import LookAhead, LookAheadByRack
from planner.fabrics.placement import Owned, Placement
from planner.fabrics.problem import JobOptions
from planner.fabrics.room_index import Room
from planner.fabrics.search import MAX_FAILED, Blocks, Search, require_time, runs
from planner.fabrics.spreads_over_racks import SpreadsOverRacks
from planner.model.cluster import Cluster
from planner.model.edit import edited
from planner.model.health import Health
from planner.model.instance import Instance
from planner.model.plan import Assignment, HeldCircuits, MemoryCircuit

MostLit = Mapping[tuple[int, int], int]
"""by ordered pair of servers: fibers that may carry light"""
Row = TypeVar("Row")
Found = TypeVar("Found")


class FreeState(FreeRacks):
    """Free devices of one cluster, and where and how jobs lie on them."""

    most_orders = 12
    """orders of the jobs that first fit tries"""
    is_costly: ClassVar[bool] = False
    """whether a search takes so long that a controller looks at a few racks at a time"""
    has_pool: ClassVar[bool] = False
    """whether free devices of a server may lack memory, so that counting them does not say who fits"""
    keeps_lit: ClassVar[bool] = False
    """whether a job that gets more devices may keep the circuits that it has"""
    least_search_s: float = 0.0
    """time that a controller gives a search at least"""

    @staticmethod
    def empty(cluster: Cluster, most_lit: MostLit | None = None) -> "FreeState":
        """The state of a cluster with nothing placed, as its fabric has it."""
        return plugin_of(cluster.fabric).free_state(cluster, most_lit)

    @staticmethod
    def beside_residents(instance: Instance) -> "FreeState":
        """The state beside the residents of an instance; those that lost a part hold the others."""
        free = FreeState.empty(instance.cluster)
        for resident in instance.residents:
            devices = [device for device in free._devices_of(resident) if device not in free.failed]
            free.hold(devices, free.owned_by(resident))
            if free.links is not None:
                free.links.take(free.links.of(resident))
        return free

    def most_blocks(self, demand: Demand) -> int:
        """Parts that a server takes at most, with nothing placed there."""
        return 1 if demand.is_even else self.per_server // demand.part

    def spreads(self, demand: Demand, search: Search) -> Iterable[Blocks]:
        """Ways to spread a job over servers with room, the best first. Racks with too little are passed over, and all
        but one of those alike with nothing taken, unless the strategy is told of all of them."""
        if demand.servers_by_rack is not None and self.cluster.fabric.links_racks:
            together = search.among or self.together
            return spreads_by_rack(demand, self.room(demand), together, search, self.cluster.fabric)
        if search.among is not None or not search.is_fixed:
            room, racks = self.room(demand), search.among or self.together
        else:
            room, racks = self.with_room(demand)
        most, strategy = self.most_blocks(demand) if racks else 0, search.strategy
        return chain.from_iterable(strategy(room, servers, demand.num_parts, most) for servers in racks)

    def with_room(self, demand: Demand) -> tuple[Sequence[int], Sequence[Sequence[int]]]:
        """Parts of a job that fit on each server, and of the racks with room those that are looked at."""
        racks = self.with_free(demand.num_ranks)
        room = self.room(demand) if racks else ()
        if not isinstance(room, Room):
            racks = [servers for servers in racks if sum(map(room.__getitem__, servers)) >= demand.num_parts]
        return room, racks

    def may_span(self, demand: Demand, blocks: Sequence[tuple[int, int]]) -> bool:
        """True if the servers may be joined as so many blocks on each need it; necessary, not sufficient."""
        return True

    def difficulty(self, demand: Demand, blocks: Sequence[tuple[int, int]]) -> tuple[float, ...]:
        """A key: first fit places the jobs with the greatest first."""
        return len(blocks) > 1, 0, demand.num_ranks

    def able(self, kind: JobClass, working: Sequence[int]) -> Sequence[int]:
        """Accelerators by server that a job could take if nobody else were there, of so many that work."""
        return working

    def free_for(self, kind: JobClass) -> Sequence[int]:
        """Free accelerators with a port by server; in a pool those alone that find memory too."""
        return self.lit

    def shortage(self, kind: JobClass) -> str | None:
        """The part beside free accelerators that is short for a job, in words; None where nothing but light can be."""
        return None

    @property
    def servers_are_counts(self) -> bool:
        """True if free devices of a server are alike, so that blocks may move between servers by their number alone."""
        return True

    def dark_fibers(self) -> dict[tuple[int, int], int] | None:
        """Fibers without light from server to server; None where servers need no fibers of their own."""
        return None

    def first_that_fits(
        self, rows: Iterable[tuple[Demand, Row]], search: Search, realize: Callable[[Row, Blocks], Found | None]
    ) -> Found | None:
        """The first of the rows, with the first of its spreads, that can be realised; None where none can."""
        hopeless: set[object] = set()
        num_failed, has_racks = dict[int, int](), len(self.together) > 1
        over_racks: SpreadsOverRacks | None = None
        known = KnownSpreads(self, search)
        for demand, row in rows:
            key = demand.room_key, demand.racks, demand.links
            if demand.num_ranks > self.num_free or key in hopeless:
                continue
            is_whole = demand.racks == 1
            if not is_whole and num_failed.get(demand.racks) == MAX_FAILED:
                continue
            if not is_whole and over_racks is None and self.links is not None:
                over_racks = SpreadsOverRacks(self, self.links, search)
            over = over_racks.of(demand) if over_racks is not None and not is_whole else None
            spreads, found_any = known.of(demand) if is_whole else over, over is not None
            for blocks in spreads or ():
                found_any = True
                if len(blocks) > 1 and num_failed.get(demand.racks) == MAX_FAILED:
                    continue
                if is_whole and self.is_refused(demand, blocks):
                    continue
                if not is_whole or len(blocks) == 1 or self.may_span(demand, blocks):
                    found = realize(row, blocks)
                    if found is not None:
                        return found
                    num_failed[demand.racks] = num_failed.get(demand.racks, 0) + 1
                if has_racks and is_whole:
                    self.refuse(demand, blocks)
            if not found_any:
                hopeless.add(key)
        return None

    def place(self, kind: JobClass, search: Search) -> Placement | None:
        """The class's most valuable row that finds a place, taken; None where none does."""
        found = self.found(kind, search)
        return None if found is None else self.taking(found)

    def found(self, kind: JobClass, search: Search) -> Placement | None:
        """The same place, not taken."""
        if kind.held > self.num_free:
            return None
        rows = ((row.shape, row) for row in self.rows_to_try(kind, search))
        return self.first_that_fits(rows, search, lambda row, blocks: self.realize(row, blocks, search.deadline_s))

    def look_ahead(self, kind: JobClass, search: Search) -> LookAhead:
        """What would be free for a class as jobs leave, counted; a strategy that is not fixed is to be asked as often
        as there are devices enough, as each of its answers is another one."""
        if not search.is_fixed:
            return LookAhead(kind, self.num_free)
        return LookAheadByRack(kind, self.num_free, self.free_together, self._num_together)

    def rows_to_try(self, kind: JobClass, search: Search) -> Iterable[Option]:
        """Rows that a search looks at in order; those may be left out that surely find no place."""
        return kind.of_loop if search.of_loop else kind.rows

    def realize_in_rack(self, row: Option, blocks: Blocks, deadline_s: float = inf) -> Placement | None:
        require_time(deadline_s)
        devices = self.devices(row.shape, runs(blocks))
        return None if devices is None else self.realize_on(row, devices, devices)

    def realize_on(self, row: Option, devices: Sequence[Device], held: Sequence[Device]) -> Placement | None:
        """The same on these devices in rank order, as part of `held`, all of which are free."""
        return Placement(row, tuple(devices), tuple(held), self._owned_on(row.options, row.number, devices))

    def may_keep(self, row: Option, devices: Sequence[Device], lit: Lit) -> bool:
        """True if a row has all circuits that are `lit` between its first ranks, which are on these devices."""
        return False

    def why_not_kept(self, row: Option, devices: Sequence[Device], lit: Lit) -> str | None:
        """What would have to change of what is `lit` for a row, in words; None where it may have all of it."""
        return None if self.may_keep(row, devices, lit) else "some of its circuits would have to be set anew"

    def assign_around(self, options: JobOptions, row: int, devices: Sequence[Device], lit: Lit) -> Assignment | None:
        """As `assign_on`, in one rack; circuits that are `lit` stay, None where the candidate has no such ones."""
        return None

    def assign_within(self, options: JobOptions, row: int, devices: Sequence[Device], lit: Lit) -> Assignment | None:
        """As `assign_on`, in one rack, with circuits alone that are `lit`; None where the candidate has others."""
        return (
            None
            if options.fabric.has_circuits and options.shapes[row].holds_circuits
            else self.assign_on(options, row, devices)
        )

    def realize_chosen_in_rack(self, row: Option, devices: Sequence[Device]) -> Placement | None:
        counts = Counter(server for server, _ in devices)
        return self.realize_in_rack(row, [(server, count // row.part) for server, count in sorted(counts.items())])

    def taking(self, placement: Placement) -> Placement:
        """A placement, taken."""
        self.take(placement)
        return placement

    @property
    def taken(self) -> Mapping[Any, int]:
        """Masks of what jobs hold beside devices: wavelengths by fiber, or numbers by part of a pooled rack."""
        return {}

    def working(self, placement: Placement) -> Placement:
        """A placement without what has failed of a slice beyond its ranks."""
        if self.failed.isdisjoint(placement.held):
            return placement
        return replace(placement, held=tuple(device for device in placement.held if device not in self.failed))

    def broken(self, placement: Placement) -> bool:
        """True if a job stands on something that has failed."""
        cluster = self.cluster
        if any(device in self.failed for device in placement.devices):
            return True
        if len(placement.devices) > 1 and any(device in self.dark for device in placement.devices):
            return True
        if not cluster.failed_switches.isdisjoint(placement.switches):
            return True
        if placement.links is not None and self.has_lost_links(placement.links):
            return True
        return placement.owned is not None and self.has_lost(placement.devices, placement.owned)

    def has_lost(self, devices: Sequence[Device], owned: Owned[Any]) -> bool:
        """True if something that a job holds beside its devices has failed."""
        return False

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

    def assign_in_rack(
        self, options: JobOptions, row: int, blocks: Sequence[tuple[int, int]], layout: Sequence[int] | None = None
    ) -> Assignment | None:
        devices = self.devices(options.shapes[row], layout or runs(blocks))
        return None if devices is None else self.assign_on_in_rack(options, row, devices)

    def assign_on_in_rack(self, options: JobOptions, row: int, devices: Sequence[Device]) -> Assignment | None:
        return self._assigned(options, row, devices, self._owned_on(options, row, devices))

    def owned_by(self, placed: Placed) -> Owned[Any] | None:
        """By number the parts that an assignment holds beside its devices; None where it holds none."""
        return None

    def _owned_on(self, options: JobOptions, row: int, devices: Sequence[Device]) -> Owned[Any] | None:
        """By number the parts that a candidate holds beside these devices; None where it holds none."""
        return None

    def _assigned(
        self,
        options: JobOptions,
        row: int,
        devices: Sequence[Device],
        owned: Owned[Any] | None = None,
        circuits: Sequence[HeldCircuits] = (),
        memory: Sequence[MemoryCircuit] = (),
    ) -> Assignment:
        """The candidate on these devices with these circuits, taken."""
        names = self.cluster.fabric.device_names(devices)
        assignment = options.assignment(row, names, circuits, memory)
        self.hold(devices, owned)
        return assignment
