"""Policies that cut slices of fixed shapes from servers whose devices are all alike."""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass, Option
from planner.fabrics.lightpath.routes import Device
from planner.fabrics.look_ahead import LookAhead
from planner.fabrics.placement import Placement
from planner.fabrics.search import MAX_FAILED, Search
from planner.fabrics.spreads_over_racks import JoinedAsFound
from planner.heuristics.strategies import in_order
from planner.policies.bcube_slices import bcube_cut
from planner.policies.slices import Cutter, ranks_on
from planner.policies.torus_slices import torus_cut
from planner.simulate.placer import Placer
from planner.slices.allocator import MaskAllocator, members

CUTTERS: dict[str, Cutter] = {"torus_slices": torus_cut, "bcube_slices": bcube_cut}
FIRST_FIT = Search(in_order)
"""has room wherever a slice has"""


class _Places(NamedTuple):
    """Devices of one slice."""

    devices: list[Device]
    """of the ranks; none where the slice is cut otherwise"""
    held: tuple[Device, ...]


NOWHERE = _Places([], ())


class _Found(NamedTuple):
    """What a rack has for one row."""

    has_slice: bool
    part: Placement | None
    """on that slice; None where light is short"""


class _Rack:
    """Slices of one rack, kept beside the state; devices with a failed port belong to none."""

    def __init__(self, state: FreeState, cutter: Cutter, servers: list[int]) -> None:
        cut = cutter(state.cluster, servers)
        self._state, self.devices = state, cut.devices
        lit = state.slots.lit
        taken = sum(1 << i for i, (server, slot) in enumerate(cut.devices) if slot not in lit[server])
        self.allocator: MaskAllocator = cut.allocator(taken)
        self._last: dict[tuple[int, int, bool], tuple[int, _Places]] = {}
        """the last slice by size, block and whether blocks lie apart, and where a row lies on it"""
        self._found: dict[Option, _Found] = {}
        """rows that were looked for since something in the rack was last taken or given back"""

    def changed(self, bits: int, *, is_taken: bool) -> None:
        """Something was taken, or given back, these devices with a port among it."""
        self._found.clear()
        self.allocator.free = self.allocator.free & ~bits if is_taken else self.allocator.free | bits

    def find(self, row: Option) -> "_Found":
        """The row on the first slice of its size; nothing is taken."""
        found = self._found.get(row)
        if found is None:
            places = self._places(row)
            part = None if places is None else self._state.realize_on(row, *places)
            found = self._found[row] = _Found(places is not None, part)
        return found

    def _places(self, row: Option) -> _Places | None:
        """Where a row lies on that slice; None where no slice is free, or it is cut otherwise."""
        shape = row.shape
        slice_ = self.allocator.fit(shape.num_ranks)
        if not slice_:
            return None
        key = shape.num_ranks, shape.block, shape.is_even
        known, places = self._last.get(key, (0, NOWHERE))
        if known != slice_:
            held = tuple(self.devices[i] for i in members(slice_))
            places = _Places(ranks_on(held, shape, apart=shape.is_even), held)
            self._last[key] = slice_, places
        return places if places.devices else None


class SlicePlacer(Placer):
    """Each job with its most valuable row that a slice can realise, as `planner.policies.slices` places them."""

    def __init__(self, state: FreeState, name: str) -> None:
        self.state, self.is_fixed = state, True
        self._racks = [_Rack(state, CUTTERS[name], list(servers)) for servers in state.together]
        dark = state.cluster.dark_devices
        self._bits = {
            device: 1 << i for rack in self._racks for i, device in enumerate(rack.devices) if device not in dark
        }
        """bit of each device with a port in its rack"""
        self._num_together = len(state.together[0])
        self._able: dict[int, list[tuple[int, _Rack]]] = {}
        """racks with a free slice by size, while nothing changes"""
        state.taken_hooks.append(self._changed)

    def place(self, kind: JobClass) -> Placement | None:
        placement = self.look(kind)
        if placement is not None:
            self.state.take(placement)
        return placement

    def look_ahead(self, kind: JobClass) -> LookAhead:
        return self.state.look_ahead(kind, FIRST_FIT)

    def look(self, kind: JobClass) -> Placement | None:
        if kind.held > self.state.num_free:
            return None
        if self.state.dark and kind.rows and kind.rows[0].is_single:
            dark = ((server, slots[0]) for server, slots in enumerate(self.state.slots.dark) if slots)
            if (device := next(dark, None)) is not None:
                return Placement(kind.rows[0], (device,), (device,))
        num_failed, rows = {True: 0, False: 0}, kind.rows
        following = [(numbers[0], 0, numbers) for numbers in kind.numbers_by_cut]
        heapify(following)
        while following:
            number, rank, numbers = heappop(following)
            row, is_whole, found_any = rows[number], rows[number].shape.racks == 1, False
            for placement in self._found(row):
                found_any = True
                if placement is not None:
                    return placement
            num_failed[is_whole] += found_any
            if found_any and num_failed[is_whole] < MAX_FAILED and rank + 1 < len(numbers):
                heappush(following, (numbers[rank + 1], rank + 1, numbers))
        return None

    def _found(self, row: Option) -> Iterator[Placement | None]:
        """The row on the first slice of each rack, or on those of as many racks as it asks for; None where light or
        links are short."""
        links, own = self.state.links, row if row.shape.racks == 1 else row.in_rack
        racks = None if row is own or links is None else JoinedAsFound[Placement](row.shape, links)
        for number, rack in self._with_slice(own.shape.num_ranks):
            has_slice, part = rack.find(own)
            if racks is None or part is None:
                if has_slice:
                    yield part
            else:
                yield from (self.state.join(row, parts) for parts in racks.choices_with(number, part))

    def _with_slice(self, size: int) -> list[tuple[int, _Rack]]:
        """Racks in which a slice of a size is free, by number."""
        if size not in self._able:
            self._able[size] = [(i, rack) for i, rack in enumerate(self._racks) if rack.allocator.fit(size)]
        return self._able[size]

    def _changed(self, devices: Sequence[Device], is_taken: bool) -> None:
        self._able.clear()
        masks: dict[int, int] = {}
        for device in devices:
            rack = device[0] // self._num_together
            masks[rack] = masks.get(rack, 0) | self._bits.get(device, 0)
        for rack, mask in masks.items():
            self._racks[rack].changed(mask, is_taken=is_taken)
