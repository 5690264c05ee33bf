"""The check of collectives over circulants beside the plans that the planner offers, and what it refuses."""

import pytest

from costmodel.fabrics.held_plans import held_all_reduces, held_all_to_alls
from costmodel.parallelism.configuration import Collective
from planner.checks.circuit_rules import CircuitSpeed, message_time
from planner.checks.circulants import relays_deliver
from planner.checks.required import group_links, is_sound
from planner.checks.schedule import reduces_once, schedule_of

SPEED = CircuitSpeed(2e-6, 25e9)


@pytest.mark.parametrize("ranks", [3, 5, 6, 8, 12])
def test_offered_plans_have_the_circuits_rounds_and_times_that_the_check_works_out(ranks: int) -> None:
    menus = (held_all_reduces, held_all_to_alls)
    plans = [p for menu in menus for p in menu(ranks, 5, 2e-6, 25e9, "circulants") if p.is_circulant]
    assert ranks == 3 or {plan.kind for plan in plans} == {"circulant", "circulant_relay"}
    for plan in plans:
        collective = Collective.of(plan)
        assert is_sound(collective, ranks)
        (links,) = group_links(collective, ranks)
        assert links == {(a, b): width for a, b, width in plan.configurations()[0]}
        held = [{(str(a), str(b)): width for (a, b), width in links.items()}]
        schedule = schedule_of(collective, ranks)
        times = message_time(SPEED, schedule, [*map(str, range(ranks))], held)
        assert times == pytest.approx((plan.latency_s, plan.seconds_per_byte), rel=1e-9)
        is_right = (
            relays_deliver(plan.radices, ranks) if plan.kind == "circulant_relay" else reduces_once(collective, ranks)
        )
        assert is_right


@pytest.mark.parametrize("kind", ["circulant", "circulant_relay"])
@pytest.mark.parametrize(
    "wrong",
    [
        {"radices": (2, 4)},
        {"radices": (1, 8)},
        {"radices": (1, 1)},
        {"held": (1, 1)},
        {"wavelengths": (1, 1)},
        {"order": "alternating"},
        {"radices": ()},
    ],
)
def test_strides_that_do_not_reach_all_or_are_held_apart_are_unsound(kind: str, wrong: dict[str, object]) -> None:
    right: dict[str, object] = {"kind": kind, "radices": (1, 3), "held": (1,), "wavelengths": (1,)}
    assert is_sound(Collective.model_validate(right), 8)
    assert not is_sound(Collective.model_validate(right | wrong), 8)
