"""Policies that cut slices of fixed shapes from servers whose devices are all alike."""

from collections.abc import Iterator, Sequence

from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass, Option
from planner.fabrics.lightpath.routes import Device
from planner.fabrics.placement import Placement
from planner.fabrics.search import MAX_FAILED
from planner.fabrics.spreads_over_racks import JoinedAsFound
from planner.policies.bcube_slices import bcube_cut
from planner.policies.slices import Cutter, ranks_on
from planner.policies.torus_slices import torus_cut
from planner.simulate.placer import Placer
from planner.slices.allocator import MaskAllocator, Slice, members

CUTTERS: dict[str, Cutter] = {"torus_slices": torus_cut, "bcube_slices": bcube_cut}


class _Rack:
    """Slices of one rack, kept beside the state; devices with a failed port belong to none."""

    def __init__(self, state: FreeState, cutter: Cutter, servers: list[int]) -> None:
        cut = cutter(state.cluster, servers)
        self.devices = cut.devices
        lit = state.slots.lit
        taken = sum(1 << i for i, (server, slot) in enumerate(cut.devices) if slot not in lit[server])
        self.allocator: MaskAllocator = cut.allocator(taken)
        self._number = {device: i for i, device in enumerate(cut.devices)}
        self._dark = state.cluster.dark_devices

    def changed(self, devices: Sequence[Device], is_taken: bool) -> None:
        """Devices of this rack were taken or given back."""
        mask = sum(1 << self._number[d] for d in devices if d in self._number and d not in self._dark)
        self.allocator.free = self.allocator.free & ~mask if is_taken else self.allocator.free | mask

    def find(self, row: Option) -> tuple[Slice, list[Device]] | None:
        """The first slice for a row, and the devices of its ranks; nothing is taken."""
        slice_ = self.allocator.allocate(row.shape.num_ranks)
        if slice_ is None:
            return None
        self.allocator.release(slice_)
        devices = ranks_on([self.devices[i] for i in members(slice_.devices)], row.shape, apart=row.shape.is_even)
        return (slice_, devices) if devices else None


class SlicePlacer(Placer):
    """Each job with its most valuable row that a slice can realise, as `planner.policies.slices` places them."""

    def __init__(self, state: FreeState, name: str) -> None:
        self.state, self.is_fixed = state, False
        self._racks = [_Rack(state, CUTTERS[name], list(servers)) for servers in state.together]
        state.taken_hooks.append(self._changed)

    def place(self, kind: JobClass) -> Placement | None:
        if self.state.dark and kind.rows and kind.rows[0].is_single:
            dark = ((server, slots[0]) for server, slots in enumerate(self.state.slots.dark) if slots)
            if (device := next(dark, None)) is not None:
                return self._take(Placement(kind.rows[0], (device,), (device,)))
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
                    return self._take(placement)
            num_failed[is_whole] += found_any
            if not found_any or num_failed[is_whole] >= MAX_FAILED:
                hopeless.add(key)
        return None

    def _take(self, placement: Placement) -> Placement:
        self.state.take(placement)
        return placement

    def _found(self, row: Option) -> Iterator[Placement | None]:
        """The row on the first slice of each rack, or on those of as many racks as it asks for; None where light or
        links are short."""
        links, own = self.state.links, row if row.shape.racks == 1 else row.in_rack
        racks = None if row is own or links is None else JoinedAsFound[Placement](row.shape, links)
        for number, rack in enumerate(self._racks):
            given = rack.find(own)
            if given is None:
                continue
            part = self._realize(own, rack, *given)
            if racks is None or part is None:
                yield part
            else:
                yield from (self.state.join(row, parts) for parts in racks.choices_with(number, part))

    def _realize(self, row: Option, rack: _Rack, slice_: Slice, devices: list[Device]) -> Placement | None:
        held = tuple(rack.devices[i] for i in members(slice_.devices))
        return self.state.realize_on(row, devices, held)

    def _changed(self, devices: Sequence[Device], is_taken: bool) -> None:
        for rack in self._racks:
            rack.changed(devices, is_taken)
