"""Least light that leaves any set of blocks, against all sets one by one."""

from itertools import combinations

import numpy as np
import pytest

from planner.fabrics.block_sets import least_leaving
from planner.fabrics.circuits_between import Between


@pytest.mark.parametrize("seed", range(6))
def test_least_light_is_that_of_some_set(seed: int) -> None:
    """Every block sends as much as it receives."""
    rng = np.random.default_rng(seed)
    blocks = int(rng.integers(1, 7))
    tables = np.zeros((2, blocks, blocks), dtype=np.int64)
    for table in tables:
        for _ in range(4):
            table[np.arange(blocks), rng.permutation(blocks)] += int(rng.integers(1, 4))
        np.fill_diagonal(table, 0)
    circuits = [tuple((a, b, int(table[a, b])) for a, b in np.argwhere(table)) for table in tables]
    found = least_leaving(blocks, [Between.of(each, 1, blocks) for each in circuits])
    for size in range(blocks + 1):
        least = min(
            max(sum(int(table[a, b]) for a in chosen for b in range(blocks) if b not in chosen) for table in tables)
            for chosen in combinations(range(blocks), size)
        )
        assert int(found[size]) == least
