"""The price of a job by its placed step."""

import pytest

from planner.checks.placed_steps import by_placed_step
from planner.checks.pricing import price
from planner.pipeline import solve
from tests.oracles.placed_nodes import placed_nodes


def test_a_longer_step_draws_idle_power_for_as_long() -> None:
    """80 W of each accelerator; servers of this fabric draw nothing that is stated."""
    instance = placed_nodes(1)
    plan = solve(instance, time_limit_s=60.0, workers=1).plan
    assert plan is not None
    placed = next(each for each in plan.assignments if each.second_tier is not None)
    scored = price(instance, instance.job(placed.job), placed.configuration)
    assert scored is not None
    longer = (
        placed.second_tier.model_copy(update={"step_s": 2 * placed.second_tier.step_s}) if placed.second_tier else None
    )
    once, twice = (
        by_placed_step(instance, placed.model_copy(update={"second_tier": tier}), scored)
        for tier in (placed.second_tier, longer)
    )
    assert twice.speed == pytest.approx(once.speed / 2)
    work = once.speed * once.step_s
    more_j = (twice.energy_per_work - once.energy_per_work) * work
    assert more_j >= 80.0 * once.step_s * len(placed.devices) * (1 - 1e-9)
