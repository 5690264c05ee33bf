"""Schedules: proved, simulated, and every corruption found."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from costmodel.collectives.best import best
from costmodel.collectives.build import schedule_of
from costmodel.collectives.family import ALGORITHMS, Family
from costmodel.collectives.interpret import interpret
from costmodel.collectives.ladder import Algorithm, Collective, Order
from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan
from costmodel.collectives.schedule import Schedule
from costmodel.collectives.simulate import simulate
from tests.costmodel.collectives.cases import ALPHA_S, MIB, RATE, RHO_S, best_of, limits

KINDS = [(collective, name) for collective, names in ALGORITHMS.items() for name in names]
TOLERANCE = 0.0025


@pytest.mark.slow
@pytest.mark.parametrize(("collective", "algorithm"), KINDS)
@pytest.mark.parametrize("overlap", [False, True])
def test_best_plans_are_right_and_take_their_time(collective: Collective, algorithm: Algorithm, overlap: bool) -> None:
    for ranks in (1, 2, 3, 5, 6, 7, 8, 12, 17, 24, 36):
        for max_peers, wavelengths in ((1, 16), (2, 5), (3, 16), (16, 16)):
            for message_bytes in (1e2, 1e5, 1e9):
                orders: tuple[Order, ...]
                for orders in (("fixed",), ("fixed", "alternating")):
                    family = Family((algorithm,), orders, overlap=overlap)
                    found = best(collective, ranks, message_bytes, limits(max_peers, wavelengths), family)
                    _holds(found.plan, message_bytes, overlap)


def _holds(plan: CollectivePlan, message_bytes: float, overlap: bool = False) -> None:
    schedule = schedule_of(plan)
    assert interpret(schedule) == ()
    simulated_s = simulate(schedule, plan.limits, message_bytes, overlap=overlap)
    assert simulated_s == pytest.approx(plan.time_s(message_bytes), rel=TOLERANCE)
    assert schedule.num_calls == (2 if plan.order == "alternating" else 1)


@pytest.mark.slow
@pytest.mark.parametrize("collective", sorted(ALGORITHMS))
@pytest.mark.parametrize("ranks", [96, 97, 256])
def test_larger_groups(collective: Collective, ranks: int) -> None:
    for message_bytes in (1e3, 1e6, 3e8):
        _holds(best(collective, ranks, message_bytes, limits(8)).plan, message_bytes)


@pytest.mark.slow
def test_a_thousand_ranks_stay_small() -> None:
    for ranks, algorithm in ((1024, "radix"), (1021, "exchange")):
        plan = best_of(algorithm, "all_reduce", ranks, MIB, max_peers=16)  # type: ignore[arg-type]
        schedule = schedule_of(plan)
        columns = [getattr(schedule, name) for name in ("round", "sender", "receiver", "chunk", "circuit")]
        assert sum(column.nbytes for column in columns) <= 16 * len(schedule)
        assert len(schedule) <= 2 * ranks * (ranks - 1)
        _holds(plan, MIB)


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


def _changed(schedule: Schedule, **columns: Any) -> Schedule:
    return replace(schedule, **columns)


def test_every_corruption_is_found() -> None:
    schedule = schedule_of(best_of("radix", "all_reduce", 12, 1e6))
    row = len(schedule) // 3
    swapped = schedule.chunk.copy()
    swapped[row] = (swapped[row] + 1) % 12
    assert "twice" in interpret(_changed(schedule, chunk=swapped, target=swapped))[0]
    keep = np.arange(len(schedule)) != row
    names = ("round", "sender", "receiver", "chunk", "target", "is_reduction", "circuit")
    without = _changed(schedule, **{name: getattr(schedule, name)[keep] for name in names})
    assert interpret(without)
    again = np.append(np.arange(len(schedule)), 0)
    again.sort()
    doubled = _changed(schedule, **{name: getattr(schedule, name)[again] for name in names})
    assert "twice" in interpret(doubled)[0]
    adds = schedule.is_reduction.copy()
    adds[-1] = True
    assert "twice" in interpret(_changed(schedule, is_reduction=adds))[0]
    replaces = schedule.is_reduction.copy()
    replaces[0] = False
    assert interpret(_changed(schedule, is_reduction=replaces))


def test_circuits_are_checked() -> None:
    schedule = schedule_of(best_of("exchange", "all_reduce", 8, 1e3))
    assert schedule.num_configurations == 1
    other = schedule.circuit.copy()
    other[0] = (other[0] + 1) % len(schedule.circuits)
    assert "circuit of other ranks" in interpret(_changed(schedule, circuit=other))[0]
    local = schedule.circuit.copy()
    local[0] = -1
    assert "has no circuit" in interpret(_changed(schedule, circuit=local))[0]
    late = replace(schedule.circuits, first=schedule.circuits.first + 1)
    assert "off in its round" in interpret(_changed(schedule, circuits=late))[0]
    assert "not in order" in interpret(_changed(schedule, round=schedule.round[::-1].copy()))[0]


def test_what_was_never_received_is_not_sent() -> None:
    schedule = schedule_of(best_of("ring", "all_gather", 5, 1e3))
    swapped = np.where(schedule.round == 1, schedule.chunk - 1, schedule.chunk) % 5
    assert "before it holds it" in interpret(_changed(schedule, chunk=swapped, target=swapped))[0]


def test_two_copies_into_one_slot_are_found() -> None:
    schedule = schedule_of(best_of("exchange", "all_reduce", 8, 1e3, max_peers=16))
    target = np.where(schedule.circuit >= 0, 3, schedule.target).astype(np.int32)
    assert "replaced while something else arrives" in interpret(_changed(schedule, target=target))[0]


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


def test_relabelled_ranks() -> None:
    schedule = schedule_of(best_of("radix", "all_reduce", 6, 1e6))
    turned = schedule.relabelled([3, 1, 4, 0, 5, 2])
    assert interpret(turned) == ()
    assert set(turned.sender[schedule.sender == 0].tolist()) == {3}
    with pytest.raises(ValueError, match="name each of the 6 ranks once"):
        schedule.relabelled([0, 0, 1, 2, 3, 4])
    gathered = schedule_of(best_of("radix", "all_gather", 6, 1e6)).relabelled([3, 1, 4, 0, 5, 2])
    assert interpret(gathered) == ()
    with pytest.raises(ValueError, match="relabel an all_reduce"):
        schedule_of(best_of("bruck", "all_to_all", 6, 1e6)).relabelled(range(6))


@pytest.mark.parametrize("radices", [(2, 2), (4, 4), (9,)])
def test_radices_must_fit(radices: tuple[int, ...]) -> None:
    plan = CollectivePlan("all_reduce", "radix", 8, limits(), radices, (len(radices),), (1,) * len(radices))
    with pytest.raises(ValueError, match="radices"):
        plan.time_s(1.0)


def test_names_and_counts() -> None:
    plan = CollectivePlan("all_reduce", "radix", 16, limits(3), (4, 2, 2), (1, 2), (5, 8, 8), "fixed", (True,))
    assert plan.name == "radix 4x2x2, 1~2 held"
    assert (plan.num_rounds, plan.num_changes) == (6, 2)
    ring = best_of("ring", "reduce_scatter", 7, 1e6)
    assert (ring.name, ring.num_rounds, ring.num_changes) == ("ring w16", 6, 0)
    tree = best_of("fixed_tree", "broadcast", 40, 1e3)
    assert (tree.name, tree.num_rounds) == ("fixed tree k3 w5", 3)
    direct = best_of("direct", "all_to_all", 10, 1e3)
    assert direct.name == "direct, 3 peers, 3 configurations"
    exchange = CollectivePlan("all_reduce", "exchange", 4, limits(1), (2, 2), (1, 1), (16, 16))
    assert exchange.num_changes == 2
