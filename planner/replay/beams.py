"""Light of jobs on a lightpath: routed exactly as `planner.light` does, remembered where the same state comes back."""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import Lightpath
from planner.demand import Shape
from planner.greedy import has_light
from planner.layouts import layouts
from planner.light import Light, bits
from planner.plan import HeldCircuits
from planner.replay.kinds import Row
from planner.replay.strategies import Blocks
from planner.routing import Board, has_room
from planner.ways import Device, Waveguide

Floats32 = NDArray[np.float32]
MOST_REMEMBERED = 200_000
"""answers"""


class Beams(NamedTuple):
    """Light of one job."""

    guides: tuple[tuple[Waveguide, int], ...]
    """wavelengths by fiber or shared waveguide, as masks, over all configurations"""
    ends: tuple[tuple[int, int, int], ...]
    """(rank, wavelengths sent, wavelengths received) of ranks with circuits"""


class _Found(NamedTuple):
    """Servers of the blocks by position among those that the job uses, and its light."""

    layout: tuple[int, ...]
    beams: Beams


class Router:
    """First-fit circuits beside the light that is taken.

    Where slots and crossings do not matter and no laser has failed, the answer depends on the light of the fibers
    between the job's servers alone: it is looked up before it is searched.
    """

    def __init__(self, board: Board, light: Light) -> None:
        self.light = light
        self._board = board
        fabric: Lightpath = light.fabric
        self.is_uniform = not (fabric.slots_matter or light.cluster.has_failed_light or light.ways.may_cross)
        self._known: dict[object, _Found | None] = {}
        self._bright: dict[object, bool] = {}
        self._orders: dict[object, tuple[list[tuple[int, ...]], Floats32]] = {}

    def has_light(self, row: Row, blocks: Blocks) -> bool:
        """Whether enough wavelengths are free between the servers; necessary, not sufficient."""
        if not self.is_uniform:
            return has_light(self._board, row.shape, blocks)
        key = self._key(row, blocks)
        if key not in self._bright:
            self._bright[key] = has_light(self._board, row.shape, blocks)
        return self._bright[key]

    def uniform(self, row: Row, blocks: Blocks) -> tuple[list[int], Beams] | None:
        """Server of each block, and the light; None where first fit finds none."""
        servers, key = [server for server, _ in blocks], self._key(row, blocks)
        if key not in self._known:
            if len(self._known) > MOST_REMEMBERED:
                self._known.clear()
                self._bright.clear()
            self._known[key] = self._search(row.shape, blocks, servers)
        found = self._known[key]
        if found is None:
            return None
        guides = tuple(((servers[a], servers[b], i), mask) for (a, b, i), mask in found.beams.guides)  # type: ignore[misc]
        return [servers[place] for place in found.layout], Beams(guides, found.beams.ends)

    def _key(self, row: Row, blocks: Blocks) -> object:
        """The shape, the blocks, and the healthy fibers between their servers, each with what is taken on it."""
        taken, fibers = self.light.taken, self.light.ways.fibers
        servers = [server for server, _ in blocks]
        return (
            id(row.shape),
            tuple(count for _, count in blocks),
            *(tuple((i, taken.get((a, b, i), 0)) for i in fibers(a, b)) for a in servers for b in servers if a != b),
        )

    def _search(self, shape: Shape, blocks: Blocks, servers: Sequence[int]) -> _Found | None:
        """First fit over the layouts of which each pair of servers has the free wavelengths they need."""
        orders, needed = self._layouts(shape, tuple(count for _, count in blocks))
        room = np.array([[self.light.room(a, b) if a != b else 0 for b in servers] for a in servers])
        for number in np.flatnonzero((needed <= room).all(axis=(1, 2))).tolist():
            next_slot = [0] * len(servers)
            devices = []
            for place in orders[number]:
                devices += [(servers[place], next_slot[place] + k) for k in range(shape.block)]
                next_slot[place] += shape.block
            circuits = self.light.route(shape, devices)
            if circuits is not None:
                place_of = {server: place for place, server in enumerate(servers)}
                beams = self.beams(shape, circuits)
                guides = tuple(((place_of[a], place_of[b], i), mask) for (a, b, i), mask in beams.guides)  # type: ignore[misc]
                return _Found(orders[number], Beams(guides, beams.ends))
        return None

    def _layouts(self, shape: Shape, counts: tuple[int, ...]) -> tuple[list[tuple[int, ...]], Floats32]:
        """Places of the blocks among servers that take so many each, in the order to try, and the wavelengths that each
        needs from server to server, shape (layouts, servers, servers)."""
        key = id(shape), counts
        if key not in self._orders:
            whole = len(counts) == 1
            orders = [tuple(order) for order in islice(layouts(shape, list(enumerate(counts))), 1 if whole else None)]
            on = np.eye(len(counts), dtype=np.float32)[np.array(orders)]
            needed = np.zeros((len(orders), len(counts), len(counts)), dtype=np.float32)
            for between in shape.between_blocks:
                np.maximum(needed, on.transpose(0, 2, 1) @ between.astype(np.float32) @ on, out=needed)
            needed[:, range(len(counts)), range(len(counts))] = 0
            self._orders[key] = orders, needed
        return self._orders[key]

    def route(self, shape: Shape, devices: Sequence[Device]) -> Beams | None:
        """Light of a job whose rank i lies on devices[i]."""
        servers = [server for server, _ in devices[:: shape.block]]
        if not has_room(self.light, shape, servers):
            return None
        circuits = self.light.route(shape, devices)
        return None if circuits is None else self.beams(shape, circuits)

    def beams(self, shape: Shape, circuits: Sequence[HeldCircuits]) -> Beams:
        """Light of a job over all its configurations."""
        guides: dict[Waveguide, int] = {}
        sent: dict[int, int] = {}
        received: dict[int, int] = {}
        for (_, wanted), held in zip(shape.configurations, circuits, strict=True):
            for (source, destination, _), circuit in zip(wanted, held.circuits, strict=True):
                mask = bits(circuit.wavelengths)
                sent[source] = sent.get(source, 0) | mask
                received[destination] = received.get(destination, 0) | mask
                for guide in self.light.guides_of(circuit):
                    guides[guide] = guides.get(guide, 0) | mask
        ranks = sorted(sent.keys() | received.keys())
        ends = tuple((rank, sent.get(rank, 0), received.get(rank, 0)) for rank in ranks)
        return Beams(tuple(guides.items()), ends)

    def take(self, beams: Beams) -> None:
        taken = self.light.taken
        for guide, mask in beams.guides:
            taken[guide] = taken.get(guide, 0) | mask

    def release(self, beams: Beams) -> None:
        """Wavelengths on a waveguide are those of one job alone."""
        taken = self.light.taken
        for guide, mask in beams.guides:
            taken[guide] &= ~mask
