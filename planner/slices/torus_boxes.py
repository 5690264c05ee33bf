"""Contiguous boxes of a three-dimensional torus, in any rotation and across the wrap."""

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from planner.slices.allocator import FirstFree, all_ones, repeated

Sides = tuple[int, int, int]


class _Shift(NamedTuple):
    """Moves a set of accelerators along one axis, towards the origin (or, read backwards, away from it)."""

    right: int
    low: int
    """places that receive from farther along the axis"""
    left: int
    high: int
    """places that receive across the wrap; empty without one"""


class TorusBoxes(FirstFree):
    """First fit of boxes: the most compact shape first, then the lowest origin.

    Accelerator (x, y, z) has the number (x Y + y) Z + z. Sizes that are no product of three sides that fit are
    rounded up to the next one that is. All origins of one shape are tried at once: a set of accelerators, moved
    along an axis and intersected with itself, leaves the origins of free runs.
    """

    def __init__(self, sides: Sides, taken: int = 0, *, wrap: bool = True) -> None:
        super().__init__(prod(sides), taken)
        self.sides = sides
        self.wrap = wrap
        self._shifts: dict[int, tuple[tuple[_Shift, ...], ...]] = {}

    def fit_in(self, free: int, size: int) -> int:
        if size not in self._shifts:
            self._shifts[size] = tuple(self._shifts_of(box) for box in boxes(self.sides, size))
        for shifts in self._shifts[size]:
            origins = free
            for right, low, left, high in shifts:
                origins &= (origins >> right) & low | (origins << left) & high
                if not origins:
                    break
            else:
                return _spread(origins & -origins, shifts)
        return 0

    def _shifts_of(self, box: Sides) -> tuple[_Shift, ...]:
        """Shifts that together try every place of a box, doubling the length tried along each axis."""
        shifts = []
        for axis, side in enumerate(box):
            covered = 1
            while covered < side:
                steps = min(covered, side - covered)
                shifts.append(self._shift(axis, steps))
                covered += steps
        return tuple(shifts)

    def _shift(self, axis: int, steps: int) -> _Shift:
        length, stride = self.sides[axis], prod(self.sides[axis + 1 :])
        low = repeated(stride * (length - steps), stride * length, self.capacity)
        high = all_ones(self.capacity) ^ low if self.wrap else 0
        return _Shift(stride * steps, low, stride * (length - steps), high)


def _spread(origin: int, shifts: tuple[_Shift, ...]) -> int:
    """All places of the box at an origin: the shifts run backwards."""
    devices = origin
    for right, low, left, high in shifts:
        devices |= (devices & low) << right | (devices & high) >> left
    return devices


def boxes(sides: Sides, size: int) -> tuple[Sides, ...]:
    """Boxes of the least volume >= size that a torus of these sides holds, the most compact first; () for none."""
    for volume in range(size, prod(sides) + 1):
        found = sorted(_boxes_of(sides, volume), key=lambda box: (sum(box), box))
        if found:
            return tuple(found)
    return ()


def _boxes_of(sides: Sides, volume: int) -> Iterator[Sides]:
    for a in _divisors(volume, sides[0]):
        for b in _divisors(volume // a, sides[1]):
            if (c := volume // (a * b)) <= sides[2]:
                yield a, b, c


def _divisors(number: int, most: int) -> list[int]:
    return [each for each in range(1, min(number, most) + 1) if number % each == 0]


def most_cubic(volume: int) -> Sides:
    """Three sides of a volume with the least sum, ascending: 64 is 4 x 4 x 4, 256 is 4 x 8 x 8."""
    whole = (volume, volume, volume)
    return min((box for box in _boxes_of(whole, volume) if box == tuple(sorted(box))), key=sum)
