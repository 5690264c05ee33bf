"""Free devices and light of a lightpath while jobs come and go."""

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from math import inf
from typing import Any

from planner.fabrics.fast_state import MAX_FAILED, Search, State, require_time
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import Blocks
from planner.fabrics.job_class import JobClass, Option
from planner.fabrics.lightpath.fast_fibers import Fibers, Spread, Spreads
from planner.fabrics.lightpath.fast_rwa import Router
from planner.fabrics.lightpath.free_state import LightpathFreeState
from planner.fabrics.lightpath.job_class import LightpathJobClass, LightpathOption
from planner.fabrics.placement import Owned, Placement
from planner.model.cluster import Cluster, FailedFiber, Health
from planner.model.edit import edited


class LightpathState(State):
    """Jobs hold wavelengths on fibers between their servers, and waveguides inside them where tiles share these."""

    is_costly = True

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        assert isinstance(self.board, LightpathFreeState)
        self.light = self.board.light
        self.router = Router(self.light)

    def place(self, kind: JobClass, search: Search) -> Placement | None:
        if self.router.fibers is None or kind.held > self.num_free:
            return super().place(kind, search)
        assert isinstance(kind, LightpathJobClass)
        return self._place_on_fibers(kind, search, self.router.fibers)

    def _place_on_fibers(self, kind: LightpathJobClass, search: Search, lit: Fibers) -> Placement | None:
        """The same where light depends on servers alone: rows with one key find their ways once."""
        ways: dict[int, Spreads] = {}
        num_failed, is_fixed = 0, search.is_fixed
        following = [(numbers[0], 0, key) for key, numbers in enumerate(kind.numbers)]
        while following:
            number, rank, key = heappop(following)
            row = kind.rows[number]
            if key not in ways or (ways[key].exist and not is_fixed):
                found = self.ways(row, search)
                ways[key] = Spreads(found if is_fixed else list(found), lit, kind.boundaries[key])
            for blocks, spread in ways[key].open_to(rank):
                if len(blocks) > 1 and num_failed == MAX_FAILED:
                    continue
                placement = self._realize_on_fibers(row, spread, search.deadline_s)
                if placement is not None:
                    return self.taking(placement)
                num_failed += 1
                if num_failed == MAX_FAILED and is_fixed:
                    return self._place_inside(kind, search)
            later = ways[key].open_after(rank) if is_fixed or not ways[key].exist else rank + 1
            if later < len(kind.numbers[key]):
                heappush(following, (kind.numbers[key][later], later, key))
        return None

    def _place_inside(self, kind: LightpathJobClass, search: Search) -> Placement | None:
        """The class's most valuable row that a strategy puts into one server."""
        for row in kind.first_rows:
            for blocks in self.ways(row, search):
                placement = self.realize(row, blocks, search.deadline_s) if len(blocks) == 1 else None
                if placement is not None:
                    return self.taking(placement)
        return None

    def take(self, placement: Placement) -> None:
        super().take(placement)
        if placement.owned is not None:
            self.router.take(placement.owned)

    def release(self, placement: Placement) -> None:
        super().release(placement)
        if placement.owned is not None:
            self.router.release(placement.owned)

    @property
    def taken(self) -> Mapping[Any, int]:
        return self.router.taken

    def has_lost(self, devices: Sequence[Device], owned: Owned[Any]) -> bool:
        dark = self.cluster.failed_fibers
        if dark and any(guide in dark for guide, _ in owned.masks):
            return True
        lasers, receivers = self.cluster.failed_lasers, self.cluster.failed_receivers
        return any(
            lasers.get(devices[rank], 0) & sent or receivers.get(devices[rank], 0) & received
            for rank, sent, received in owned.ends
        )

    def realize(self, row: Option, blocks: Blocks, deadline_s: float = inf) -> Placement | None:
        if self.router.fibers is None:
            return self._realize_on_board(row, blocks, deadline_s)
        assert isinstance(row, LightpathOption)
        return self._realize_on_fibers(row, self.router.fibers.spread(blocks), deadline_s)

    def _realize_on_fibers(self, row: LightpathOption, spread: Spread, deadline_s: float) -> Placement | None:
        """Blocks on servers beside the light that is free between these."""
        require_time(deadline_s)
        found = self.router.uniform(row, spread, deadline_s)
        if found is None:
            return None
        devices = tuple(self.first(row, found[0]))
        return Placement(row, devices, devices, found[1])

    def _realize_on_board(self, row: Option, blocks: Blocks, deadline_s: float) -> Placement | None:
        """The planner's own realisation, given back: where slots matter, light has failed or crosses servers."""
        require_time(deadline_s)
        assignment = self.board.realize(row.options, row.number, blocks)
        if assignment is None:
            return None
        self.board.release(assignment)
        devices = tuple(self.cluster.fabric.parse_device(name) for name in assignment.devices)
        return Placement(row, devices, devices, self.router.beams(row.shape, assignment.circuits))

    def realize_on(self, row: Option, devices: Sequence[Device], held: Sequence[Device]) -> Placement | None:
        beams = self.router.route(row.shape, devices)
        return None if beams is None else Placement(row, tuple(devices), tuple(held), beams)

    @property
    def servers_are_counts(self) -> bool:
        return self.router.is_uniform

    def dark_fibers(self) -> dict[tuple[int, int], int]:
        servers, light = range(len(self.lit)), self.light
        return {(a, b): light.dark_fibers(a, b) for a in servers for b in servers if light.ways.fibers(a, b)}

    def as_failed(self) -> Health:
        """Fibers have failed too on which every wavelength is taken."""
        health, every, name = super().as_failed(), self.light.carried, self.cluster.fabric.server_name
        full = [guide for guide, mask in self.taken.items() if len(guide) == 3 and mask & every == every]
        fibers = [FailedFiber.model_validate({"from": name(a), "to": name(b), "index": index}) for a, b, index in full]
        return edited(health, failed_fibers=(*health.failed_fibers, *fibers))
