"""Rows that no servers of a pool have uplinks for find no place even where nothing else runs."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from planner.candidates.expand import expand, list_options
from planner.candidates.lagrangian_bounds import pool_prices
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.sipam.free_state import PoolFreeState
from planner.fabrics.sipam.placeable import are_placeable
from planner.fabrics.sipam.published_loop import rows_of_loop
from planner.fabrics.sipam.starts import PoolStarts
from planner.fabrics.starts import Starts, kind_columns
from planner.model.edit import edited, with_fabric
from planner.model.instance import Instance
from tests.benchmarks.random_pools import random_pool

UPLINKS = 2
LARGE = (32, 64)


@pytest.fixture(scope="module")
def pool() -> Instance:
    """Two servers with few uplinks, and jobs of which some need both."""
    return with_fabric(random_pool(64, 12, 1), uplinks=UPLINKS)


@pytest.fixture(scope="module")
def options(pool: Instance) -> JobOptions:
    """Of a job that fills a server, or two."""
    large = next(job for job in pool.jobs if max(job.sizes) in LARGE)
    return list_options(pool, edited(large, accelerators=[*LARGE]))


def _placeable(options: JobOptions) -> np.ndarray:
    return are_placeable(options.candidates, options.fabric)  # type: ignore[arg-type]


def _ways(blocks: int, servers: int) -> Iterator[tuple[tuple[int, int], ...]]:
    for shares in product(range(blocks + 1), repeat=servers):
        if sum(shares) == blocks:
            yield tuple((server, share) for server, share in enumerate(shares) if share)


def test_what_is_dropped_finds_no_place_in_any_way(pool: Instance, options: JobOptions) -> None:
    placeable, problem = _placeable(options), Problem(pool, (options,))
    assert placeable.any()
    refused = np.flatnonzero(~placeable)
    assert len(refused)
    for row in refused[:: max(len(refused) // 40, 1)].tolist():
        for way in _ways(options.shapes[row].num_blocks, pool.cluster.fabric.num_servers):
            if max(share * options.shapes[row].block for _, share in way) <= pool.cluster.fabric.devices_per_server:
                assert PoolFreeState(problem.cluster).assign(options, row, way) is None


def test_rows_over_both_servers_that_stay_find_a_place(pool: Instance, options: JobOptions) -> None:
    over = np.flatnonzero(_placeable(options) & (options.candidates.num_devices == max(LARGE)))
    assert len(over)
    found = [
        PoolFreeState(pool.cluster).assign(options, row, way) is not None
        for row in over[:: max(len(over) // 20, 1)].tolist()
        for way in _ways(options.shapes[row].num_blocks, 2)
        if len(way) == 2 and way[0][1] == way[1][1]
    ]
    assert any(found)


def test_of_each_kind_the_best_row_with_a_place_stays(options: JobOptions) -> None:
    """Of a job that no server holds alone; another one has its short list as it was."""
    assert PoolStarts().few_rows(options).tolist() == Starts().few_rows(options).tolist()
    options = options.take(np.flatnonzero(options.candidates.num_devices == max(LARGE)))
    few, placeable = PoolStarts().few_rows(options), _placeable(options)
    assert not placeable[Starts().few_rows(options)].all()
    kinds = [*zip(*(column.tolist() for column in kind_columns(options)), strict=True)]
    best: dict[object, float] = {}
    for row in np.flatnonzero(placeable).tolist():
        best[kinds[row]] = max(best.get(kinds[row], 0.0), options.value[row])
    assert {kinds[row]: options.value[row] for row in few.tolist()} == best
    assert len(few) == len(best)


def test_bounds_are_no_higher_with_the_rows_that_have_a_place_alone(pool: Instance) -> None:
    """And only rows of the published loop are kept beside these."""
    whole, kept = expand(pool, prune=False), expand(pool)
    assert pool_prices(kept).bound <= pool_prices(whole).bound * (1 + 1e-9)
    for each in kept.options:
        beside = np.setdiff1d(np.flatnonzero(~_placeable(each)), rows_of_loop(pool.cluster, each.job, each.candidates))
        assert not len(beside)
