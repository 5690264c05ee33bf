"""Quantization: float -> integer coefficients for CP-SAT: one resolution, safe rounding, overflow guard."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

STEPS = 10**9
"""steps between zero and the largest coefficient of an objective"""
SMALLEST = 1e-200
"""coefficients below are zero for every purpose"""
LIMIT = 2**53
"""largest magnitude of a sum: exact as a float, far inside the solver's int64"""
SIGNIFICANT = 12
"""decimal digits of a coefficient that decide: what differs beyond them is noise of floating point"""


@dataclass(frozen=True)
class Scale:
    """Integer coefficient = float x steps_per_unit, rounded so that a bound stays a bound."""

    steps_per_unit: float
    rounds_up: bool

    @property
    def resolution(self) -> float:
        """Objective units of one step."""
        return 1 / self.steps_per_unit

    def to_int(self, value: float) -> int:
        """Rounded up to maximize, down to minimize; what is whole up to rounding noise stays."""
        steps = value * self.steps_per_unit
        nearest = round(steps)
        if abs(steps - nearest) < 1e-6:
            return nearest
        return ceil(steps) if self.rounds_up else floor(steps)

    def to_float(self, steps: float) -> float:
        return steps / self.steps_per_unit


def scale_for(largest: float, total: float, *, rounds_up: bool) -> Scale:
    """Scale for coefficients up to `largest` whose sum is at most `total`.

    The number of steps shrinks where the sum would pass LIMIT.
    """
    if largest < SMALLEST:
        return Scale(float(STEPS), rounds_up)
    steps = min(STEPS, LIMIT * largest / max(total, largest))
    return Scale(steps / largest, rounds_up)


def exact(value: float) -> Fraction:
    """A coefficient without noise: sums of such are told apart however far their sizes are."""
    return Fraction(f"{value:.{SIGNIFICANT}g}")


def rounded(value: Fraction, *, up: bool) -> int:
    return ceil(value) if up else floor(value)
