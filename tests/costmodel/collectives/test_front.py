"""Plans of a collective that no other one beats."""

from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.collectives import closed_forms
from costmodel.collectives.family import pareto
from costmodel.collectives.front import Front
from costmodel.collectives.ladder import Algorithm, Ladder, ladder
from costmodel.collectives.limits import Limits
from tests.costmodel.collectives.cases import ALPHA_S, KIB, MIB, RHO_S
from tests.costmodel.collectives.family_cases import WAVELENGTH_RATE, W, best_plan, family
from tests.oracles import collectives as oracle


@pytest.mark.parametrize(
    ("ranks", "max_peers", "message_bytes"),
    [(24, 4, 1e4), (30, 16, 1e6), (36, 8, 1e5), (64, 3, KIB), (64, 16, MIB), (64, 16, 64 * MIB)],
)
def test_best_plans_work(ranks: int, max_peers: int, message_bytes: float) -> None:
    plan = best_plan(family(ranks, max_peers), message_bytes)
    oracle.check_circuits(plan, W, max_peers)
    simulated_s = oracle.simulate_s(plan, message_bytes, ALPHA_S, RHO_S, WAVELENGTH_RATE)
    assert plan.time_s(message_bytes) == pytest.approx(simulated_s, rel=1e-9)


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


@settings(max_examples=20, deadline=None)
@given(ranks=st.integers(2, 64), kind=st.sampled_from(["radix", "exchange"]), sizes=st.permutations([2, 3, 5, 8, 12]))
def test_digits_held_with_few_wavelengths_are_found_among_those_of_many(
    ranks: int, kind: Algorithm, sizes: list[int]
) -> None:
    """Whatever was asked for before: a ladder that is equal but another object has been asked for nothing."""
    known = ladder(kind, "all_reduce", ranks, "fixed")
    for size in sizes:
        limits = Limits(size, size, ALPHA_S, RHO_S, WAVELENGTH_RATE)
        fresh = Ladder(known.start, known.end, partial(known.step), known.weight, known.returns, known.repeats)
        assert [*Front(known, limits, held=True)] == [*Front(fresh, limits, held=True)]
        free = [digits for digits in Front(known, limits) if len(digits.held) == 1]
        assert {sum(digits.held) for digits in free} <= {sum(digits.held) for digits in Front(known, limits, held=True)}
