"""Rows in racks with pooled memory that no other one replaces, of many sizes together and of each few alone."""

from itertools import combinations

import numpy as np
import pytest

from planner.candidates.expand import list_options
from planner.fabrics.sipam.dominance import PoolDominance
from planner.model.edit import edited, with_objectives
from planner.model.instance import Instance, ObjectiveName
from tests.benchmarks.random_pools import random_pool


@pytest.fixture(scope="module")
def pool() -> Instance:
    return random_pool(64, 12, 1)


@pytest.mark.parametrize("names", [("value",), ("value", "energy")])
@pytest.mark.parametrize("number", [1, 2])
def test_rows_of_some_sizes_are_those_kept_without_the_others(
    pool: Instance, number: int, names: tuple[ObjectiveName, ...]
) -> None:
    instance, job = with_objectives(pool, *names), edited(pool.jobs[number], accelerators=[1, 2, 4, 8])
    options, dominance = list_options(instance, job), PoolDominance()
    together = dominance.comparison(options, instance)
    for few in (sizes for number in (1, 2, 4) for sizes in combinations((1, 2, 4, 8), number)):
        rows = np.flatnonzero(np.isin(options.candidates.num_devices, few))
        alone = rows[dominance.kept_rows(options.take(rows), instance)]
        assert together(rows).tolist() == alone.tolist()
        assert len(alone) or not len(rows)


def test_of_rows_that_ask_for_the_same_the_best_stay(pool: Instance) -> None:
    """And the most valuable row of all does."""
    options = list_options(pool, pool.jobs[1])
    kept = set(PoolDominance().kept_rows(options, pool).tolist())
    c = options.candidates
    alike: dict[tuple[object, ...], list[int]] = {}
    for row in range(len(options)):
        key = options.shapes[row].key, c.split[row], tuple(c.plan[:, row]), tuple(c.in_first_phase().plan[:, row])
        alike.setdefault(key, []).append(row)
    assert any(len(rows) > 1 for rows in alike.values())
    for rows in alike.values():
        assert all(options.value[row] == options.value[rows].max() for row in kept & set(rows))
    assert int(np.argmax(options.value)) in kept
