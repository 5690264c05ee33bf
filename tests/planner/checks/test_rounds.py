"""Collectives run round by round. Lacking circuits are in test_circuits."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from costmodel.configuration import Collective
from costmodel.fabrics import Lightpath
from planner.checks import pricing, rounds
from planner.checks.required import group_links, is_sound
from planner.checks.rounds import message_time
from planner.checks.schedule import ends_reduced, reduces_once, schedule_of
from tests.planner.checks.good import GOOD
from tests.planner.checks.plans import LIGHTPATH, broken


@pytest.mark.parametrize("name", ["ring", "switched", "at_once", "exchange", "line", "grid"])
@pytest.mark.parametrize("field", ["latency_s", "seconds_per_byte"])
@pytest.mark.parametrize(("factor", "rules"), [(1.002, set()), (1.003, {"rounds"}), (0.997, {"rounds"})])
def test_time_that_is_charged(
    monkeypatch: pytest.MonkeyPatch, name: str, field: str, factor: float, rules: set[str]
) -> None:
    """A cost model that is 0.2 % off passes, 0.3 % does not."""

    def wrong(*arguments: Any) -> pricing.Price | None:
        price = pricing.price(*arguments)
        assert price is not None
        plans: list[Any] = [replace(p, **{field: getattr(p, field) * factor}) for p in price.plans]
        return replace(price, plans=tuple(plans))

    monkeypatch.setattr(rounds, "price", wrong)
    assert broken(*GOOD[name]()) == rules


@pytest.mark.parametrize("ranks", [2, 3, 4, 6, 8, 12, 15, 16, 24])
@pytest.mark.parametrize("dimension", ["data", "pipeline"])
def test_all_plans_of_the_fabric(ranks: int, dimension: str) -> None:
    """Circuits, rounds and times of every listed collective, both computed from its few numbers."""
    fabric = Lightpath.model_validate(
        {**LIGHTPATH, "wavelengths_per_tile": 16, "max_peers": 16, "waveguides": "shared"}
    )
    for plan in fabric.plans(dimension, ranks, one_server=False):
        collective = Collective.of(plan)
        assert is_sound(collective, ranks)
        links = group_links(collective, ranks)
        assert [sorted((a, b, w) for (a, b), w in each.items()) for each in links] == [
            sorted(circuits) for circuits in plan.configurations()
        ]
        devices = [f"d{rank}" for rank in range(ranks)]
        held = [{(devices[a], devices[b]): w for (a, b), w in each.items()} for each in links]
        charged = pytest.approx((plan.latency_s, plan.seconds_per_byte))
        assert message_time(fabric, schedule_of(collective, ranks), devices, held) == charged
        assert plan.kind == "line" or reduces_once(collective, ranks)


def test_rounds_that_do_not_reduce_once() -> None:
    collective = Collective(kind="radix", radices=(2, 3), held=(1, 1), wavelengths=(4, 2))
    schedule = schedule_of(collective, 6)
    check = partial(ends_reduced, ranks=6)
    first, second, *gather = schedule.rounds
    assert check(schedule)
    assert not check(replace(schedule, rounds=(first, second)))
    assert not check(replace(schedule, rounds=(first, first, second, *gather)))
    assert not check(replace(schedule, rounds=(second, first, *gather)))
    assert not check(replace(schedule, rounds=(first, replace(second, sends=second.sends[1:]), *gather)))
