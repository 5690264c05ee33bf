"""Light of jobs on a lightpath: routed as `rwa` does, remembered where the same state comes back."""

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any, NamedTuple

from costmodel.fabrics import Lightpath
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.fast_fibers import Fibers, Spread
from planner.fabrics.lightpath.job_class import LightpathOption
from planner.fabrics.lightpath.routes import Device, Waveguide
from planner.fabrics.lightpath.rwa import Paths, Spectrum
from planner.fabrics.placement import Owned
from planner.fabrics.search import require_time
from planner.model.masks import bits
from planner.model.plan import HeldCircuits

MOST_REMEMBERED = 200_000
"""answers"""
MOST_ENDS = 2_000_000
"""ranks with circuits in all remembered answers; each takes some 100 bytes"""


class _Found(NamedTuple):
    """Servers of the blocks by position among those that the job uses, and its light."""

    layout: tuple[int, ...]
    owned: Owned[Any]


class _Lit:
    """Light of one job while its circuits are counted up."""

    def __init__(self) -> None:
        self._guides: dict[Waveguide, int] = {}
        self._sent: dict[int, int] = {}
        self._received: dict[int, int] = {}

    def add(self, source: int, destination: int, mask: int, guides: Iterable[Waveguide]) -> None:
        """A circuit from rank to rank."""
        self._sent[source] = self._sent.get(source, 0) | mask
        self._received[destination] = self._received.get(destination, 0) | mask
        for guide in guides:
            self._guides[guide] = self._guides.get(guide, 0) | mask

    def owned(self) -> Owned[Waveguide]:
        """All of it."""
        ranks = sorted(self._sent.keys() | self._received.keys())
        ends = tuple((rank, self._sent.get(rank, 0), self._received.get(rank, 0)) for rank in ranks)
        return Owned(tuple(self._guides.items()), ends)


class Router:
    """First-fit circuits beside the light that is taken.

    Where slots and crossings do not matter and no laser has failed, the answer depends on the light of the fibers
    between the job's servers alone: it is looked up before it is searched.
    """

    def __init__(self, light: Spectrum) -> None:
        self.light = light
        fabric: Lightpath = light.fabric
        self.is_uniform = not (
            fabric.slots_matter or light.cluster.has_failed_light or light.routes.may_cross or light.is_limited
        )
        """True if light between servers depends on what is taken of their fibers alone"""
        self._fibers: Fibers | None = None
        self._known: dict[tuple[int, int], _Found | None] = {}
        self._num_ends = 0
        self._paths: Paths = []
        """of the last search"""
        self._fresh: tuple[Owned[Any], Paths] | None = None

    @property
    def fibers(self) -> Fibers | None:
        """Wavelengths taken by pair of servers, where these are all that matters; counted from the first look on."""
        if self._fibers is None and self.is_uniform:
            self._fibers = Fibers(self.light)
            for guide, mask in self.light.taken.items():
                if len(guide) == 3:
                    self._fibers.mark(guide, mask, is_taken=True)
        return self._fibers

    def uniform(
        self, row: LightpathOption, spread: Spread, deadline_s: float = inf
    ) -> tuple[list[int], Owned[Any]] | None:
        """Server of each block, and the light; None where first fit finds none. OutOfTimeError after `deadline_s`, and
        nothing is remembered."""
        key = id(row.shape), spread.number
        is_new = key not in self._known
        if is_new:
            if len(self._known) > MOST_REMEMBERED or self._num_ends > MOST_ENDS:
                self._known.clear()
                self._num_ends = 0
            found = self._known[key] = self._search(row, spread, deadline_s)
            self._num_ends += 0 if found is None else len(found.owned.ends)
        found = self._known[key]
        if found is None:
            return None
        servers = spread.servers
        guides = tuple(((servers[a], servers[b], i), mask) for (a, b, i), mask in found.owned.masks)
        owned: Owned[Any] = Owned(guides, found.owned.ends)
        if is_new:
            self._fresh = owned, self._paths
        return [servers[place] for place in found.layout], owned

    def paths(self, owned: Owned[Any]) -> Paths | None:
        """Routes and wavelengths of the circuits behind an answer; None unless it is the last one that was searched."""
        return self._fresh[1] if self._fresh is not None and self._fresh[0] is owned else None

    def _search(self, row: LightpathOption, spread: Spread, deadline_s: float) -> _Found | None:
        """First fit over the layouts of which each pair of servers has the free wavelengths they need."""
        servers, shape = spread.servers, row.shape
        for order in row.layouts.within(spread.counts, spread.room):
            require_time(deadline_s)
            next_slot = [0] * len(servers)
            devices = []
            for place in order:
                devices += [(servers[place], next_slot[place] + k) for k in range(shape.block)]
                next_slot[place] += shape.block
            owned = self._routed(shape, devices)
            if owned is not None:
                place_of = {server: place for place, server in enumerate(servers)}
                guides = tuple(((place_of[a], place_of[b], i), mask) for (a, b, i), mask in owned.masks)
                return _Found(order, Owned(guides, owned.ends))
        return None

    def route(self, shape: Demand, devices: Sequence[Device]) -> Owned[Any] | None:
        """Light of a job whose rank i lies on devices[i]."""
        paths = self.paths_on(shape, devices)
        return None if paths is None else self.owned(shape, devices, paths)

    def paths_on(self, shape: Demand, devices: Sequence[Device]) -> Paths | None:
        """First-fit paths of a job whose rank i lies on devices[i], where its servers have the room."""
        servers = [server for server, _ in devices[:: shape.block]]
        return self.light.first_fit(shape, devices) if self.light.has_room(shape, servers) else None

    def _routed(self, shape: Demand, devices: Sequence[Device]) -> Owned[Any] | None:
        """First-fit light, in masks."""
        paths = self.light.first_fit(shape, devices)
        if paths is None:
            return None
        self._paths = paths
        return self.owned(shape, devices, paths)

    def owned(self, shape: Demand, devices: Sequence[Device], paths: Paths) -> Owned[Any]:
        """Light of a job over all its configurations."""
        lit = _Lit()
        for (_, wanted), chosen in zip(shape.configurations, paths, strict=True):
            for i, (source, destination, _) in enumerate(wanted):
                route, mask = chosen[i]
                lit.add(
                    source,
                    destination,
                    mask,
                    self.light.routes.waveguides(devices[source], devices[destination], route),
                )
        return lit.owned()

    def owned_over(self, shape: Demand, circuits: Sequence[HeldCircuits]) -> Owned[Waveguide]:
        """Light of a job over all its configurations."""
        lit = _Lit()
        for (_, wanted), held in zip(shape.configurations, circuits, strict=True):
            for (source, destination, _), circuit in zip(wanted, held.circuits, strict=True):
                lit.add(source, destination, bits(circuit.wavelengths), self.light.guides_of(circuit))
        return lit.owned()

    def take(self, owned: Owned[Any]) -> None:
        taken = self.light.taken
        for guide, mask in owned.masks:
            taken[guide] = taken.get(guide, 0) | mask
            if self._fibers is not None:
                self._fibers.mark(guide, mask, is_taken=True)

    def release(self, owned: Owned[Any]) -> None:
        """Wavelengths on a waveguide are those of one job alone."""
        taken = self.light.taken
        for guide, mask in owned.masks:
            taken[guide] &= ~mask
            if self._fibers is not None:
                self._fibers.mark(guide, mask, is_taken=False)
