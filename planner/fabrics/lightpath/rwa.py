"""Routing and wavelength assignment (RWA): the spectrum in use on each fiber, and first-fit circuits for one job."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, permutations, product

from costmodel.fabrics import Circuits, Fiber, Lightpath, Route
from planner.fabrics.circuits_between import busiest_pairs
from planner.fabrics.demand import Demand, Served
from planner.fabrics.lightpath.routes import Device, Routes, Waveguide
from planner.model.cluster import Cluster
from planner.model.masks import bits, numbers_of
from planner.model.plan import Circuit, HeldCircuits, circuit_of

Paths = list[dict[int, tuple[Route, int]]]
"""route and mask of wavelengths of each circuit, by configuration and position"""


@dataclass
class _Configuration:
    """Light of one configuration of the job being routed: masks by sending tile, receiving tile, waveguide."""

    sent: dict[int, int] = field(default_factory=dict)
    received: dict[int, int] = field(default_factory=dict)
    used: dict[Waveguide, int] = field(default_factory=dict)


class Spectrum:
    """Masks of taken wavelengths by waveguide, of jobs that are already routed.

    `most_lit` limits how many fibers of an ordered pair of servers may carry light.
    """

    def __init__(self, cluster: Cluster, most_lit: Mapping[tuple[int, int], int] | None = None) -> None:
        assert isinstance(cluster.fabric, Lightpath)
        self.cluster = cluster
        self.fabric: Lightpath = cluster.fabric
        self.routes = Routes(cluster)
        self.taken: dict[Waveguide, int] = {}
        self._most_lit = most_lit or {}

    def copy(self) -> "Spectrum":
        """The same light, to take from apart."""
        twin = copy(self)
        twin.taken = dict(self.taken)
        return twin

    @property
    def is_limited(self) -> bool:
        """True if of some pair of servers only some fibers may carry light."""
        return bool(self._most_lit)

    @cached_property
    def carried(self) -> int:
        """Mask of the wavelengths that a fiber carries."""
        return (1 << min(self.fabric.wavelengths_per_fiber, self.fabric.wavelengths_per_tile)) - 1

    def dark_fibers(self, source: int, destination: int) -> int:
        """Healthy fibers of an ordered pair that carry no light."""
        fibers = self.routes.fibers(source, destination)
        return sum(not self.taken.get((source, destination, i)) for i in fibers)

    def free_wavelengths(self, source: int, destination: int) -> int:
        """Wavelengths that are free on the fibers of an ordered pair."""
        carried, taken = self.carried, self.taken.get
        fibers = self.routes.fibers(source, destination)
        return sum([(carried & ~taken((source, destination, i), 0)).bit_count() for i in fibers])

    def between(self, servers: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
        """Healthy fibers of each ordered pair of these servers, and what is taken of them."""
        taken = self.taken.get
        for a, b in permutations(servers, 2):
            fibers = self.routes.fibers(a, b)
            yield fibers, tuple([taken((a, b, i), 0) for i in fibers])

    def leaving(self, server: int) -> int:
        """Wavelengths that are free on all fibers that leave a server."""
        return sum(self.free_wavelengths(server, other) for other in self.routes.onward[server])

    def entering(self, server: int) -> int:
        """Wavelengths that are free on all fibers that enter a server."""
        return sum(self.free_wavelengths(other, server) for other in self.routes.backward[server])

    def room(self, source: int, destination: int) -> int:
        """Wavelengths that can still go from one server to another; a bound where third servers may be crossed."""
        if not self.routes.joins(source, destination):
            return 0
        if not self.routes.may_cross:
            return self.free_wavelengths(source, destination)
        return min(self.leaving(source), self.entering(destination))

    def room_among(self, servers: Sequence[int]) -> list[int]:
        """Wavelengths that each of these servers can still send the others, or receive from them if these are fewer."""
        room = [[self.room(a, b) if a != b else 0 for b in servers] for a in servers]
        return [min(sum(out), sum(back)) for out, back in zip(room, zip(*room, strict=True), strict=True)]

    def has_room(self, demand: Demand, servers: Sequence[int]) -> bool:
        """True if each pair of servers has the free wavelengths that blocks on these servers need; necessary only."""
        if servers.count(servers[0]) == len(servers):
            return True
        names = [*dict.fromkeys(servers)]
        place = {server: number for number, server in enumerate(names)}
        places = array("i", [place[server] for server in servers]).tobytes()
        return all(lit <= self.room(names[a], names[b]) for a, b, lit in busiest_pairs(demand.between_blocks, places))

    def commit(self, circuits: Sequence[HeldCircuits]) -> None:
        """Take the light of a routed job."""
        for guide, mask in self.masks(circuits).items():
            self.taken[guide] = self.taken.get(guide, 0) | mask

    def masks(self, circuits: Sequence[HeldCircuits]) -> dict[Waveguide, int]:
        """Wavelengths of all configurations by fiber or waveguide."""
        masks: dict[Waveguide, int] = {}
        for held in circuits:
            for circuit in held.circuits:
                if guides := self.guides_of(circuit):
                    mask = bits(circuit.wavelengths)
                    for guide in guides:
                        masks[guide] = masks.get(guide, 0) | mask
        return masks

    def guides_of(self, circuit: Circuit) -> list[Waveguide]:
        """Everything on a circuit's way where its light could meet other light."""
        if not circuit.fibers and self.fabric.waveguides == "dedicated":
            return []
        source, destination = map(self.fabric.parse_device, (circuit.source, circuit.destination))
        return self.routes.waveguides(source, destination, tuple(map(self.fabric.parse_fiber, circuit.fibers)))

    def route(self, shape: Demand, devices: Sequence[Device]) -> tuple[HeldCircuits, ...] | None:
        """First-fit circuits of a job whose rank i lies on devices[i]; None where first fit fails.

        Inside servers the canonical colouring of the shape is preferred.
        """
        paths = self.first_fit(shape, devices)
        return None if paths is None else self.named(shape.configurations, devices, paths)

    def first_fit(self, demand: Demand, devices: Sequence[Device]) -> Paths | None:
        """First-fit paths of all circuits of a job whose rank i lies on devices[i]; None where first fit fails."""
        return self.paths(demand.configurations, demand.offsets, devices, [{} for _ in demand.configurations])

    def named(
        self,
        configurations: Sequence[tuple[Served, Circuits]],
        devices: Sequence[Device],
        paths: Paths,
        kept: Sequence[Mapping[int, Circuit]] | None = None,
    ) -> tuple[HeldCircuits, ...]:
        """Circuits over these paths as a plan writes them, and those that stay, by configuration and position."""
        result, names = [], self.fabric.device_names(devices)
        stay = kept or [{} for _ in configurations]
        fibers = {route: self._names(route) for route in {route for chosen in paths for route, _ in chosen.values()}}
        for (dimension, circuits), chosen, held in zip(configurations, paths, stay, strict=True):
            named = list[Circuit]()
            for i, (source, destination, _) in enumerate(circuits):
                if i in held:
                    named.append(held[i])
                    continue
                route, mask = chosen[i]
                named.append(circuit_of(names[source], names[destination], numbers_of(mask), fibers[route]))
            result.append(HeldCircuits(dimension=dimension, circuits=tuple(named)))
        return tuple(result)

    def complete(
        self,
        configurations: Sequence[tuple[Served, Circuits]],
        offsets: Sequence[Sequence[int]],
        devices: Sequence[Device],
        kept: Sequence[Mapping[int, Circuit]],
    ) -> tuple[HeldCircuits, ...] | None:
        """First-fit circuits beside those that stay, given for each configuration by position; None where it fails.

        `offsets` are the first wavelengths that circuits prefer.
        """
        paths = self.paths(configurations, offsets, devices, kept)
        return None if paths is None else self.named(configurations, devices, paths, kept)

    def paths(
        self,
        configurations: Sequence[tuple[Served, Circuits]],
        offsets: Sequence[Sequence[int]],
        devices: Sequence[Device],
        kept: Sequence[Mapping[int, Circuit]],
    ) -> Paths | None:
        """Route and mask of wavelengths of each circuit that does not stay, by configuration and position.

        Circuits between servers go first, onto fibers and wavelengths that the job already uses in another
        configuration, then onto fibers that others light, then onto dark ones.
        """
        own: dict[Waveguide, int] = {}
        before = [self._kept(circuits, held, own) for (_, circuits), held in zip(configurations, kept, strict=True)]
        result = []
        for (_, circuits), preferred, now, held in zip(configurations, offsets, before, kept, strict=True):
            chosen: dict[int, tuple[Route, int]] = {}
            order = sorted(range(len(circuits)), key=lambda i: devices[circuits[i][0]][0] == devices[circuits[i][1]][0])
            for i in (i for i in order if i not in held):
                source, destination, width = circuits[i]
                found = self._first_fit(now, own, (source, destination), devices, width, preferred[i])
                if found is None:
                    return None
                chosen[i] = found
            result.append(chosen)
            for guide, mask in now.used.items():
                own[guide] = own.get(guide, 0) | mask
        return result

    def _kept(self, circuits: Circuits, held: Mapping[int, Circuit], own: dict[Waveguide, int]) -> _Configuration:
        """Light of the circuits of one configuration that stay, added to what is the job's own."""
        now = _Configuration()
        for i, circuit in held.items():
            mask, (source, destination, _) = bits(circuit.wavelengths), circuits[i]
            now.sent[source] = now.sent.get(source, 0) | mask
            now.received[destination] = now.received.get(destination, 0) | mask
            for guide in self.guides_of(circuit):
                now.used[guide] = now.used.get(guide, 0) | mask
                own[guide] = own.get(guide, 0) | mask
        return now

    def _first_fit(
        self,
        now: _Configuration,
        own: dict[Waveguide, int],
        ranks: tuple[int, int],
        devices: Sequence[Device],
        width: int,
        offset: int,
    ) -> tuple[Route, int] | None:
        """Route and mask of wavelengths for one circuit, marked in `now`; None where nothing fits."""
        source, destination = devices[ranks[0]], devices[ranks[1]]
        blocked = now.sent.get(ranks[0], 0) | self.cluster.failed_lasers.get(source, 0)
        blocked |= now.received.get(ranks[1], 0) | self.cluster.failed_receivers.get(destination, 0)
        taken, used = self.taken.get, now.used.get
        for route in self._routes((source[0], destination[0]), now, own, width):
            if not self.routes.reaches(source, destination, route):
                continue
            guides = self.routes.waveguides(source, destination, route)
            free = (self.carried if route else (1 << self.fabric.wavelengths_per_tile) - 1) & ~blocked
            for guide in guides:
                free &= ~(taken(guide, 0) | used(guide, 0))
                if not free:
                    break
            reused = -1 if guides and own else 0
            for guide in guides if reused else ():
                reused &= own.get(guide, 0)
            mask = _pick(free, width, offset, reused & free)
            if mask is None:
                continue
            now.sent[ranks[0]] = now.sent.get(ranks[0], 0) | mask
            now.received[ranks[1]] = now.received.get(ranks[1], 0) | mask
            for guide in guides:
                now.used[guide] = now.used.get(guide, 0) | mask
            return route, mask
        return None

    def _names(self, route: Route) -> tuple[str, ...]:
        return tuple([self.fabric.fiber_name(*fiber) for fiber in route])

    def _routes(
        self, servers: tuple[int, int], now: _Configuration, own: dict[Waveguide, int], width: int
    ) -> Iterator[Route]:
        """Routes to try, those over the fewest servers first; each fiber alone has room for the width."""
        if servers[0] == servers[1]:
            yield ()
            return
        for chain in self.routes.first_chains(*servers):
            orders = [
                [fiber for fiber in self._fiber_order(a, b, own) if self._room_on(fiber, now) >= width]
                for a, b in pairwise(chain)
            ]
            yield from product(*orders)

    def _room_on(self, fiber: Fiber, now: _Configuration) -> int:
        return (self.carried & ~self.taken.get(fiber, 0) & ~now.used.get(fiber, 0)).bit_count()

    def _fiber_order(self, source: int, destination: int, own: dict[Waveguide, int]) -> list[Fiber]:
        """Fibers to try: the job's own, lit ones from the fullest, then dark ones while more may be lit."""
        fibers = [(source, destination, i) for i in self.routes.fibers(source, destination)]
        load = {fiber: (bool(own.get(fiber)), self.taken.get(fiber, 0).bit_count()) for fiber in fibers}
        lit = sorted((fiber for fiber in fibers if load[fiber] != (False, 0)), key=lambda f: load[f], reverse=True)
        dark = [fiber for fiber in fibers if load[fiber] == (False, 0)]
        most = self._most_lit.get((source, destination), len(fibers))
        return [*lit, *dark[: max(0, most - len(lit))]]


def _pick(free: int, width: int, offset: int, reused: int) -> int | None:
    """`width` free wavelengths: the canonical ones if free, else those already in use by the job, else the lowest."""
    if free.bit_count() < width:
        return None
    canonical = ((1 << width) - 1) << offset
    if canonical & free == canonical and (reused == 0 or canonical & reused == canonical):
        return canonical
    mask = 0
    for pool in (reused, free):
        while mask.bit_count() < width and pool & ~mask:
            rest = pool & ~mask
            mask |= rest & -rest
    return mask
