"""Subcubes of digits: slices of BCube and of SiPAC, whose switches join accelerators that differ in one digit."""

from itertools import combinations
from typing import Literal, NamedTuple

from planner.slices.allocator import FirstFree, all_ones, repeated

Order = Literal["near", "far"]


class _Subcube(NamedTuple):
    """The subcubes that leave one set of digits free."""

    shifts: tuple[int, ...]
    """moves that try all values of the free digits, doubling the number tried"""
    origins: int
    """accelerators whose free digits are all 0"""
    first: int
    """the subcube at accelerator 0"""


class DigitSubcubes(FirstFree):
    """First fit of digit subcubes; sizes are rounded up to a power of the radix.

    Accelerators are numbers of `digits` digits in base `radix`, digit 0 being the least significant. A slice of
    radix^k takes all values of k digits and one value of each other. The free digits are chosen first, in
    lexicographic order from the least significant digit (`near`: neighbouring numbers, as a buddy system starts) or
    from the most significant one (`far`); then the lowest origin. SiPAC(r, l) is BCube with radix r and l digits.
    """

    def __init__(self, radix: int, digits: int, taken: int = 0, *, order: Order = "near") -> None:
        super().__init__(radix**digits, taken)
        self.radix, self.digits = radix, digits
        self.order = order
        self._subcubes: dict[int, tuple[_Subcube, ...]] = {}

    def fit_in(self, free: int, size: int) -> int:
        exponent = rounded_exponent(self.radix, size)
        if exponent not in self._subcubes:
            self._subcubes[exponent] = self._list(exponent)
        for shifts, zeros, first in self._subcubes[exponent]:
            origins = free
            for shift in shifts:
                origins &= origins >> shift
            origins &= zeros
            if origins:
                return first << ((origins & -origins).bit_length() - 1)
        return 0

    def _list(self, exponent: int) -> tuple[_Subcube, ...]:
        """Subcubes of radix^exponent by their free digits, in the order to try."""
        digits = range(self.digits) if self.order == "near" else range(self.digits - 1, -1, -1)
        return tuple(self._subcube(free) for free in combinations(digits, exponent))

    def _subcube(self, free: tuple[int, ...]) -> _Subcube:
        shifts, origins, first = [], all_ones(self.capacity), 1
        for digit in free:
            stride, covered = self.radix**digit, 1
            period = stride * self.radix
            origins &= repeated(stride, period, self.capacity)
            first = sum(first << (stride * value) for value in range(self.radix))
            while covered < self.radix:
                steps = min(covered, self.radix - covered)
                shifts.append(stride * steps)
                covered += steps
        return _Subcube(tuple(shifts), origins, first)


def rounded_exponent(radix: int, size: int) -> int:
    """The least k with radix^k >= size."""
    exponent, volume = 0, 1
    while volume < size:
        exponent, volume = exponent + 1, volume * radix
    return exponent
