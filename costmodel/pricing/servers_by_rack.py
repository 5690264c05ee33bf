"""Servers that a job takes of racks: certain numbers, in any racks, or between two bounds of each that it uses."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator

from costmodel.fabrics import FabricBase
from costmodel.spec import Count, Spec


class ServersOfRack(Spec):
    """Bounds on the servers of each rack that the job uses."""

    min: Count = 1
    """fewest"""
    max: Count
    """most"""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}")
        return self

    def __str__(self) -> str:
        number = str(self.min) if self.min == self.max else f"{self.min} to {self.max}"
        return f"{number} of each rack"


ServersByRack = Annotated[tuple[Count, ...], Field(min_length=1, max_length=4096)] | ServersOfRack
"""one number for each rack of the job, in any racks, or bounds that hold for each of them"""


def is_met(asked: ServersByRack, counts: Iterable[int]) -> bool:
    """Whether a job with so many servers of each of its racks lies as it asks."""
    if isinstance(asked, ServersOfRack):
        return all(asked.min <= count <= asked.max for count in counts)
    return sorted(counts) == sorted(asked)


def shared_out(asked: ServersByRack, number: int, room: Sequence[int]) -> list[int] | None:
    """So many servers divided over racks with room for `room` of them, in as few racks as bounds allow; None where that
    is impossible. Certain numbers go to the racks with the least room that is enough."""
    return _bounded(asked, number, room) if isinstance(asked, ServersOfRack) else _exact(asked, number, room)


def _exact(asked: Sequence[int], number: int, room: Sequence[int]) -> list[int] | None:
    """The greatest first: racks with room for it have room for all others."""
    given = [0] * len(room)
    for count in sorted(asked, reverse=True) if sum(asked) == number else ():
        able = [rack for rack, most in enumerate(room) if most >= count and not given[rack]]
        if not able:
            return None
        given[min(able, key=room.__getitem__)] = count
    return given if sum(given) == number else None


def _bounded(asked: ServersOfRack, number: int, room: Sequence[int]) -> list[int] | None:
    """Racks with the most of use, of these with the least room, until they take all and each has its least."""
    most = [min(free, asked.max) if free >= asked.min else 0 for free in room]
    order = sorted((rack for rack in range(len(room)) if most[rack]), key=lambda rack: (-most[rack], room[rack]))
    for used in range(1, len(order) + 1):
        racks, given = order[:used], [0] * len(room)
        left = number - used * asked.min
        if left < 0:
            return None
        for rack in racks:
            more = min(left, most[rack] - asked.min)
            given[rack] = asked.min + more
            left -= more
        if not left:
            return given
    return None


def may_lie(asked: ServersByRack, number: int, racks: int, fabric: FabricBase) -> bool:
    """Whether a job of so many servers lies as it asks on a fabric where nothing has failed; `racks`: those that its
    configuration takes equal parts of, where the fabric does not link racks."""
    if fabric.links_racks:
        return shared_out(asked, number, [fabric.servers] * fabric.racks) is not None
    return number // racks <= fabric.servers and is_met(asked, [number // racks] * racks)


def in_words(asked: ServersByRack) -> str:
    """1, 3 and 4 in one rack each, or 2 to 3 of each rack that it uses."""
    if isinstance(asked, ServersOfRack):
        return f"{asked} that it uses"
    *others, last = map(str, asked)
    return f"{', '.join(others)} and {last} in one rack each" if others else f"{last} in one rack"
