"""Where rows lie on a lightpath by number: the devices and the light of a job found rack by rack.

What was tried in a rack is not tried again while nothing has changed there.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Self

from planner.fabrics.demand import Demand
from planner.fabrics.free_devices import Masks
from planner.fabrics.free_slots import Device, masks_by_server
from planner.fabrics.free_state import FreeState, MostLit
from planner.fabrics.job_class import JobClass
from planner.fabrics.lightpath.fast_fibers import Fibers, Spread
from planner.fabrics.lightpath.fast_rwa import Router
from planner.fabrics.lightpath.job_class import LightpathJobClass, LightpathOption
from planner.fabrics.lightpath.rack_rows import KnownRows, RackRows, best_of
from planner.fabrics.lightpath.rwa import Spectrum
from planner.fabrics.placement import Owned, Placement
from planner.fabrics.search import MAX_FAILED, Blocks, Search, Strategy, require_time
from planner.fabrics.server_shares.demand import amounts_of
from planner.fabrics.server_shares.free_shares import FreeShares
from planner.fabrics.stamps import Stamps
from planner.model.cluster import Cluster


class LightByRack(FreeState):
    """Free devices and light, with a number of the state of each rack."""

    def __init__(self, cluster: Cluster, most_lit: MostLit | None = None) -> None:
        """`most_lit` limits how many fibers of an ordered pair of servers may carry light."""
        super().__init__(cluster)
        self.light = Spectrum(cluster, most_lit)
        self.router = Router(self.light)
        self.shares = FreeShares.of(cluster)
        self._known_rows, self._stamps = KnownRows(), Stamps(len(self.together))

    def copy(self) -> Self:
        twin = super().copy()
        twin.light = self.light.copy()
        twin.router = Router(twin.light)
        twin.shares = self.shares.copy()
        twin._known_rows, twin._stamps = KnownRows(), Stamps(len(self.together))
        return twin

    def hold(self, devices: Sequence[Device], owned: Owned[Any] | None = None, masks: Masks | None = None) -> None:
        masks = masks_by_server(devices) if masks is None else masks
        super().hold(devices, owned, masks)
        self._stamps.changed(self._racks_of(masks, owned), masks, is_taken=True)

    def give_back(self, devices: Sequence[Device], owned: Owned[Any] | None = None, masks: Masks | None = None) -> None:
        masks = masks_by_server(devices) if masks is None else masks
        super().give_back(devices, owned, masks)
        self._stamps.changed(self._racks_of(masks, owned), masks, is_taken=False)

    def _racks_of(self, masks: Masks, owned: Owned[Any] | None) -> set[int]:
        """Racks of these servers, and of the light that a job owns: what is reserved may be free without devices."""
        size = self._num_together
        racks = {server // size for server in masks}
        if owned is not None:
            racks |= {(guide[0] if len(guide) == 3 else guide[1]) // size for guide, _ in owned.masks}
        return racks

    def _take_owned(self, owned: Owned[Any]) -> None:
        self.router.take(owned)
        self.shares.take(owned.counted)

    def _release_owned(self, owned: Owned[Any]) -> None:
        self.router.release(owned)
        self.shares.take(owned.counted, -1)

    def _with_modules(self, demand: Demand, devices: Sequence[Device], light: Owned[Any]) -> Owned[Any]:
        """Light of a job, and what it takes of pools of modules."""
        counted = self.shares.counted(amounts_of(demand), devices)
        return light._replace(counted=counted) if counted else light

    def found(self, kind: JobClass, search: Search) -> Placement | None:
        fibers = self.router.fibers
        if fibers is None or kind.held > self.num_free:
            return super().found(kind, search)
        assert isinstance(kind, LightpathJobClass)
        within = self._found_on_fibers(kind.in_one_rack, search, fibers) if kind.in_one_rack.rows else None
        return within if not kind.over_racks else self._better_over_racks(kind, within, search)

    def _better_over_racks(self, kind: JobClass, within: Placement | None, search: Search) -> Placement | None:
        """A row over several racks, or what was found in one rack where that is worth no less."""
        rows = kind.over_racks if within is None else kind.over_racks_before(within.row)
        if not rows:
            return within
        following = ((row.shape, row) for row in rows)
        found = self.first_that_fits(following, search, lambda row, own: self.realize(row, own, search.deadline_s))
        return found or within

    def _found_on_fibers(self, kind: LightpathJobClass, search: Search, fibers: Fibers) -> Placement | None:
        """The same where light depends on servers alone: what was tried in a rack is not tried again while nothing has
        changed there."""
        if not search.is_fixed:
            return self._found_anywhere(kind, search, fibers)
        together = self.with_free(kind.held) if search.among is None else search.among
        racks = [self._rows_in(servers, kind, search, fibers) for servers in together]
        found, is_over = best_of(racks, MAX_FAILED)
        return self._found_inside(kind, search) if is_over else found

    def _rows_in(self, servers: Sequence[int], kind: LightpathJobClass, search: Search, fibers: Fibers) -> RackRows:
        """Rows of a class on servers that one job may use together."""

        def make() -> RackRows:
            def realize(row: LightpathOption, spread: Spread) -> Placement | None:
                return self._realize_on_fibers(row, spread, search.deadline_s)

            return RackRows(kind, lambda demand: self._spreads_on(servers, demand, search.strategy), fibers, realize)

        if search.among is not None or not search.is_repeatable:
            return make()
        stamp = self._stamps.now[servers[0] // self._num_together]
        return self._known_rows.of((kind, search.strategy, stamp), make)

    def _spreads_on(self, servers: Sequence[int], demand: Demand, strategy: Strategy) -> Iterable[Blocks]:
        """Ways to spread a job over these servers, the best first."""
        if self.shares.are_any or not isinstance(servers, range):
            room = self.room(demand)
        else:
            counts, first = self.any if demand.is_single else self.lit, servers[0]
            room = [0] * first + [count // demand.part for count in counts[first : servers.stop]]
        return strategy(room, servers, demand.num_parts, self.most_blocks(demand))

    def _found_anywhere(self, kind: LightpathJobClass, search: Search, fibers: Fibers) -> Placement | None:
        """The same with a strategy whose answers differ each time it is asked."""
        num_failed, without = 0, set[object]()
        for row in kind.rows:
            ways = [] if row.key in without else list(self.spreads(row.shape, search))
            if not ways:
                without.add(row.key)
            for blocks in ways:
                spread = fibers.spread(blocks)
                is_open = all(row.boundary[count] <= least for count, least in spread.ends)
                if not is_open or (len(blocks) > 1 and num_failed == MAX_FAILED):
                    continue
                placement = self._realize_on_fibers(row, spread, search.deadline_s)
                if placement is not None:
                    return placement
                num_failed += 1
        return None

    def _found_inside(self, kind: LightpathJobClass, search: Search) -> Placement | None:
        """The class's most valuable row that a strategy puts into one server."""
        for row in kind.first_rows:
            for blocks in self.spreads(row.shape, search):
                placement = self.realize(row, blocks, search.deadline_s) if len(blocks) == 1 else None
                if placement is not None:
                    return placement
        return None

    def _realize_on_fibers(self, row: LightpathOption, spread: Spread, deadline_s: float) -> Placement | None:
        """Blocks on servers beside the light that is free between these."""
        require_time(deadline_s)
        found = self.router.uniform(row, spread, deadline_s)
        devices = None if found is None else self.devices(row.shape, found[0])
        if found is None or devices is None:
            return None
        lie = tuple(devices)
        return Placement(row, lie, lie, self._with_modules(row.shape, lie, found[1]))
