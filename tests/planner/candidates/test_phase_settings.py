"""Jobs that change between prefill and decode: optimal by enumeration, never worse than without, always realised."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest

from planner.candidates.expand import expand
from planner.candidates.phase_settings import gain_of_phases, settings_by_phase
from planner.checks import check, objective_values
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import Status
from planner.pipeline import solve
from tests.oracles.pool_search import best_value
from tests.oracles.tiny_pools import evaluated_pool, evaluated_tiered_pool, phased_pool, phased_tiered_pool, tiny_pool
from tests.planner.candidates.phase_settings_cases import OPTIONS, planned, with_one_setting

SEEDS = (
    0, 1, 2, 3, 4, 7, 8, 9, 10, 13, 15, 17, 19, 22, 23, 26, 27, 29, 30, 32, 34, 36, 38, 39, 40, 41, 42, 43, 44, 45,
    46, 47, 48, 49, 50, 52, 53, 55, 57, 58, 59, 60, 61, 62, 64,
)  # fmt: skip
"""pools that are enumerated in a moment"""


TIERED_SEEDS = (2, 8, 13, 15, 26, 34, 35)
"""the same of pools that are a second tier"""


EVALUATED_SEEDS = (3, 9, 14, 17)
"""those of jobs that train and evaluate"""


EVALUATED_TIERED_SEEDS = (0, 1, 3, 5)
"""the same beside units that are a second tier"""


def changes(plan: Plan) -> list[bool]:
    """Of each job that changes between phases, whether its memory does."""
    settings = [a.configuration.by_phase for a in plan.assignments if a.configuration.first_phase is not None]
    return [first.memory_io != last.memory_io for first, last in settings]


@lru_cache(maxsize=100)
def optimum(seed: int, pool: Callable[[int], Instance] = phased_pool) -> Plan:
    """Of a pool: proven, equal to the enumerated optimum, and without violation."""
    instance = pool(seed)
    expected, result = best_value(instance), solve(instance, options=OPTIONS)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    return result.plan


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_value_is_the_enumerated_optimum(seed: int) -> None:
    optimum(seed)


def test_some_optima_change_collectives_and_some_memory_too() -> None:
    found = [change for seed in SEEDS for change in changes(optimum(seed))]
    assert found.count(False) >= 5
    assert found.count(True) >= 3


def test_value_is_the_enumerated_optimum_where_units_are_a_second_tier() -> None:
    plans = [optimum(seed, phased_tiered_pool) for seed in TIERED_SEEDS]
    assert sum(any(changes(plan)) for plan in plans) >= 5
    assert any(not all(assignment.memory for assignment in plan.assignments) for plan in plans)


def test_value_is_the_enumerated_optimum_where_training_is_followed_by_evaluation() -> None:
    plans = [optimum(seed, evaluated_pool) for seed in EVALUATED_SEEDS]
    assert sum(any(changes(plan)) for plan in plans) >= 3
    assert any(assignment.configuration.first_phase is None for plan in plans for assignment in plan.assignments)


def test_value_is_the_enumerated_optimum_where_evaluation_stands_beside_a_second_tier() -> None:
    plans = [optimum(seed, evaluated_tiered_pool) for seed in EVALUATED_TIERED_SEEDS]
    chosen = [assignment.configuration for plan in plans for assignment in plan.assignments]
    assert any(each.offload not in (None, "none") and each.first_phase is not None for each in chosen)
    assert sum(each.offload not in (None, "none") for each in chosen) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS[::4])
def test_value_is_never_less_than_with_one_setting(seed: int) -> None:
    instance = phased_pool(seed)
    alone = solve(with_one_setting(instance), options=OPTIONS)
    assert alone.plan is not None
    assert changes(alone.plan) == []
    assert check(with_one_setting(instance), alone.plan) == []
    assert objective_values(instance, optimum(seed))["value"] >= objective_values(instance, alone.plan)["value"] - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_switches_that_never_pay_leave_the_plan_as_it_is(seed: int) -> None:
    data = (phased_pool if seed % 2 else tiny_pool)(seed).model_dump(mode="json")
    data["cluster"]["fabric"]["reconfiguration"] = "1 h"
    slow = Instance.parse(data)
    both, alone = (solve(each, options=OPTIONS).plan for each in (slow, with_one_setting(slow)))
    assert (both is None) == (alone is None)
    if both is not None and alone is not None:
        what = {"assignments": {"__all__": {"job", "configuration", "devices", "circuits", "memory"}}, "switches": True}
        assert both.model_dump(include=what) == alone.model_dump(include=what)
        assert both.objectives == pytest.approx(alone.objectives, rel=1e-9)


@pytest.mark.slow
def test_the_shipped_services_gain_by_collectives_and_by_memory() -> None:
    instance, plan = planned()
    gains = {a.job: gain_of_phases(instance.cluster, instance.job(a.job), a.configuration) for a in plan.assignments}
    assert [*gains] == ["llama405b-chat", "llama405b-documents", "llama70b-documents"]
    assert max(gains, key=gains.__getitem__) == "llama405b-chat"
    assert all(0.02 < gain < 0.1 for gain in gains.values())
    more = plan["llama405b-documents"]
    words = settings_by_phase(instance.cluster, instance.job(more.job), more.configuration)
    assert words == (
        "prefill: tensor ring w4, 8 units over 8 I/Os",
        "decode: tensor ring w2, 10 units over 10 I/Os",
    )
    assert changes(plan) == [False, True, True]


@pytest.mark.slow
def test_a_running_job_keeps_both_settings() -> None:
    instance, plan = planned()
    data: dict[str, Any] = instance.model_dump(mode="json")
    held = plan["llama70b-documents"].model_dump(
        mode="json", include={"devices", "configuration", "circuits", "memory"}
    )
    data["residents"] = [data["jobs"].pop(2) | held | {"movable": False}]
    again = Instance.parse(data)
    result = solve(again, options=OPTIONS)
    assert result.plan is not None
    assert check(again, result.plan) == []
    assert not result.plan["llama70b-documents"].is_moved
    assert result.plan.switches is not None
    assert result.plan.switches.before
    assert {change.job for change in result.plan.switches.phases} >= {"llama70b-documents"}
    for plug in data["residents"][0]["memory"]:
        plug.pop("phase", None)
    with pytest.raises(InputError, match="needs 8 units over 8 memory circuits in prefill"):
        Instance.parse(data)


def test_rows_with_two_settings_do_not_grow_the_list_much() -> None:
    instance, _ = planned()
    alone, both = expand(with_one_setting(instance), prune=False), expand(instance, prune=False)
    for one, two in zip(alone.options, both.options, strict=True):
        assert len(one) < len(two) <= 2 * len(one)
