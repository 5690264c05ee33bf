"""Families of all-reduce plans: simulated over their circuits, least against brute force, and known figures."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.collectives import closed_forms
from costmodel.collectives.build import schedule_of
from costmodel.collectives.family import Family, crossing_bytes, fastest, pareto, plans_of
from costmodel.collectives.ladder import Algorithm, Collective
from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan
from costmodel.collectives.schedule import LOCAL
from tests.costmodel.collectives.cases import ALPHA_S, KIB, MIB, RATE, RHO_S
from tests.oracles import collectives as oracle

W = 16
WAVELENGTH_RATE = RATE / W
EXACT = Family(orders=("fixed",), padded=False)


def family(ranks: int, max_peers: int = 16, wavelengths: int = W, which: Family = EXACT) -> tuple[CollectivePlan, ...]:
    limits = Limits(wavelengths, max_peers, ALPHA_S, RHO_S, WAVELENGTH_RATE)
    return plans_of("all_reduce", ranks, limits, which)


def best_plan(plans: tuple[CollectivePlan, ...], message_bytes: float) -> CollectivePlan:
    return min(plans, key=lambda plan: plan.time_s(message_bytes))


def built(
    kind: Algorithm, radices: tuple[int, ...], held: tuple[int, ...], wavelengths: tuple[int, ...]
) -> CollectivePlan:
    limits = Limits(W, 16, ALPHA_S, RHO_S, WAVELENGTH_RATE)
    return CollectivePlan("all_reduce", kind, int(np.prod(radices)), limits, radices, held, wavelengths)


@pytest.mark.slow
@pytest.mark.parametrize("max_peers", [1, 3, 16])
@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 6, 8, 9, 12, 16, 17, 19])
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
    ranks, size, widths = int(np.prod(radices)), 1e6, tuple(W // (radix - 1) for radix in radices)
    expected_s: dict[Algorithm, object] = {
        "radix": closed_forms.mixed_radix_all_reduce_s(size, radices, ALPHA_S + RHO_S, RATE, W),
        "exchange": closed_forms.full_exchange_all_reduce_s(size, radices, ALPHA_S + RHO_S, RATE, W),
    }
    for kind, expected in expected_s.items():
        plan = built(kind, radices, (1,) * len(radices), widths)
        simulated_s = oracle.simulate_s(plan, size, ALPHA_S + RHO_S, 0.0, WAVELENGTH_RATE)
        assert expected == pytest.approx(simulated_s, rel=1e-9)
    ring_s = oracle.simulate_s(family(ranks)[0], size, ALPHA_S, RHO_S, WAVELENGTH_RATE)
    assert closed_forms.ring_all_reduce_s(size, ranks, ALPHA_S, RATE) == pytest.approx(ring_s, rel=1e-9)


def test_sipac_is_a_held_plan_with_equal_circuits() -> None:
    plan = built("radix", (2, 2, 2), (3,), (5, 5, 5))
    simulated_s = oracle.simulate_s(plan, 1e6, ALPHA_S, RHO_S, WAVELENGTH_RATE)
    static_s = closed_forms.sipac_static_all_reduce_s(1e6, 2, 3, ALPHA_S, 15 * WAVELENGTH_RATE)
    assert static_s == pytest.approx(simulated_s, rel=1e-9)


@pytest.mark.slow
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
def test_least_seconds_per_byte_for_every_number_of_rounds_and_changes(
    ranks: int, wavelengths: int, max_peers: int
) -> None:
    """Each plan is the least with its numbers of digits and configurations, and what is left out has no less."""
    least: dict[tuple[str, int, int], float] = {}
    every = oracle.least_seconds_per_byte(ranks, wavelengths, max_peers, WAVELENGTH_RATE)
    for (kind, radices, held), seconds_per_byte in every.items():
        numbers = kind, len(radices), len(held)
        least[numbers] = min(seconds_per_byte, least.get(numbers, np.inf))
    plans = family(ranks, max_peers, wavelengths)[1:]
    found = {(plan.kind, len(plan.radices), len(plan.held)): plan.seconds_per_byte for plan in plans}
    assert len(found) == len(plans)
    assert found == {numbers: pytest.approx(least[numbers], rel=1e-12) for numbers in found}
    for (kind, digits, configurations), seconds_per_byte in least.items():
        fewer = [found[k, d, c] for k, d, c in found if k == kind and d <= digits and c <= configurations]
        assert min(fewer) <= seconds_per_byte * (1 + 1e-12)


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
    plan = next(p for p in family(256, max_peers=3) if p.name == "radix 4x4x4x4, 1+1+1+1 held")
    assert plan.num_changes == 6
    assert plan.latency_s * 1e6 == pytest.approx(27.8)
    assert built("radix", (4, 4, 4, 4), (4,), (1,) * 4).num_changes == 0
    assert built("exchange", (4, 4, 4, 4), (2, 2), (1,) * 4).num_changes == 2
    assert built("exchange", (4, 4, 4, 4), (4,), (1,) * 4).num_changes == 0


@pytest.mark.parametrize(("ranks", "max_peers"), [(19, 16), (17, 15), (38, 16), (5, 3), (1009, 16)])
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
    bound_s = closed_forms.all_reduce_bound_s(message_bytes, ranks, max_peers, ALPHA_S, rate)
    plans = family(ranks, max_peers, wavelengths)
    assert best_plan(plans, message_bytes).time_s(message_bytes) >= bound_s * (1 - 1e-9)
    assert len({plan.name for plan in plans}) == len(plans)


@settings(max_examples=30, deadline=None)
@given(ranks=st.integers(1, 128), max_peers=st.integers(1, 16), message_bytes=st.floats(0.0, 1e10))
def test_pareto_plans_keep_every_best_plan(ranks: int, max_peers: int, message_bytes: float) -> None:
    plans = family(ranks, max_peers)
    kept = pareto(plans)
    assert set(kept) <= set(plans)
    best_s = best_plan(plans, message_bytes).time_s(message_bytes)
    assert best_plan(kept, message_bytes).time_s(message_bytes) == pytest.approx(best_s, rel=1e-9)
    for quick, slow in pairwise(kept):
        assert quick.latency_s < slow.latency_s
        assert quick.seconds_per_byte > slow.seconds_per_byte


@pytest.mark.slow
def test_more_resources_never_slow_the_best_plan() -> None:
    for message_bytes in (KIB, MIB, 256 * MIB):
        by_peers = [best_plan(family(96, peers), message_bytes).time_s(message_bytes) for peers in range(1, 17)]
        by_wavelengths = [best_plan(family(96, 8, w), message_bytes).time_s(message_bytes) for w in range(8, 25)]
        assert all(later <= earlier for earlier, later in pairwise(by_peers))
        assert all(later <= earlier for earlier, later in pairwise(by_wavelengths))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    ranks=st.integers(2, 128),
    max_peers=st.integers(1, 16),
    wavelengths=st.integers(1, 32),
    message_bytes=st.floats(0.0, 1e10),
)
def test_fastest_plans_are_the_lower_envelope(
    ranks: int, max_peers: int, wavelengths: int, message_bytes: float
) -> None:
    plans = family(ranks, max_peers, wavelengths, Family())
    kept = fastest(plans)
    best_s = best_plan(plans, message_bytes).time_s(message_bytes)
    assert best_plan(kept, message_bytes).time_s(message_bytes) == pytest.approx(best_s, rel=1e-9)
    for before, plan, after in zip(kept, kept[1:], kept[2:], strict=False):
        between = (crossing_bytes(before, plan) + crossing_bytes(plan, after)) / 2
        assert plan.time_s(between) <= min(before.time_s(between), after.time_s(between)) * (1 + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("max_peers", [1, 2, 3, 5, 16])
@pytest.mark.parametrize("ranks", [2, 3, 5, 6, 7, 8, 11, 12, 13, 20, 26, 37, 64])
def test_circuits_are_those_of_the_schedule(ranks: int, max_peers: int) -> None:
    """With padding and in alternating order as well; wavelengths of a configuration never meet at a rank."""
    for plan in family(ranks, max_peers, which=Family()):
        oracle.check_circuits(plan, W, max_peers)
        circuits = schedule_of(plan).circuits
        used = [
            {(int(u), int(v), int(w)) for u, v, w in zip(*ends, strict=True)}
            for ends in (
                (circuits.source[on], circuits.destination[on], circuits.wavelengths[on])
                for on in map(circuits.on, range(len(plan.held)))
            )
        ]
        assert used == [set(each) for each in plan.configurations()]
        for each, offsets in zip(plan.configurations(), plan.offsets(), strict=True):
            light = [(end, rank, first + i) for (u, v, w), first in zip(each, offsets, strict=True)
                     for end, rank in (("out", u), ("in", v)) for i in range(w)]  # fmt: skip
            assert len(set(light)) == len(light)
            assert max((wavelength for *_, wavelength in light), default=0) < W


@pytest.mark.parametrize("collective", ["all_reduce", "reduce_scatter", "all_gather", "all_to_all"])
@pytest.mark.parametrize("ranks", [2, 5, 8, 12, 13])
def test_bytes_that_are_sent_are_those_of_the_schedule(collective: Collective, ranks: int) -> None:
    for plan in plans_of(collective, ranks, Limits(W, 3, ALPHA_S, RHO_S, WAVELENGTH_RATE)):
        schedule = schedule_of(plan)
        num_sent = np.count_nonzero(schedule.circuit != LOCAL) / schedule.num_calls / ranks
        assert plan.bytes_per_byte == pytest.approx(num_sent / schedule.num_chunks)


def test_narrow_rings_are_slower_and_named() -> None:
    narrow, wide = (
        CollectivePlan("all_reduce", "ring", 19, family(19)[0].limits, (), (1,), (width,)) for width in (4, 16)
    )
    assert [narrow.name, wide.name] == ["ring w4", "ring w16"]
    assert narrow.seconds_per_byte == pytest.approx(4 * wide.seconds_per_byte)
    assert narrow.configurations()[0][-1] == (18, 0, 4)


def test_circuits_of_a_small_plan() -> None:
    plan = built("radix", (2, 2), (1, 1), (16, 16))
    assert plan.configurations() == (
        ((0, 1, 16), (1, 0, 16), (2, 3, 16), (3, 2, 16)),
        ((0, 2, 16), (1, 3, 16), (2, 0, 16), (3, 1, 16)),
    )
    ring = CollectivePlan("all_reduce", "ring", 2, plan.limits, (), (1,), (16,))
    assert ring.configurations() == (((0, 1, 16), (1, 0, 16)),)


def test_ranks_of_a_broadcast_differ() -> None:
    tree = plans_of("broadcast", 8, family(8)[0].limits)[0]
    with pytest.raises(ValueError, match="the ranks of a fixed_tree differ"):
        tree.configurations()


def test_time_is_affine_in_arrays_of_messages() -> None:
    plan = built("radix", (8,), (1,), (2,))
    sizes = np.array([0.0, 1e3, 1e6])
    assert plan.time_s(sizes) == pytest.approx(plan.latency_s + plan.seconds_per_byte * sizes)
    assert plan.time_s(0.0) == pytest.approx(2 * ALPHA_S)
