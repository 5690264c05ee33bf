"""Photonics under the chips of a board: what a slice leaves idle of a chip's bandwidth goes to the links it uses.

Kumar et al., *Reconfigurable torus fabrics for multi-tenant ML* (Morphlux, ASPLOS 2026; arXiv:2508.03674): an optical
interposer under the accelerators of a server, whose switches are set when a slice is allocated, joins their ports with
each other and with the fibers to neighbouring servers. Here a link never gets less than its share of a plain torus.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Annotated

import numpy as np
from pydantic import Field

from costmodel.fabrics.box_links import BoxLinks
from costmodel.fabrics.boxes import Sides, box_of, owners_of, slices_of
from costmodel.fabrics.group_plans import GroupPlan
from costmodel.fabrics.sliced import Owners, Slice
from costmodel.fabrics.twisted import LINKS
from costmodel.spec import Spec, SwitchingTime

Widths = tuple[int, ...]
"""wavelengths of a link along x, y and z; 1 along an axis of extent 1, where there is none"""


class BoardsConfig(Spec):
    """Boards of chips on photonics, which divide the wavelengths of each chip among the links of its slice."""

    sides: Annotated[Sides, Field(min_length=3, max_length=3)]
    """chips along each axis of a board, which divide those of a server"""
    wavelengths_per_link: int = Field(default=1, ge=1, le=4)
    """that make up the bandwidth of a link; a chip sends six times as many, handed out one by one"""
    wavelengths_per_fiber: int | None = Field(default=None, ge=1, le=24)
    """most that go between chips of two boards, over the fiber that joins them; absent: as many as make up a link"""
    reconfiguration_s: SwitchingTime = 0.0
    """time to set the light of boards, before a job starts; it stays while the job runs"""

    @property
    def off_board(self) -> int:
        """Wavelengths of a link between two boards, at most."""
        return self.wavelengths_per_fiber or self.wavelengths_per_link

    @property
    def of_chip(self) -> int:
        """Wavelengths that a chip sends."""
        return LINKS * self.wavelengths_per_link

    def require_divide(self, sides: Sides) -> None:
        """ValueError where boards do not make up a server, or their fibers carry less than a link."""
        if min(self.sides) < 1 or any(side % each for side, each in zip(sides, self.sides, strict=True)):
            raise ValueError(
                f"boards.sides: boards of {[*self.sides]} do not make up {[*sides]}; give divisors of each"
            )
        if not self.wavelengths_per_link <= self.off_board <= self.of_chip:
            raise ValueError(
                f"boards.wavelengths_per_fiber: {self.off_board} is out of range; give {self.wavelengths_per_link} "
                f"(those of a link) to {self.of_chip} (those of a chip), or leave it out"
            )


@dataclass(frozen=True)
class BoardLight:
    """Which links of a box may have more wavelengths, and how many."""

    boards: BoardsConfig
    sides: Sides
    """chips along each axis of a server"""
    wraps: bool
    """whether the wrap along an axis joins chips directly, and not through a switch outside"""

    def widths(self, box: Sides) -> Iterator[Widths]:
        """Of links along the axes of a group, as far as a chip has wavelengths for them."""
        least = self.boards.wavelengths_per_link
        along = [range(least, self._most(axis, box) + 1) if box[axis] > 1 else (1,) for axis in range(3)]
        yield from (each for each in product(*along) if self._sent(box, each) <= self.boards.of_chip)

    def links(self, plain: BoxLinks, box: Sides) -> Iterator[BoxLinks]:
        """The same of a group, from those of a plain torus."""
        for widths in self.widths(box):
            yield replace(plain, wavelengths=widths, wavelengths_per_link=self.boards.wavelengths_per_link)

    def owners(self, extents: tuple[Sides, ...], widths: Widths) -> Owners | None:
        """As `owners_of`, of a job inside a server; None also where its links cannot have, or would have more than, so
        many wavelengths."""
        is_given = not widths or self.is_whole(box_of(extents), widths)
        return owners_of(extents, self.sides, 1, self.boards.sides) if is_given else None

    def is_whole(self, box: Sides, widths: Widths) -> bool:
        """Whether a chip of a job's box hands out what it can: more than a plain torus, and nothing could have more."""
        sent, of_chip = self._sent(box, widths), self.boards.of_chip
        return (
            sent <= of_chip
            and max(widths) > self.boards.wavelengths_per_link
            and all(
                width == self._most(axis, box) or sent + self._directions(axis, box) > of_chip
                for axis, width in enumerate(widths)
                if box[axis] > 1
            )
        )

    def needs_board(self, widths: Widths) -> bool:
        """Whether links have more than fibers between boards carry."""
        return max(widths, default=0) > self.boards.off_board

    def slices(self, cut: Sides) -> tuple[Slice, ...]:
        """Slices of an extent that lie on one board along each axis that a board is long enough for."""
        return slices_on_boards(self.sides, self.boards.sides, cut, wraps=self.wraps)

    def _most(self, axis: int, box: Sides) -> int:
        """Wavelengths of a link along an axis: all of a chip where every link may lie on a board."""
        fits = box[axis] <= self.boards.sides[axis] and (box[axis] < self.sides[axis] or self.wraps)
        return self.boards.of_chip if fits else self.boards.off_board

    def _directions(self, axis: int, box: Sides) -> int:
        """In which a chip sends along an axis: two, but one in a line of two chips; a ring of two has two links."""
        if box[axis] == 1:
            return 0
        return 1 if box[axis] == 2 < self.sides[axis] else 2

    def _sent(self, box: Sides, widths: Widths) -> int:
        """Wavelengths of a chip that has neighbours in all directions."""
        return sum(self._directions(axis, box) * width for axis, width in enumerate(widths))


@lru_cache(maxsize=256)
def slices_on_boards(sides: Sides, boards: Sides, cut: Sides, *, wraps: bool) -> tuple[Slice, ...]:
    """Slices of an extent in a server, those that lie on one board along each axis that boards are long enough for."""
    fits = [axis for axis in range(3) if cut[axis] <= boards[axis]]
    found = []
    for each in slices_of(sides, cut, wraps=wraps):
        chips = np.unravel_index(each.slots, sides)
        if all(len({*(chips[axis] // boards[axis]).tolist()}) == 1 for axis in fits):
            found.append(each)
    return tuple(found)


def widths_of(plans: Sequence[GroupPlan]) -> Widths | None:
    """Wavelengths of the links of a job along each axis; () where each has those of a plain torus, None where plans
    disagree."""
    sending = [plan for plan in plans if plan.kind != "none"]
    if not any(plan.wavelengths for plan in sending):
        return ()
    if not all(plan.wavelengths for plan in sending):
        return None
    found = [1, 1, 1]
    is_known = [False] * 3
    for plan in sending:
        for axis, (extent, width) in enumerate(zip(plan.radices, plan.wavelengths, strict=True)):
            if extent > 1 and is_known[axis] and found[axis] != width:
                return None
            if extent > 1:
                found[axis], is_known[axis] = width, True
    return tuple(found)
