"""Rounds of all-to-alls: every part arrives, in the time that the plan says, over its circuits."""

import pytest

from costmodel.collectives.family import plans_of
from costmodel.collectives.limits import Limits
from costmodel.parallelism.configuration import Collective
from planner.checks.all_to_all import delivers, rounds_of
from planner.checks.circuit_rules import CircuitSpeed, message_time
from planner.checks.required import group_links, is_sound
from planner.checks.schedule import schedule_of

LIMITS = Limits(12, 4, 1e-6, 1e-5, 1e9)


def collective(**fields: object) -> Collective:
    return Collective.model_validate({"kind": "direct", "radices": (4,), "held": (1,), "wavelengths": (1,)} | fields)


@pytest.mark.parametrize("ranks", [*range(2, 14), 24])
def test_every_plan_is_sound_delivers_and_takes_its_time(ranks: int) -> None:
    for plan in plans_of("all_to_all", ranks, LIMITS):
        written = Collective.of(plan)
        assert is_sound(written, ranks), plan.name
        assert delivers(written, ranks), plan.name
        links = group_links(written, ranks)
        assert links == tuple({(a, b): width for a, b, width in held} for held in plan.configurations())
        devices = [str(rank) for rank in range(ranks)]
        held = [{(str(a), str(b)): width for (a, b), width in each.items()} for each in links]
        speed = CircuitSpeed(LIMITS.alpha_s, LIMITS.wavelength_bytes_per_s, LIMITS.reconfiguration_s)
        time = message_time(speed, schedule_of(written, ranks), devices, held)
        assert time == pytest.approx((plan.latency_s, plan.seconds_per_byte)), plan.name


@pytest.mark.parametrize(
    "fields",
    [
        {"radices": (3,)},
        {"radices": (5,)},
        {"radices": (2, 2)},
        {"radices": (4, 1), "held": (1, 1), "wavelengths": (1, 1)},
        {"kind": "bruck", "radices": (2,)},
        {"kind": "bruck", "radices": (4, 2), "held": (2,), "wavelengths": (1, 1)},
        {"radices": ()},
    ],
)
def test_what_does_not_reach_all_others_once_is_not_sound(fields: dict[str, object]) -> None:
    assert is_sound(collective(), 4)
    assert not is_sound(collective(**fields), 4)


def test_parts_that_stop_half_way_are_seen() -> None:
    """Of two digits the first alone takes only neighbours where they belong."""
    half = collective(kind="bruck", radices=(2,))
    assert len(rounds_of(half, 4)) == 1
    assert not delivers(half, 4)
    assert delivers(collective(kind="bruck", radices=(2, 2), held=(1, 1), wavelengths=(1, 1)), 4)
