"""The price of an accelerator bounds what enumeration finds; its price clears the room."""

import numpy as np
import pytest

from planner.candidates.device_price import DevicePrice
from tests.planner.candidates.knapsack_cases import combinations, small_problem


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
