"""Time of a schedule, simulated."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from costmodel.collectives.build import schedule_of
from costmodel.collectives.interpret import interpret
from costmodel.collectives.ladder import Algorithm, Order
from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan
from costmodel.collectives.simulate import simulate
from tests.costmodel.collectives.cases import ALPHA_S, RATE, RHO_S, best_of, limits
from tests.costmodel.collectives.schedule_cases import KINDS, TOLERANCE


@st.composite
def mixed_plans(draw: st.DrawFn) -> CollectivePlan:
    """Any radices, held groups and wavelengths, with bridges; the limits are what they need."""
    collective, algorithm = draw(st.sampled_from([kind for kind in KINDS if kind[1] not in ("ring", "fixed_tree")]))
    radices = tuple(draw(st.lists(st.integers(2, 5), min_size=1, max_size=4)))
    ranks = _ranks(draw, algorithm, radices)
    widths = tuple(draw(st.integers(1, 3)) for _ in radices)
    held = tuple(draw(st.sampled_from(list(_groups(len(radices))))))
    order: Order = draw(st.sampled_from(["fixed", "alternating"]))
    goes_back = algorithm == "scatter" or (collective == "all_reduce" and algorithm == "radix")
    is_moving = collective in ("reduce_scatter", "all_gather") and ranks != np.prod(radices)
    if goes_back or is_moving or len(held) == 1:
        order = "fixed"
    most = 2 * sum((radix - 1) * width for radix, width in zip(radices, widths, strict=True))
    bridged: list[bool] = []
    for group in held[:-1]:
        joins_two = group > 1 or (bool(bridged) and bridged[-1])
        bridged.append(joins_two and draw(st.booleans()))
    bounds = Limits(most, most, ALPHA_S, RHO_S, RATE / 16)
    return CollectivePlan(collective, algorithm, ranks, bounds, radices, held, widths, order, tuple(bridged))


def _ranks(draw: st.DrawFn, algorithm: Algorithm, radices: tuple[int, ...]) -> int:
    """A number of ranks that the radices just reach."""
    product = int(np.prod(radices))
    if algorithm == "direct":
        return sum(radix - 1 for radix in radices) + 1
    ranks = draw(st.integers(2, product))
    if algorithm == "bruck":
        inner = product // radices[-1]
        assume(inner < ranks and -(-ranks // inner) == radices[-1])
        return ranks
    length = ranks
    for radix in radices:
        window = -(-length // radix)
        assume(radix <= length and -(-length // window) == radix)
        length = window
    assume(length == 1)
    return ranks


def _groups(digits: int) -> list[tuple[int, ...]]:
    if digits == 0:
        return [()]
    return [(first, *rest) for first in range(1, digits + 1) for rest in _groups(digits - first)]


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(plan=mixed_plans(), message_bytes=st.floats(1.0, 1e8))
def test_any_mixed_radix_plan_is_right(plan: CollectivePlan, message_bytes: float) -> None:
    schedule = schedule_of(plan)
    assert interpret(schedule) == ()
    overlap = any(plan.bridged)
    simulated_s = simulate(schedule, plan.limits, message_bytes, overlap=overlap)
    assert simulated_s == pytest.approx(plan.time_s(message_bytes), rel=TOLERANCE)


def test_too_many_circuits_are_named() -> None:
    plan = best_of("exchange", "all_reduce", 8, 1e3, max_peers=16)
    with pytest.raises(ValueError, match="max_peers: a rank sends on"):
        simulate(schedule_of(plan), limits(2), 1e3)
    with pytest.raises(ValueError, match="wavelengths: a rank sends on"):
        simulate(schedule_of(plan), limits(16, 4), 1e3)


def test_simulated_time_is_counted_by_hand() -> None:
    """Four ranks, two digits of radix 2 that take turns: two rounds, a change between calls and within."""
    plan = CollectivePlan("all_reduce", "exchange", 4, limits(1), (2, 2), (1, 1), (16, 8))
    message_bytes = 3e5
    wide_s, narrow_s = message_bytes / RATE, 2 * message_bytes / RATE
    assert simulate(schedule_of(plan), plan.limits, message_bytes) == pytest.approx(
        2 * ALPHA_S + wide_s + narrow_s + 2 * RHO_S
    )


def test_a_bridge_hides_the_change() -> None:
    """Three digits of radix 2, two peers: the middle one sends while the first is exchanged for the last."""
    plan = CollectivePlan("all_reduce", "exchange", 8, limits(2), (2, 2, 2), (2, 1), (8, 8, 8), "alternating", (True,))
    message_bytes = 1.5e6
    round_s = ALPHA_S + 2 * message_bytes / RATE
    assert round_s > RHO_S
    assert plan.time_s(message_bytes) == pytest.approx(3 * round_s)
    assert simulate(schedule_of(plan), plan.limits, message_bytes, overlap=True) == pytest.approx(3 * round_s)
    plain_s = simulate(schedule_of(plan), plan.limits, message_bytes)
    assert plain_s == pytest.approx(3 * round_s + RHO_S)
