"""Sets of small numbers, such as wavelengths, as bit masks."""

from collections.abc import Sequence
from functools import lru_cache


def bits(numbers: Sequence[int]) -> int:
    """The mask of some numbers, each once."""
    return sum(1 << number for number in numbers)


@lru_cache(maxsize=1 << 14)
def numbers_of(mask: int) -> tuple[int, ...]:
    """The numbers of a mask, ascending; one tuple for all who ask."""
    return tuple(number for number in range(mask.bit_length()) if mask >> number & 1)
