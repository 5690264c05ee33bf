"""Three-dimensional tori of packet links, alone or as cubes whose faces meet in optical switches."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from costmodel.fabrics.base import SliceShape
from costmodel.fabrics.boards import BoardLight, widths_of
from costmodel.fabrics.box_links import BoxLinks
from costmodel.fabrics.boxes import POINT, Sides, box_of, boxes, extents_of, is_inside, owners_of, slices_of
from costmodel.fabrics.group_plans import NO_PLAN, GroupPlan, LinkPlan
from costmodel.fabrics.line_shifts import LineShifts
from costmodel.fabrics.partitions import is_of_whole
from costmodel.fabrics.slice_wirings import After, plain_or_twisted, shifted, wiring_of
from costmodel.fabrics.sliced import Held, Line, Owners, Slice
from costmodel.fabrics.torus_spec import TorusSpec
from costmodel.fabrics.twisted import NO_TWIST, Twist, twist_of
from costmodel.parallelism.mappings import Dimension


class Torus(TorusSpec):
    """Chips on a grid of `sides` in each server, with one link to each neighbour and a wrap along each axis.

    Without `switches` a job lies in one server, each of its parts on a box in any place. With them a server is a cube
    whose faces have no links of their own: a part is a box inside one cube, whose wraps are loops through switches, or
    any whole cubes of a rack, joined to a box in any order.
    """

    def switch_name(self, axis: int, number: int) -> str:
        """Axes 3 k, 3 k + 1 and 3 k + 2 are those of rack k."""
        return self._switches.name(axis, number)

    @property
    def switch_names(self) -> tuple[str, ...]:
        return self._switches.names

    def parse_switch(self, name: str) -> tuple[int, int]:
        """Axis, counted through all racks, and number of a switch; ValueError names the right form."""
        return super().parse_switch(name) if self.switches is None else self._switches.parse(name)

    def blocks(self, spans: Sequence[int], num_devices: int) -> Sequence[int]:
        """The whole job in one server, or each part; of whole cubes, the tensor group in one cube or not."""
        sizes = {spans[2], num_devices}
        if num_devices > self.devices_per_server and self.switches is not None:
            sizes |= {1, spans[0]}
        return sorted(size for size in sizes if size <= self.devices_per_server)

    def plans(self, dimension: Dimension, ranks: int, *, one_server: bool, per_server: int = 1) -> Sequence[GroupPlan]:
        if ranks == 1:
            return (NO_PLAN,)
        return tuple(
            replace(plan, near_share=1.0 if one_server else self._near_share(box))
            for box in self._boxes(dimension, ranks, one_server=one_server)
            for links in self._links_of(box)
            for plan in self._plans(dimension, box, links)
        )

    def _near_share(self, box: Sides) -> float:
        """Of hops over a box of whole cubes, those inside cubes: one of each side leaves its cube, along all axes
        alike."""
        leaving = [1 / side for extent, side in zip(box, self.sides, strict=True) if extent > 1]
        return 1 - sum(leaving) / len(leaving)

    def transfers(
        self, prefill: int, decode: int, *, one_server: bool, each: tuple[int, int] = (1, 1)
    ) -> Sequence[GroupPlan]:
        """As packets over the links of the box that both pools share."""
        found = self._boxes("data", prefill + decode, one_server=one_server) if each == (1, 1) else []
        return tuple(links.caches(prefill, decode, box) for box in found for links in self._links_of(box))

    def _boxes(self, dimension: Dimension, ranks: int, *, one_server: bool) -> list[Sides]:
        """Every box of so many ranks; of those across cubes only what a box of whole cubes may contain."""
        if one_server:
            return [box for box in boxes(self.sides, ranks, 1) if is_inside(box, self.sides)]
        if self.switches is None:
            return []
        return [box for box in boxes(self.sides, ranks, self.servers) if self._is_of_whole_cubes(box, dimension)]

    def _is_of_whole_cubes(self, box: Sides, dimension: Dimension) -> bool:
        """Whether each extent is 1 or a multiple of the side; tensor groups in one cube have blocks of their own."""
        if dimension == "tensor" and is_inside(box, self.sides):
            return False
        return all(extent == 1 or extent % side == 0 for extent, side in zip(box, self.sides, strict=True))

    def _links_of(self, box: Sides) -> Iterator[BoxLinks]:
        """Those of a plain torus, then those that the light of boards may give a group inside a server."""
        yield self._links
        yield from self._light.links(self._links, box) if self._light is not None and is_inside(box, self.sides) else ()

    def _plans(self, dimension: Dimension, box: Sides, links: BoxLinks) -> tuple[LinkPlan, ...]:
        is_whole = dimension in ("data", "expert")
        is_twisted, shifts = is_whole and bool(self._twist(box)), self._shifts(box) if is_whole else None
        if dimension == "pipeline":
            return (links.chain(box),)
        if dimension == "expert":
            found = [links.all_to_all(box)]
            found += [links.twisted_all_to_all(box)] if is_twisted else []
            return (*found, *([links.shifted_all_to_all(box, shifts)] if shifts else []))
        found = [*links.all_reduces(box), *([links.twisted_all_reduce(box)] if is_twisted else [])]
        return (*found, *([links.shifted_all_reduce(box, shifts)] if shifts else []))

    def _shifts(self, box: Sides) -> LineShifts | None:
        """How lines of a slice may shift; None where no such wiring is known."""
        known = () if self.switches is None else self.switches.line_shifts
        cubes = tuple(extent // side for extent, side in zip(box, self.sides, strict=True))
        return next((each for each in known if each.cubes == cubes and self._is_of_whole_cubes(box, "data")), None)

    def _twist(self, box: Sides) -> Twist:
        """How wraps of a slice may shift; none where it cannot be wired so."""
        may = self.switches is not None and self.switches.twisted
        return twist_of(box, self.sides) if may and not is_inside(box, self.sides) else NO_TWIST

    @cached_property
    def _links(self) -> BoxLinks:
        return BoxLinks(self.sides, self.link_bandwidth_bytes_per_s, self.alpha_s)

    @cached_property
    def _light(self) -> BoardLight | None:
        return None if self.boards is None else BoardLight(self.boards, self.sides, self.switches is None)

    def combines(self, plans: Sequence[GroupPlan]) -> bool:
        return self._owners(plans) is not None

    def combinations(
        self, menus: Sequence[Sequence[GroupPlan]], is_confined: Sequence[bool]
    ) -> Iterator[tuple[int, ...]]:
        """Boxes without an axis wanted twice; inside a cube only where all that sends is said to be in one server."""
        taken = [
            [sum(1 << i for i, extent in enumerate(plan.radices) if extent > 1) for plan in menu] for menu in menus
        ]
        inner = [*product(*(range(len(menu)) for menu in menus[3:]))]
        for t, p in product(*(range(len(menu)) for menu in menus[:2])):
            used = taken[0][t] | taken[1][p]
            if taken[0][t] & taken[1][p]:
                continue
            for d in (d for d, axes in enumerate(taken[2]) if not axes & used):
                for c, e in inner:
                    places = t, p, d, c, e
                    plans = [menu[place] for menu, place in zip(menus, places, strict=True)]
                    if self.combines(plans) and (all(is_confined) or self._is_worth_it(plans, is_confined)):
                        yield places

    def _is_worth_it(self, plans: Sequence[GroupPlan], is_confined: Sequence[bool]) -> bool:
        """Whether no larger block holds the same: what sends outside blocks needs whole cubes."""
        sends_outside = any(plan.ranks > 1 and not inside for plan, inside in zip(plans, is_confined, strict=True))
        return not sends_outside or not is_inside(self.box(plans), self.sides)

    def owners(self, plans: Sequence[GroupPlan]) -> Owners:
        owners = self._owners(plans)
        if owners is None:
            raise ValueError("two dimensions take one axis, or the box is none of whole cubes")
        return owners

    def _owners(self, plans: Sequence[GroupPlan]) -> Owners | None:
        if self.partitions and (box := self.box(plans)) not in self.partitions and not is_of_whole(box, self.sides):
            return None
        if self.switches is not None and self.switches.rewires and wiring_of(plans) is None:
            return None
        extents, widths = extents_of(plans), widths_of(plans)
        if self._light is not None and widths is not None and is_inside(box_of(extents), self.sides):
            return self._light.owners(extents, widths)
        cubes = 1 if self.switches is None else self.servers
        return None if widths is None or widths else owners_of(extents, self.sides, cubes)

    def box(self, plans: Sequence[GroupPlan]) -> Sides:
        return box_of(extents_of(plans))

    def cut(self, plans: Sequence[GroupPlan]) -> SliceShape:
        box = self.box(plans)
        if box == POINT:
            return ()
        needs_board = self._light is not None and self._light.needs_board(widths_of(plans) or ())
        return *map(min, box, self.sides), *((1,) if needs_board else ())

    def in_words(self, cut: SliceShape) -> str:
        return super().in_words(cut[:3]) + " on a board" * (len(cut) > 3)

    def slices(self, cut: SliceShape) -> Sequence[Slice]:
        a, b, c, *light = cut
        if light and self._light is not None:
            return self._light.slices((a, b, c))
        return slices_of(self.sides, (a, b, c), wraps=self.switches is None, aligned=bool(self.partitions))

    def needed_switches(self, server: int, cut: SliceShape, slots: Sequence[int]) -> frozenset[tuple[int, int]]:
        """Those that carry the wraps of the axes that a slice spans."""
        if self.switches is None:
            return frozenset()
        spanned = [axis for axis in range(3) if cut[axis] == self.sides[axis]]
        return frozenset(self._switch(server, axis, self._chip(slot)) for slot in slots for axis in spanned)

    def lines(self, plans: Sequence[GroupPlan], held: Sequence[Held]) -> tuple[Line, ...]:
        """From the + face of each cube to the - face of the next, along each axis that a part spans."""
        if self.switches is None or not held:
            return ()
        box, cut = self.box(plans), self.cut(plans)
        number = prod(box) // prod(cut)
        spanned = [axis for axis in range(3) if cut[axis] == self.sides[axis]]
        return tuple(
            line
            for first in range(0, len(held), number)
            for axis in spanned
            for line in self._lines(held[first : first + number], axis, self._after(plans, held[first:], axis))
        )

    def _after(self, plans: Sequence[GroupPlan], held: Sequence[Held], axis: int) -> After:
        """Servers that follow those of a part, the first ones held."""
        box, cut, wiring = self.box(plans), self.cut(plans), wiring_of(plans)
        a, b, c = (extent // side for extent, side in zip(box, cut, strict=False))
        servers = [server for server, _ in held[: a * b * c]]
        shifts = self._shifts(box) if wiring == "shifted" else None
        if shifts is not None:
            return shifted(servers, shifts, axis)
        twist = self._twist(box) if wiring == "twisted" else NO_TWIST
        return plain_or_twisted(servers, (a, b, c), self.sides, axis, twist)

    def _lines(self, held: Sequence[Held], axis: int, after: After) -> Iterator[Line]:
        """Of all cubes of a part along an axis."""
        for number, (server, slots) in enumerate(held):
            for slot in slots:
                chip = self._chip(slot)
                if chip[axis] == self.sides[axis] - 1:
                    opposite = tuple(0 if i == axis else place for i, place in enumerate(chip))
                    ends = (server, slot), (after(chip)[number], int(np.ravel_multi_index(opposite, self.sides)))
                    yield Line(*ends, self._switch(server, axis, chip))

    def _chip(self, slot: int) -> Sides:
        x, rest = divmod(slot, self.sides[1] * self.sides[2])
        return x, *divmod(rest, self.sides[2])

    def _switch(self, server: int, axis: int, chip: Sides) -> tuple[int, int]:
        face = [i for i in range(3) if i != axis]
        return 3 * self.rack_of(server) + axis, chip[face[0]] * self.sides[face[1]] + chip[face[1]]

    def network_j_per_byte(self, one_server: bool) -> float:
        return self.link_energy_j_per_byte if one_server or self.switches is None else self.switches.energy_j_per_byte
