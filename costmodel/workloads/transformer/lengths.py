"""Tokens of the requests of a serving job."""

from dataclasses import dataclass

import numpy as np

from costmodel.parallelism.mappings import Floats, Ints


@dataclass(frozen=True)
class Lengths:
    """Of each request; numbers, or columns by job, shape by mapping or by distinct shape of mappings."""

    input_tokens: Floats | float
    new_tokens: Floats | float
    """of a prompt, those that the cache does not hold"""
    output_tokens: Floats | float

    def take(self, rows: Ints) -> "Lengths":
        """Columns of these rows; one job's numbers are those of all rows."""
        return Lengths(*(each[rows] if isinstance(each, np.ndarray) else each for each in vars(self).values()))
