"""Subcubes of digits: slices of BCube and of SiPAC, whose switches join accelerators that differ in one digit."""

from typing import Literal, NamedTuple

from planner.slices.allocator import FirstFree, repeated

Order = Literal["near", "far"]


class _Digit(NamedTuple):
    """One digit of the numbers of accelerators."""

    stride: int
    shifts: tuple[int, ...]
    """moves that try all its values, doubling the number tried"""
    zeros: int
    """accelerators where it is 0"""


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
        along = (self._digit(radix**digit) for digit in range(digits))
        self._along = [*along] if order == "near" else [*along][::-1]

    def _digit(self, stride: int) -> _Digit:
        shifts, covered = [], 1
        while covered < self.radix:
            steps = min(covered, self.radix - covered)
            shifts.append(stride * steps)
            covered += steps
        return _Digit(stride, tuple(shifts), repeated(stride, stride * self.radix, self.capacity))

    def fit_in(self, free: int, size: int) -> int:
        exponent = rounded_exponent(self.radix, size)
        return self._first(free, exponent, 0, 1) if free.bit_count() >= self.radix**exponent else 0

    def _first(self, origins: int, exponent: int, start: int, cube: int) -> int:
        """The first union of `cube`s along so many of the digits from `start` on, all of which are free; `origins`:
        where a cube is. Where there is none along some digits, there is none along more, which are not tried."""
        if not exponent:
            return cube << ((origins & -origins).bit_length() - 1)
        for i in range(start, self.digits - exponent + 1):
            stride, shifts, zeros = self._along[i]
            longer = origins
            for shift in shifts:
                longer &= longer >> shift
            longer &= zeros
            if longer.bit_count() >= self.radix ** (exponent - 1):
                cubes = sum(cube << (stride * value) for value in range(self.radix))
                if found := self._first(longer, exponent - 1, i + 1, cubes):
                    return found
        return 0


def rounded_exponent(radix: int, size: int) -> int:
    """The least k with radix^k >= size."""
    exponent, volume = 0, 1
    while volume < size:
        exponent, volume = exponent + 1, volume * radix
    return exponent
