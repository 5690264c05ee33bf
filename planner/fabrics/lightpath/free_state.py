"""Free devices and light of a lightpath: a job is placed with first-fit routes and wavelengths for all its circuits."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any, Self

from planner.fabrics.claims import Placed
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import MostLit
from planner.fabrics.job_class import Option
from planner.fabrics.lightpath.job_class import LightpathOption
from planner.fabrics.lightpath.kept_lit import Kept, kept_lit, lit_alone
from planner.fabrics.lightpath.known_light import FoundLight, KnownLight, state_of
from planner.fabrics.lightpath.layouts import MAX_LAYOUTS, arrangements, layouts
from planner.fabrics.lightpath.light_by_rack import LightByRack
from planner.fabrics.lit import Lit
from planner.fabrics.placement import Owned, Placement
from planner.fabrics.problem import JobOptions
from planner.fabrics.search import Blocks, require_time
from planner.model.cluster import Cluster
from planner.model.edit import edited
from planner.model.health import FailedFiber, Health
from planner.model.plan import Assignment

MOST_SLOTTED = 2
"""orders of the servers tried for one job where slots matter: each comes with several orders of the slots; elsewhere
those of one server are alike"""
MOST_SLOTTED_ORDERS = 3
"""orders of the jobs that first fit tries where slots matter"""


class LightpathFreeState(LightByRack):
    """Jobs hold wavelengths on fibers between their servers, and waveguides inside them where tiles share these."""

    is_costly = True
    keeps_lit = True

    def __init__(self, cluster: Cluster, most_lit: MostLit | None = None) -> None:
        """`most_lit` limits how many fibers of an ordered pair of servers may carry light."""
        self._is_limited = most_lit is not None
        super().__init__(cluster, most_lit)
        self._slots_matter = self.light.fabric.slots_matter
        self._known = KnownLight()
        self._room_among: dict[tuple[int, ...], Sequence[int]] = {}  # since light was last taken or given back
        if self._slots_matter:
            self.most_orders = MOST_SLOTTED_ORDERS

    @property
    def racks_are_alike(self) -> bool:
        return isinstance(self.light.fabric.fibers, int) and self.cluster.health == Health() and not self._is_limited

    def copy(self) -> Self:
        twin = super().copy()
        twin._room_among = {}
        return twin

    def _take_owned(self, owned: Owned[Any]) -> None:
        self._room_among.clear()
        super()._take_owned(owned)

    def _release_owned(self, owned: Owned[Any]) -> None:
        self._room_among.clear()
        super()._release_owned(owned)

    def owned_by(self, placed: Placed) -> Owned[Any] | None:
        counted = self.shares.counted(placed.configuration.held, self._devices_of(placed))
        if not placed.circuits and not counted:
            return None
        return Owned(tuple(self.light.masks(placed.circuits).items()), (), counted)

    def room(self, demand: Demand) -> Sequence[int]:
        found = super().room(demand)
        if not self.shares.are_any:
            return found
        most = [self.shares.room(demand, server, self.per_server) // demand.part for server in range(len(found))]
        return list(map(min, found, most))

    def slots_beside(self, demand: Demand, held: Sequence[Device]) -> Mapping[int, Sequence[int]]:
        return self.shares.slots_beside(demand, held, super().slots_beside(demand, held))

    @property
    def taken(self) -> Mapping[Any, int]:
        return self.light.taken

    def has_lost(self, devices: Sequence[Device], owned: Owned[Any]) -> bool:
        if any(guide in self.cluster.failed_fibers for guide, _ in owned.masks):
            return True
        lasers, receivers = self.cluster.failed_lasers, self.cluster.failed_receivers
        return any(
            lasers.get(devices[rank], 0) & sent or receivers.get(devices[rank], 0) & received
            for rank, sent, received in owned.ends
        )

    @property
    def servers_are_counts(self) -> bool:
        return self.router.is_uniform and not self.shares.are_any

    def may_span(self, demand: Demand, blocks: Sequence[tuple[int, int]]) -> bool:
        """True if enough wavelengths are free between each server and the others."""
        if len(blocks) == 1 or not demand.has_light:
            return True
        servers, counts = zip(*blocks, strict=True)
        if servers not in self._room_among:
            self._room_among[servers] = self.light.room_among(servers)
        boundary = demand.boundary.item
        return all(boundary(count) <= room for count, room in zip(counts, self._room_among[servers], strict=True))

    def difficulty(self, demand: Demand, blocks: Sequence[tuple[int, int]]) -> tuple[float, ...]:
        """Jobs on several servers that need the most wavelengths come first."""
        spans = len(blocks) > 1
        return spans, int(demand.boundary.max()) if spans else 0, demand.num_ranks

    def dark_fibers(self) -> dict[tuple[int, int], int]:
        servers, light = range(len(self.lit)), self.light
        return {(a, b): light.dark_fibers(a, b) for a in servers for b in servers if light.routes.fibers(a, b)}

    def as_failed(self) -> Health:
        """Fibers have failed too on which every wavelength is taken."""
        health, every, name = super().as_failed(), self.light.carried, self.cluster.fabric.server_name
        full = [guide for guide, mask in self.taken.items() if len(guide) == 3 and mask & every == every]
        fibers = [FailedFiber.model_validate({"from": name(a), "to": name(b), "index": index}) for a, b, index in full]
        return edited(health, failed_fibers=(*health.failed_fibers, *fibers))

    def realize_in_rack(self, row: Option, blocks: Blocks, deadline_s: float = inf) -> Placement | None:
        if self.router.fibers is not None:
            assert isinstance(row, LightpathOption)
            return self._realize_on_fibers(row, self.router.fibers.spread(blocks), deadline_s)
        require_time(deadline_s)
        found = self._first_fit(row.shape, blocks)
        if found is None:
            return None
        devices = tuple(found.devices)
        return Placement(row, devices, devices, self._with_modules(row.shape, devices, found.owned))

    def realize_on(self, row: Option, devices: Sequence[Device], held: Sequence[Device]) -> Placement | None:
        owned = self.router.route(row.shape, devices)
        if owned is None:
            return None
        return Placement(row, tuple(devices), tuple(held), self._with_modules(row.shape, devices, owned))

    def assign_in_rack(
        self, options: JobOptions, row: int, blocks: Sequence[tuple[int, int]], layout: Sequence[int] | None = None
    ) -> Assignment | None:
        found = self._first_fit(options.shapes[row], blocks, layout)
        return None if found is None else self._laid(options, row, found)

    def assign_on_in_rack(self, options: JobOptions, row: int, devices: Sequence[Device]) -> Assignment | None:
        demand = options.shapes[row]
        paths = self.router.paths_on(demand, devices)
        if paths is None:
            return None
        return self._laid(options, row, FoundLight([*devices], paths, self.router.owned(demand, devices, paths)))

    def may_keep(self, row: Option, devices: Sequence[Device], lit: Lit) -> bool:
        return kept_lit(self.light, row.shape, devices, lit) is not None

    def assign_around(self, options: JobOptions, row: int, devices: Sequence[Device], lit: Lit) -> Assignment | None:
        return self._completed(options, row, devices, kept_lit(self.light, options.shapes[row], devices, lit))

    def assign_within(self, options: JobOptions, row: int, devices: Sequence[Device], lit: Lit) -> Assignment | None:
        return self._completed(options, row, devices, lit_alone(self.light, options.shapes[row], devices, lit))

    def _completed(self, options: JobOptions, row: int, devices: Sequence[Device], kept: Kept) -> Assignment | None:
        """The candidate with first-fit circuits beside those that stay, taken."""
        demand = options.shapes[row]
        found = None if kept is None else self.light.complete(demand.configurations, demand.offsets, devices, kept)
        if found is None:
            return None
        owned = self._with_modules(demand, devices, self.router.owned_over(demand, found))
        return self._assigned(options, row, devices, owned, found)

    def _laid(self, options: JobOptions, row: int, found: FoundLight) -> Assignment:
        """The candidate as it was found, taken."""
        demand, (devices, paths, light) = options.shapes[row], found
        owned = self._with_modules(demand, devices, light)
        return self._assigned(options, row, devices, owned, self.light.named(demand.configurations, devices, paths))

    def _first_fit(
        self, demand: Demand, blocks: Sequence[tuple[int, int]], layout: Sequence[int] | None = None
    ) -> FoundLight | None:
        """First fit over all layouts or the given one; None where none has room. What was found where the same light is
        free is found again."""
        is_uniform = self.router.is_uniform
        state = state_of(self, self.light, demand, blocks, is_uniform=is_uniform) if layout is None else None
        if state is None:
            return self._searched(demand, blocks, layout)
        key, servers = state
        found = self._known.of((demand, key), servers, lambda: self._searched(demand, blocks, None))
        if found is None or not is_uniform:
            return found
        devices = self.devices(demand, [server for server, _ in found.devices[:: demand.block]])
        assert devices is not None
        return found._replace(devices=devices)

    def _searched(
        self, demand: Demand, blocks: Sequence[tuple[int, int]], layout: Sequence[int] | None
    ) -> FoundLight | None:
        """The same, whatever was found before."""
        most = MOST_SLOTTED if self._slots_matter else 1 if len(blocks) == 1 else MAX_LAYOUTS
        for servers in [layout] if layout is not None else layouts(demand, blocks, most):
            if not self.light.has_room(demand, servers):
                continue
            for devices in self._arrangements(demand, servers):
                paths = self.light.first_fit(demand, devices)
                if paths is not None:
                    return FoundLight(devices, paths, self.router.owned(demand, devices, paths))
        return None

    def _arrangements(self, demand: Demand, layout: Sequence[int]) -> Iterator[list[Device]]:
        """Free devices for ranks whose blocks lie on these servers: the first ones, and others where slots matter."""
        if self._slots_matter and demand.num_ranks > 1:
            yield from arrangements(self.light.fabric, demand, layout, self.slots.lit)
        first = self.devices(demand, layout)
        if first is not None:
            yield first
