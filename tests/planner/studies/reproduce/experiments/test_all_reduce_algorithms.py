"""Algorithms of an all-reduce over circuits."""

from math import prod

import pytest

from planner.studies.reproduce.experiments.all_reduce_algorithms import radices_of


@pytest.mark.parametrize("n", [6, 17, 30, 32, 64, 96, 128, 256])
@pytest.mark.parametrize("radix", [2, 4])
def test_radices_have_the_ranks_as_their_product(n: int, radix: int) -> None:
    radices = radices_of(n, radix)
    assert prod(radices) == n
    assert set(radices[:-1]) <= {radix}
