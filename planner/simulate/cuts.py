"""Policies that cut slices of fixed shapes from servers whose devices are all alike."""

from collections.abc import Iterator, Sequence
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


class _Rack:
    """Slices of one rack, kept beside the state; devices with a failed port belong to none."""

    def __init__(self, state: FreeState, cutter: Cutter, servers: list[int]) -> None:
        cut = cutter(state.cluster, servers)
        self.devices = cut.devices
        lit = state.slots.lit
        taken = sum(1 << i for i, (server, slot) in enumerate(cut.devices) if slot not in lit[server])
        self.allocator: MaskAllocator = cut.allocator(taken)
        self._last: dict[tuple[int, int, bool], tuple[int, _Places]] = {}
        """the last slice by size, block and whether blocks lie apart, and where a row lies on it"""

    def find(self, row: Option) -> _Places | None:
        """Where a row lies on the first slice of its size; nothing is taken."""
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
            device: (rack, 1 << i)
            for rack in self._racks
            for i, device in enumerate(rack.devices)
            if device not in dark
        }
        """rack of each device with a port, and its bit there"""
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
        hopeless: set[tuple[int, ...]] = set()
        num_failed = {True: 0, False: 0}
        for row in kind.rows:
            shape = row.shape
            key, is_whole = (shape.num_ranks, shape.block, shape.racks, shape.links), shape.racks == 1
            if key in hopeless:
                continue
            found_any = False
            for placement in self._found(row):
                found_any = True
                if placement is not None:
                    return placement
            num_failed[is_whole] += found_any
            if not found_any or num_failed[is_whole] >= MAX_FAILED:
                hopeless.add(key)
        return None

    def _found(self, row: Option) -> Iterator[Placement | None]:
        """The row on the first slice of each rack, or on those of as many racks as it asks for; None where light or
        links are short."""
        links, own = self.state.links, row if row.shape.racks == 1 else row.in_rack
        racks = None if row is own or links is None else JoinedAsFound[Placement](row.shape, links)
        for number, rack in enumerate(self._racks):
            given = rack.find(own)
            if given is None:
                continue
            part = self.state.realize_on(own, *given)
            if racks is None or part is None:
                yield part
            else:
                yield from (self.state.join(row, parts) for parts in racks.choices_with(number, part))

    def _changed(self, devices: Sequence[Device], is_taken: bool) -> None:
        masks: dict[_Rack, int] = {}
        for device in devices:
            if device in self._bits:
                rack, bit = self._bits[device]
                masks[rack] = masks.get(rack, 0) | bit
        for rack, mask in masks.items():
            rack.allocator.free = rack.allocator.free & ~mask if is_taken else rack.allocator.free | mask
