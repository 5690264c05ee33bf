"""A level of the lexicographic order that is finished: what later levels keep of it."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Kept:
    """A finished level: later ones stay within `spend` of its value."""

    objective: str
    value: float
    spend: float
    amounts: Sequence[float] | None
    """that add up to it, where it is a sum"""
    is_proven: bool
