"""Fabrics whose jobs take slices of fixed extent: boxes of a torus, digit subcubes of a SiPAC."""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics.base import SliceShape
from costmodel.fabrics.group_plans import GroupPlan
from costmodel.fabrics.joined_racks import JoinedRacks
from costmodel.parallelism.degrees import Degrees

Ints = NDArray[np.int64]
Axes = tuple[int, ...]
"""axes of a box, ascending"""
Held = tuple[int, tuple[int, ...]]
"""A slice in use: its server, and the slot at each place of the slice"""


class Slice(NamedTuple):
    """A slice that a server has: the slot at each place, the last axis fastest, and the same slots as a bit mask."""

    slots: tuple[int, ...]
    mask: int


class Owners(NamedTuple):
    """Axes of a box by what varies along them; `rest` belongs to what data leaves beside context and expert."""

    tensor: Axes
    pipeline: Axes
    context: Axes
    expert: Axes
    rest: Axes


class Line(NamedTuple):
    """A circuit through an optical switch, which the ends use both ways: (server, slot) of the ends, and the switch."""

    source: tuple[int, int]
    destination: tuple[int, int]
    switch: tuple[int, int]


class SlicedFabric(JoinedRacks):
    """Ranks that exchange messages form a part, and each part takes a slice: a box inside a server, or whole servers.

    Along each axis of a box ranks differ in the index of one dimension alone, so that groups use links of their own.
    Two pools of a service share a box, along data.
    """

    measures_fragmentation = False
    pools_are_alike = True

    @property
    def places_whole_jobs(self) -> bool:
        return True

    def even_blocks(self, natural: Sequence[int], num_devices: int, per_server: int) -> Sequence[int]:
        """Slices of whole servers take all of each, whatever their blocks."""
        found = super().even_blocks(natural, num_devices, per_server)
        return sorted({*found, *natural}) if per_server == self.devices_per_server else found

    def share(self, block: int, plans: Sequence[GroupPlan]) -> int:
        """0 where such blocks do not lie within the servers of a slice."""
        slice_ = prod(self.cut(plans))
        if self._slices_of_part(plans) == 1:
            return max(slice_, block)
        servers = self._order(plans) // slice_
        if len(servers) % block:
            return 0
        blocks = servers.reshape(-1, block)
        return slice_ if bool((blocks == blocks[:, :1]).all()) else 0

    def owners(self, plans: Sequence[GroupPlan]) -> Owners:
        """Axes of a job with these plans, one along each of DIMENSIONS; ValueError where they exclude each other."""
        raise NotImplementedError

    def box(self, plans: Sequence[GroupPlan]) -> SliceShape:
        """Extents of a part of a job with these plans."""
        raise NotImplementedError

    def in_words(self, cut: SliceShape) -> str:
        """An extent of slices, such as 2 x 2 x 1."""
        return " x ".join(map(str, cut))

    def slices(self, cut: SliceShape) -> Sequence[Slice]:
        """Slices of an extent that every server has, in the order to try them."""
        raise NotImplementedError

    def needed_switches(self, server: int, cut: SliceShape, slots: Sequence[int]) -> frozenset[tuple[int, int]]:
        """Optical switches without which a slice cannot be; none on most fabrics."""
        return frozenset()

    def switch_name(self, axis: int, number: int) -> str:
        """Name of an optical switch."""
        raise NotImplementedError

    def lines(self, plans: Sequence[GroupPlan], held: Sequence[Held]) -> tuple[Line, ...]:
        """Circuits that join what a job holds; none where all links are fixed."""
        return ()

    def layout(self, plans: Sequence[GroupPlan], held: Sequence[Held]) -> list[tuple[int, int]]:
        """(server, slot) of each rank of a job on slices, one for each part or several whole servers."""
        order, each = self._order(plans), self._slices_of_part(plans)
        devices = []
        for first in range(0, len(held), each):
            places = [(server, slot) for server, slots in held[first : first + each] for slot in slots]
            devices += [places[place] for place in order.tolist()]
        return devices

    def held(self, plans: Sequence[GroupPlan], devices: Sequence[tuple[int, int]]) -> list[Held] | None:
        """The slices that a job on these devices holds, None where they are no slices or ranks lie otherwise."""
        order, cut = self._order(plans), self.cut(plans)
        ranks, known = np.argsort(order), {each.slots for each in self.slices(cut)}
        found = []
        for first in range(0, len(devices), len(order)):
            places = [devices[first + rank] for rank in ranks.tolist()]
            for start in range(0, len(places), prod(cut)):
                servers, slots = zip(*places[start : start + prod(cut)], strict=True)
                if len(set(servers)) > 1 or slots not in known:
                    return None
                found.append((servers[0], slots))
        return found

    def _slices_of_part(self, plans: Sequence[GroupPlan]) -> int:
        return prod(self.box(plans)) // prod(self.cut(plans))

    def _order(self, plans: Sequence[GroupPlan]) -> Ints:
        """Place of each rank of a part among all places of its slices, one slice after the other."""
        box = np.array(self.box(plans))
        cut = np.array(self.cut(plans)[: len(box)])
        at = coordinates(plans, self.owners(plans), self.box(plans))
        slice_ = np.ravel_multi_index(tuple(at // cut[:, None]), tuple(box // cut))
        place = np.ravel_multi_index(tuple(at % cut[:, None]), tuple(cut))
        return np.asarray(slice_ * int(cut.prod()) + place)


def coordinates(plans: Sequence[GroupPlan], owners: Owners, box: SliceShape) -> Ints:
    """Coordinates of each rank of a part along the axes of its box, shape (axes, ranks).

    Of each index the first axis varies fastest. Consecutive stages are neighbours.
    """
    tensor, pipeline, context, expert, rest = (prod(box[axis] for axis in axes) for axes in owners)
    degrees = Degrees(tensor, pipeline, rest * expert, context, expert)
    index, at = degrees.indices(), np.zeros((len(box), degrees.num_devices), dtype=np.int64)
    for name, axes in zip(Owners._fields, owners, strict=True):
        number = index[name]
        for axis in axes:
            number, digit = np.divmod(number, box[axis])
            is_back = (number % 2 == 1) & (name == "pipeline")
            at[axis] = np.where(is_back, box[axis] - 1 - digit, digit)
    return at
