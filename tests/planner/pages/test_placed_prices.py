"""Prices of rows by placed steps: bounds that places keep, and the energy that the check finds too."""

import numpy as np
import pytest

from planner.candidates.expand import expand
from planner.checks.placed_steps import by_placed_step
from planner.checks.pricing import price
from planner.model.result import SolveOptions
from planner.pages.offload import place
from planner.pages.placed_prices import JobPrices, with_steps
from tests.oracles.placed_nodes import placed_nodes


def test_no_places_go_below_the_price_of_a_row() -> None:
    instance = placed_nodes(0)
    for options in expand(instance).options:
        job = JobPrices(options, instance.cluster.device)
        for row in np.flatnonzero(job.is_placed)[:3].tolist():
            least_s = float(job.least_s[row])
            assert job.priced("known").scores.step_s[row] > job.priced("found").scores.step_s[row] == least_s
            tier = place("", job.step(row), SolveOptions(time_limit_s=5.0, workers=1))
            assert tier is not None
            assert options.scores.step_s[row] - options.scores.offload_s[row] <= least_s <= tier.step_s * (1 + 1e-9)
            job.settle(row, tier)
            assert job.priced("found").scores.step_s[row] == job.priced("known").scores.step_s[row] == tier.step_s
            assert least_s <= job.priced("bound").scores.step_s[row] <= tier.step_s


def test_speed_energy_and_power_are_those_that_the_check_finds() -> None:
    instance = placed_nodes(0)
    device = instance.cluster.device
    options = next(each for each in expand(instance).options if JobPrices(each, device).is_placed.any())
    job = JobPrices(options, device)
    row = int(np.flatnonzero(job.is_placed)[0])
    tier = place("", job.step(row), SolveOptions(time_limit_s=5.0, workers=1))
    assert tier is not None
    job.settle(row, tier)
    names = [f"s0.d{slot}" for slot in range(2)][: int(options.candidates.num_devices[row])]
    stated = job.priced("found").assignment(row, names, ()).model_copy(update={"second_tier": tier})
    scored = price(instance, options.job, stated.configuration)
    assert scored is not None
    found = by_placed_step(instance, stated, scored)
    for name in ("speed", "step_s", "energy_per_work", "power_w"):
        assert getattr(found, name) == pytest.approx(getattr(stated, name)), name
    assert by_placed_step(instance.model_copy(update={"placed_steps": False}), stated, scored) == scored


def test_the_steps_of_the_score_change_nothing() -> None:
    (options, *_) = expand(placed_nodes(0)).options
    same = with_steps(options, options.scores.step_s)
    assert same.value == pytest.approx(options.value)
    assert same.energy == pytest.approx(options.energy)
