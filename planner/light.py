"""Which wavelengths are taken where, and first-fit circuits for one job beside all others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from costmodel.fabrics import Circuits, Lightpath
from planner.cluster import Cluster
from planner.demand import Dimension, Shape
from planner.plan import Circuit, HeldCircuits

Device = tuple[int, int]
"""(server, slot)"""
Fiber = tuple[int, int, int]
"""(source server, destination server, index)"""
Waveguide = Fiber | tuple[str, int, int, int]
"""A fiber, or ("tile", server, from slot, to slot) where waveguides are shared"""


def bits(wavelengths: Sequence[int]) -> int:
    return sum(1 << w for w in wavelengths)


def wavelengths_of(mask: int) -> tuple[int, ...]:
    return tuple(w for w in range(mask.bit_length()) if mask >> w & 1)


@dataclass
class _Configuration:
    """Light of one configuration of the job being routed: masks by sending tile, receiving tile, waveguide."""

    sent: dict[int, int] = field(default_factory=dict)
    received: dict[int, int] = field(default_factory=dict)
    used: dict[Waveguide, int] = field(default_factory=dict)


class Light:
    """Masks of taken wavelengths by waveguide, of jobs that are already routed.

    `most_lit` limits how many fibers of an ordered pair of servers may carry light.
    """

    def __init__(self, cluster: Cluster, most_lit: Mapping[tuple[int, int], int] | None = None) -> None:
        assert isinstance(cluster.fabric, Lightpath)
        self.cluster = cluster
        self.fabric: Lightpath = cluster.fabric
        self.taken: dict[Waveguide, int] = {}
        self._most_lit = most_lit or {}
        self._fibers: dict[tuple[int, int], tuple[int, ...]] = {}

    def fibers(self, source: int, destination: int) -> tuple[int, ...]:
        """Healthy fibers of an ordered pair."""
        pair = source, destination
        if pair not in self._fibers:
            self._fibers[pair] = self.cluster.healthy_fibers(source, destination)
        return self._fibers[pair]

    def dark_fibers(self, source: int, destination: int) -> int:
        """Healthy fibers of an ordered pair that carry no light."""
        return sum(not self.taken.get((source, destination, i)) for i in self.fibers(source, destination))

    def free_wavelengths(self, source: int, destination: int) -> int:
        """Wavelengths that are free on the fibers of an ordered pair."""
        full = (1 << min(self.fabric.wavelengths_per_fiber, self.fabric.wavelengths_per_tile)) - 1
        return sum(
            (full & ~self.taken.get((source, destination, i), 0)).bit_count() for i in self.fibers(source, destination)
        )

    def commit(self, circuits: Sequence[HeldCircuits]) -> None:
        """Take the light of a routed job."""
        for held in circuits:
            for circuit in held.circuits:
                mask = bits(circuit.wavelengths)
                for guide in self.guides_of(circuit):
                    self.taken[guide] = self.taken.get(guide, 0) | mask

    def guides_of(self, circuit: Circuit) -> list[Waveguide]:
        """Everything on a circuit's way where its light could meet other light."""
        if not circuit.fibers and self.fabric.waveguides == "dedicated":
            return []
        source, destination = map(self.fabric.parse_device, (circuit.source, circuit.destination))
        index = int(circuit.fibers[0].rpartition("#")[2]) if circuit.fibers else None
        return self.waveguides(source, destination, index)

    def waveguides(self, source: Device, destination: Device, fiber: int | None) -> list[Waveguide]:
        """Everything on the way where light could meet other light."""
        guides: list[Waveguide] = []
        if fiber is not None:
            guides.append((source[0], destination[0], fiber))
        if self.fabric.waveguides == "shared":
            guides += [("tile", *step) for step in self._steps(source, destination, fiber)]
        return guides

    def _steps(self, source: Device, destination: Device, fiber: int | None) -> list[tuple[int, int, int]]:
        segments = self.fabric.segments
        if fiber is None:
            return [*segments(source[0], source[1], destination[1])]
        slot = self.fabric.fiber_slot(fiber)
        return [*segments(source[0], source[1], slot), *segments(destination[0], slot, destination[1])]

    def reaches(self, source: Device, destination: Device, fiber: int | None) -> bool:
        """Whether the loss of the path is within the budget."""
        budget = self.fabric.loss_budget_db
        if budget is None:
            return True
        crossings = len(self._steps(source, destination, fiber))
        return self.fabric.loss_db(crossings, 0 if fiber is None else 1) <= budget + 1e-9

    def route(self, shape: Shape, devices: Sequence[Device]) -> tuple[HeldCircuits, ...] | None:
        """First-fit circuits of a job whose rank i lies on devices[i]; None where first fit fails.

        Inside servers the canonical colouring of the shape is preferred.
        """
        return self.complete(shape.configurations, shape.offsets, devices, [{} for _ in shape.configurations])

    def complete(
        self,
        configurations: Sequence[tuple[Dimension, Circuits]],
        offsets: Sequence[Sequence[int]],
        devices: Sequence[Device],
        kept: Sequence[Mapping[int, Circuit]],
    ) -> tuple[HeldCircuits, ...] | None:
        """First-fit circuits beside those that stay, given for each configuration by position; None where it fails.

        Circuits between servers go first, onto fibers and wavelengths that the job already uses in another
        configuration, then onto fibers that others light, then onto dark ones. `offsets` are the first wavelengths
        that circuits prefer.
        """
        own: dict[Waveguide, int] = {}
        before = [self._kept(circuits, held, own) for (_, circuits), held in zip(configurations, kept, strict=True)]
        result = []
        for (dimension, circuits), preferred, now, held in zip(configurations, offsets, before, kept, strict=True):
            chosen = dict(held)
            order = sorted(range(len(circuits)), key=lambda i: devices[circuits[i][0]][0] == devices[circuits[i][1]][0])
            for i in (i for i in order if i not in chosen):
                source, destination, width = circuits[i]
                found = self._first_fit(now, own, (source, destination), devices, width, preferred[i])
                if found is None:
                    return None
                chosen[i] = found
            result.append(HeldCircuits(dimension=dimension, circuits=tuple(chosen[i] for i in range(len(circuits)))))
            for guide, mask in now.used.items():
                own[guide] = own.get(guide, 0) | mask
        return tuple(result)

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
    ) -> Circuit | None:
        """Fiber and wavelengths for one circuit, marked in `now`; None where nothing fits."""
        source, destination = devices[ranks[0]], devices[ranks[1]]
        blocked_at_tiles = now.sent.get(ranks[0], 0) | now.received.get(ranks[1], 0)
        for fiber in self._fiber_order(source[0], destination[0], own):
            if not self.reaches(source, destination, fiber):
                continue
            guides = self.waveguides(source, destination, fiber)
            full = self.fabric.wavelengths_per_tile
            if fiber is not None:
                full = min(full, self.fabric.wavelengths_per_fiber)
            free = (1 << full) - 1 & ~blocked_at_tiles
            reused = -1 if guides else 0
            for guide in guides:
                free &= ~self.taken.get(guide, 0) & ~now.used.get(guide, 0)
                reused &= own.get(guide, 0)
            mask = _pick(free, width, offset, reused & free)
            if mask is None:
                continue
            now.sent[ranks[0]] = now.sent.get(ranks[0], 0) | mask
            now.received[ranks[1]] = now.received.get(ranks[1], 0) | mask
            for guide in guides:
                now.used[guide] = now.used.get(guide, 0) | mask
            names = () if fiber is None else (self.fabric.fiber_name(source[0], destination[0], fiber),)
            return Circuit(
                source=self.fabric.device_name(*source),
                destination=self.fabric.device_name(*destination),
                wavelengths=wavelengths_of(mask),
                fibers=names,
            )
        return None

    def _fiber_order(self, source: int, destination: int, own: dict[Waveguide, int]) -> list[int | None]:
        """Fibers to try: the job's own, lit ones from the fullest, then dark ones while more may be lit."""
        if source == destination:
            return [None]
        indices = self.fibers(source, destination)
        load = {
            i: (bool(own.get((source, destination, i))), self.taken.get((source, destination, i), 0).bit_count())
            for i in indices
        }
        lit = sorted((i for i in indices if load[i] != (False, 0)), key=lambda i: load[i], reverse=True)
        dark = [i for i in indices if load[i] == (False, 0)]
        most = self._most_lit.get((source, destination), len(indices))
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
