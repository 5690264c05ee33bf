"""All-reduce plans: simulated over their circuits, complete against brute force, and known figures."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel import collectives
from costmodel.collective_plans import CollectivePlan, all_reduce_plans, best_plan, pareto_plans
from tests.oracles import collectives as oracle

W = 16
ALPHA_S = 0.7e-6
RHO_S = 3.7e-6
RATE = 300e9
WAVELENGTH_RATE = RATE / W
KIB, MIB = 2**10, 2**20
PRICES = {"alpha_s": ALPHA_S, "reconfiguration_s": RHO_S, "wavelength_bytes_per_s": WAVELENGTH_RATE}


def family(ranks: int, max_peers: int = 16, wavelengths: int = W) -> tuple[CollectivePlan, ...]:
    return all_reduce_plans(ranks, wavelengths=wavelengths, max_peers=max_peers, **PRICES)


def named(name: str, ranks: int, max_peers: int = 16) -> CollectivePlan:
    (plan,) = [plan for plan in family(ranks, max_peers) if plan.name == name]
    return plan


@pytest.mark.parametrize("max_peers", [1, 3, 16])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 17, 19])
def test_every_plan_works_and_takes_its_time(ranks: int, max_peers: int) -> None:
    for plan in family(ranks, max_peers):
        oracle.check_circuits(plan, W, max_peers)
        assert sum(plan.held) == max(len(plan.radices), 1)
        assert len(plan.configurations()) == len(plan.held)
        simulated_s = oracle.simulate_s(plan, 1e5, ALPHA_S, RHO_S, WAVELENGTH_RATE)
        assert plan.time_s(1e5) == pytest.approx(simulated_s, rel=1e-9)


@pytest.mark.parametrize(
    ("ranks", "max_peers", "message_bytes"),
    [(24, 4, 1e4), (30, 16, 1e6), (36, 8, 1e5), (64, 3, KIB), (64, 16, MIB), (64, 16, 64 * MIB)],
)
def test_best_plans_work(ranks: int, max_peers: int, message_bytes: float) -> None:
    plan = best_plan(family(ranks, max_peers), message_bytes)
    oracle.check_circuits(plan, W, max_peers)
    simulated_s = oracle.simulate_s(plan, message_bytes, ALPHA_S, RHO_S, WAVELENGTH_RATE)
    assert plan.time_s(message_bytes) == pytest.approx(simulated_s, rel=1e-9)


@pytest.mark.parametrize("radices", [(2, 2, 2, 2), (4, 4), (4, 2), (3, 5), (6, 2), (8,)])
def test_closed_forms_are_what_unheld_circuits_do(radices: tuple[int, ...]) -> None:
    ranks, size, unheld = int(np.prod(radices)), 1e6, (1,) * len(radices)
    expected_s = {
        "radix": collectives.mixed_radix_all_reduce_s(size, radices, ALPHA_S + RHO_S, RATE, W),
        "exchange": collectives.full_exchange_all_reduce_s(size, radices, ALPHA_S + RHO_S, RATE, W),
    }
    for plan in family(ranks):
        if plan.radices == radices and plan.held == unheld:
            simulated_s = oracle.simulate_s(plan, size, ALPHA_S + RHO_S, 0.0, WAVELENGTH_RATE)
            assert expected_s.pop(plan.kind) == pytest.approx(simulated_s, rel=1e-9)
    assert not expected_s
    ring_s = oracle.simulate_s(family(ranks)[0], size, ALPHA_S, RHO_S, WAVELENGTH_RATE)
    assert collectives.ring_all_reduce_s(size, ranks, ALPHA_S, RATE) == pytest.approx(ring_s, rel=1e-9)


def test_sipac_is_a_held_plan_with_equal_circuits() -> None:
    plan = replace(named("radix 2x2x2, 3 held", 8), wavelengths=(5, 5, 5))
    simulated_s = oracle.simulate_s(plan, 1e6, ALPHA_S, RHO_S, WAVELENGTH_RATE)
    static_s = collectives.sipac_static_all_reduce_s(1e6, 2, 3, ALPHA_S, 15 * WAVELENGTH_RATE)
    assert static_s == pytest.approx(simulated_s, rel=1e-9)


@pytest.mark.parametrize(
    ("ranks", "wavelengths", "max_peers"),
    [
        (2, 5, 4),
        (4, 7, 3),
        (6, 8, 8),
        (8, 9, 3),
        (8, 6, 16),
        (12, 11, 6),
        (16, 6, 4),
        (16, 7, 16),
        (18, 9, 5),
    ],
)
def test_family_is_complete_with_the_least_seconds_per_byte(ranks: int, wavelengths: int, max_peers: int) -> None:
    plans = family(ranks, max_peers, wavelengths)[1:]
    found = {(plan.kind, plan.radices, plan.held): plan.seconds_per_byte for plan in plans}
    assert len(found) == len(plans)
    expected = oracle.least_seconds_per_byte(ranks, wavelengths, max_peers, WAVELENGTH_RATE)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("ranks", "message_bytes", "max_peers", "expected_us"),
    [
        (64, KIB, 3, 11.7), (64, KIB, 16, 1.5),
        (64, MIB, 3, 26.3), (64, MIB, 16, 17.5),
        (256, 64 * KIB, 3, 20.4), (256, 64 * KIB, 16, 6.7),
        (256, MIB, 3, 35.0), (256, MIB, 16, 17.6),
        (256, 256 * MIB, 3, 1835), (256, 256 * MIB, 16, 1826),
    ],
)  # fmt: skip
def test_table_of_best_plans(ranks: int, message_bytes: int, max_peers: int, expected_us: float) -> None:
    best_s = best_plan(family(ranks, max_peers), message_bytes).time_s(message_bytes)
    assert best_s * 1e6 == pytest.approx(expected_us, rel=0.01)


def test_held_circuits_change_less_often() -> None:
    plan = named("radix 4x4x4x4, 1+1+1+1 held", 256, max_peers=3)
    assert plan.num_changes == 6
    assert plan.latency_s * 1e6 == pytest.approx(27.8)
    assert named("radix 4x4x4x4, 4 held", 256).num_changes == 0
    assert named("exchange 4x4x4x4, 2+2 held", 256).num_changes == 2
    assert named("exchange 4x4x4x4, 4 held", 256).num_changes == 0


def test_alternating_order_would_save_one_change() -> None:
    plan = best_plan(family(64, max_peers=3), KIB)
    assert plan.name == "exchange 2x2x2x2x2x2, 3+3 held"
    assert (plan.time_s(KIB) - RHO_S) * 1e6 == pytest.approx(7.96, rel=1e-3)


@pytest.mark.parametrize(("ranks", "max_peers"), [(19, 16), (17, 15), (38, 16), (5, 3), (1009, 16), (1, 3)])
def test_too_large_primes_leave_the_ring(ranks: int, max_peers: int) -> None:
    assert [plan.kind for plan in family(ranks, max_peers)] == ["ring"]


def test_seventeen_ranks_fit_sixteen_peers() -> None:
    assert [plan.name for plan in family(17)] == ["ring w16", "radix 17", "exchange 17"]


@settings(max_examples=50, deadline=None)
@given(
    ranks=st.integers(2, 96),
    max_peers=st.integers(1, 20),
    wavelengths=st.integers(1, 20),
    message_bytes=st.floats(1.0, 1e9),
)
def test_no_plan_beats_the_bound(ranks: int, max_peers: int, wavelengths: int, message_bytes: float) -> None:
    rate = wavelengths * WAVELENGTH_RATE
    bound_s = collectives.all_reduce_bound_s(message_bytes, ranks, max_peers, ALPHA_S, rate)
    plans = family(ranks, max_peers, wavelengths)
    assert best_plan(plans, message_bytes).time_s(message_bytes) >= bound_s * (1 - 1e-9)
    assert len({plan.name for plan in plans}) == len(plans)


@settings(max_examples=30, deadline=None)
@given(ranks=st.integers(1, 128), max_peers=st.integers(1, 16), message_bytes=st.floats(0.0, 1e10))
def test_pareto_plans_keep_every_best_plan(ranks: int, max_peers: int, message_bytes: float) -> None:
    plans = family(ranks, max_peers)
    kept = pareto_plans(plans)
    assert set(kept) <= set(plans)
    best_s = best_plan(plans, message_bytes).time_s(message_bytes)
    assert best_plan(kept, message_bytes).time_s(message_bytes) == pytest.approx(best_s, rel=1e-9)
    for quick, slow in pairwise(kept):
        assert quick.latency_s < slow.latency_s
        assert quick.seconds_per_byte > slow.seconds_per_byte


def test_more_resources_never_slow_the_best_plan() -> None:
    for message_bytes in (KIB, MIB, 256 * MIB):
        by_peers = [best_plan(family(96, peers), message_bytes).time_s(message_bytes) for peers in range(1, 17)]
        by_wavelengths = [best_plan(family(96, 8, w), message_bytes).time_s(message_bytes) for w in range(8, 25)]
        assert all(later <= earlier for earlier, later in pairwise(by_peers))
        assert all(later <= earlier for earlier, later in pairwise(by_wavelengths))


def test_narrow_rings_are_slower_and_named() -> None:
    plans = all_reduce_plans(19, wavelengths=W, max_peers=3, ring_widths=(4, 16), **PRICES)
    assert [plan.name for plan in plans] == ["ring w4", "ring w16"]
    assert plans[0].seconds_per_byte == pytest.approx(4 * plans[1].seconds_per_byte)
    assert plans[0].configurations()[0][-1] == (18, 0, 4)
    with pytest.raises(ValueError, match="ring_widths"):
        all_reduce_plans(19, wavelengths=W, max_peers=3, ring_widths=(17,), **PRICES)


def test_circuits_of_a_small_plan() -> None:
    plan = named("radix 2x2, 1+1 held", 4)
    assert plan.configurations() == (
        ((0, 1, 16), (1, 0, 16), (2, 3, 16), (3, 2, 16)),
        ((0, 2, 16), (1, 3, 16), (2, 0, 16), (3, 1, 16)),
    )
    ring = named("ring w16", 2)
    assert ring.configurations() == (((0, 1, 16), (1, 0, 16)),)


def test_time_is_affine_in_arrays_of_messages() -> None:
    plan = named("radix 8", 8)
    sizes = np.array([0.0, 1e3, 1e6])
    assert plan.time_s(sizes) == pytest.approx(plan.latency_s + plan.seconds_per_byte * sizes)
    assert plan.time_s(0.0) == pytest.approx(2 * ALPHA_S)
