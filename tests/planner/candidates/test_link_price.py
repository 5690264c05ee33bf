"""Prices of links between racks: no plan is above their bound, and they cost nothing where all have as many."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.candidates.device_price import DevicePrice
from planner.candidates.expand import expand
from planner.fabrics.problem import Problem
from tests.planner.fabrics.joined_racks.racks import KINDS, SWITCHES, racks

GRID = np.linspace(0, 0.5, 40).tolist()
"""prices"""


def _problem(seed: int, upper: dict[str, object], jobs: int, sizes: Sequence[int] = (2, 4, 6, 12)) -> Problem:
    """Jobs on three racks of four tiles, a few rows each, most of them over several racks, values at random."""
    rng = Random(seed)
    whole = expand(racks(upper, *(rng.choice(sizes) for _ in range(jobs))), prune=False)
    options = []
    for each in whole.options:
        over = np.flatnonzero(each.candidates.racks > 1).tolist()
        chosen = {*rng.sample(over, min(4, len(over))), *rng.sample(range(len(each)), min(2, len(each)))}
        taken = each.take(np.array(sorted(chosen), np.int64))
        options.append(replace(taken, value=np.array([rng.random() for _ in chosen])))
    return replace(whole, options=tuple(options))


def _amounts(problem: Problem) -> tuple[int, int]:
    """Accelerators and links that there are."""
    return problem.cluster.num_healthy, sum(sum(each.values()) for each in problem.cluster.upper_links.values())


@given(st.integers(0, 10_000), st.sampled_from(sorted(KINDS)))
@settings(max_examples=40, deadline=None)
def test_no_choice_that_fits_is_above_the_bound_or_above_that_of_its_rows(seed: int, kind: str) -> None:
    problem = _problem(seed, KINDS[kind], 3)
    relaxed, (devices, links) = DevicePrice.of(problem), _amounts(problem)
    for rows in product(*([None, *range(len(o))] for o in problem.options)):
        chosen = [(o, r) for o, r in zip(problem.options, rows, strict=True) if r is not None]
        held = sum(_links_of(problem, o.shapes[r].racks, o.shapes[r].links) for o, r in chosen)
        if sum(o.shapes[r].num_ranks for o, r in chosen) > devices or held > links:
            continue
        value = sum(float(o.value[r]) for o, r in chosen)
        assert value <= relaxed.bound + 1e-9
        for bounds, row in zip(relaxed.rows, rows, strict=True):
            assert row is None or value <= bounds[row] + 1e-9


def _links_of(problem: Problem, number: int, links: int) -> int:
    """Of a job over so many racks with so many links at each rack, or between each two of them."""
    is_by_pair = all(len(part) == 2 for part in problem.cluster.upper_links)
    return links * (number * (number - 1) if is_by_pair else number) if number > 1 else 0


def test_the_bound_is_near_the_least_over_both_prices() -> None:
    """In several problems links are short, and their price makes the bound lower."""
    num_short = 0
    for seed in range(5):
        problem = _problem(seed, SWITCHES | {"ports": 1}, 12, (2, 3))
        relaxed, devices, links = DevicePrice.of(problem), *_amounts(problem)

        def at(price: float, link_price: float, problem: Problem = problem) -> float:
            worth = (o.value - price * o.candidates.num_devices - link_price * o.links for o in problem.options)
            return sum(float(each.max(initial=0.0)) for each in worth)

        grid = {each: at(*each) + each[0] * devices + each[1] * links for each in product(GRID, repeat=2)}
        own = at(relaxed.price, relaxed.link_price) + relaxed.price * devices + relaxed.link_price * links
        assert own == pytest.approx(relaxed.bound)
        assert relaxed.bound <= min(grid.values()) * (1 + 1e-3)
        if relaxed.link_price > 0:
            num_short += 1
            assert relaxed.bound < min(value for (_, link_price), value in grid.items() if not link_price)
    assert num_short >= 3


def test_links_that_suffice_for_all_cost_nothing() -> None:
    problem = _problem(1, SWITCHES | {"ports": 60, "radix": 180}, 3)
    assert DevicePrice.of(problem).link_price == 0.0
