"""The prices of accelerators and of links between racks bound what enumeration finds; they clear the room."""

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
from tests.planner.candidates.knapsack_cases import combinations, small_problem
from tests.planner.fabrics.joined_racks.racks import KINDS, SWITCHES, racks

GRID = np.linspace(0, 0.5, 40).tolist()
"""prices"""


@pytest.mark.parametrize("seed", range(25))
def test_no_plan_is_above_the_bound_and_none_with_a_row_above_that_of_the_row(seed: int) -> None:
    problem = small_problem(seed)
    found = combinations(problem)
    relaxed = DevicePrice.of(problem)
    slack = 1e-9 * max(1.0, abs(relaxed.bound)) if np.isfinite(relaxed.bound) else 0.0
    for rows, value in found:
        assert value <= relaxed.bound + slack
        for bounds, row in zip(relaxed.rows, rows, strict=True):
            assert row is None or value <= bounds[row] + slack


@pytest.mark.parametrize("seed", range(25))
def test_the_bound_is_the_least_over_prices(seed: int) -> None:
    problem = small_problem(seed)
    capacity, relaxed = problem.cluster.num_healthy, DevicePrice.of(problem)

    def at(price: float) -> float:
        total = price * capacity
        for options in problem.options:
            worth = options.value - price * options.candidates.num_devices
            total += float(worth.max(initial=-np.inf if options.must_run else 0.0))
        return total

    assert relaxed.bound == pytest.approx(at(relaxed.price))
    assert all(relaxed.bound <= at(price) + 1e-6 for price in np.linspace(0, 2, 400))


@pytest.mark.parametrize("seed", range(5))
def test_where_all_have_room_an_accelerator_costs_nothing(seed: int) -> None:
    problem = small_problem(seed)
    fewest = [[o.candidates.num_devices[o.value == o.value.max(initial=0.0)].min(initial=99)] for o in problem.options]
    relaxed = DevicePrice.of(problem)
    has_room = np.sum(fewest) <= problem.cluster.num_healthy
    assert not has_room or (relaxed.price, relaxed.bound) == (0.0, sum(o.value.max() for o in problem.options))


def joined_problem(seed: int, upper: dict[str, object], jobs: int, sizes: Sequence[int] = (2, 4, 6, 12)) -> Problem:
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
    problem = joined_problem(seed, KINDS[kind], 3)
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
        problem = joined_problem(seed, SWITCHES | {"ports": 1}, 12, (2, 3))
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
    problem = joined_problem(1, SWITCHES | {"ports": 60, "radix": 180}, 3)
    assert DevicePrice.of(problem).link_price == 0.0
