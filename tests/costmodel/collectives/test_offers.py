"""What a planner is offered: nothing that is worth having is missing, and it is quick."""

import time
from dataclasses import replace
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.collectives.best import best
from costmodel.collectives.family import MOST_RANKS, Family, plans_of
from costmodel.collectives.limits import Limits
from costmodel.collectives.offers import SWITCHED, all_reduces, is_runnable
from costmodel.collectives.plan import CollectivePlan
from tests.costmodel.collectives.cases import ALPHA_S, RATE, RHO_S, limits


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    ranks=st.integers(2, 96),
    max_peers=st.integers(1, 16),
    wavelengths=st.integers(1, 20),
    message_bytes=st.floats(0.0, 1e10),
)
def test_the_best_plan_of_every_message_is_offered(
    ranks: int, max_peers: int, wavelengths: int, message_bytes: float
) -> None:
    given_limits = Limits(wavelengths, max_peers, ALPHA_S, RHO_S, RATE / 16)
    offered = all_reduces(ranks, given_limits, tuple({wavelengths, 1}))
    for padded, plans in ((True, offered), (False, [plan for plan in offered if prod(plan.radices) <= ranks])):
        least_s = min(plan.time_s(message_bytes) for plan in plans)
        expected_s = best("all_reduce", ranks, message_bytes, given_limits, Family(padded=padded)).time_s
        assert least_s == pytest.approx(expected_s, rel=1e-9)
    assert len(set(offered)) == len(offered)
    assert all(is_runnable(plan) for plan in offered if plan.kind != "ring")


@pytest.mark.parametrize("ranks", [5, 7, 11, 13, 20, 26, 37])
def test_awkward_numbers_of_ranks_have_more_than_rings(ranks: int) -> None:
    """With three peers a prime above 4 has no exact radices; short messages then are twice as fast or more."""
    offered = all_reduces(ranks, limits(3), (16,))
    ring, *others = offered
    assert ring.kind == "ring"
    assert {prod(plan.radices) > ranks for plan in others} == {True}
    assert min(plan.time_s(1e3) for plan in others) < ring.time_s(1e3) / 2


def test_the_largest_groups_have_rings() -> None:
    assert {plan.kind for plan in all_reduces(MOST_RANKS, limits(3), (16,))} > {"ring"}
    assert [(plan.kind, plan.wavelengths) for plan in all_reduces(MOST_RANKS + 1, limits(3), (16, 8))] == [
        ("ring", (16,)),
        ("ring", (8,)),
    ]


def test_few_plans_are_offered() -> None:
    for ranks in range(2, 65):
        assert len(all_reduces(ranks, limits(3), (16, 8, 4, 2, 1))) <= 20


def test_exchanges_alternate() -> None:
    """One change fewer over the same circuits; the published 7.96 us in place of 11.7."""
    plans = all_reduces(64, limits(3), (16,))
    assert {plan.order for plan in plans if plan.kind == "exchange" and len(plan.held) > 1} == {"alternating"}
    assert min(plan.time_s(1024.0) for plan in plans) * 1e6 == pytest.approx(7.96, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("max_peers", [16, 64, 128])
def test_wide_fabrics_are_quick(max_peers: int) -> None:
    wide = Limits(128, max_peers, ALPHA_S, RHO_S, RATE / 128)
    for ranks in (251, 256):
        start = time.process_time()
        all_reduces(ranks, wide, (128,))
        assert time.process_time() - start <= 1.5


def test_of_equals_the_one_with_most_peers_near_is_kept() -> None:
    (plan,) = [plan for plan in plans_of("all_reduce", 24, limits(3), Family(SWITCHED)) if plan.num_rounds == 8]
    assert plan.radices == (3, 2, 2, 2)


def test_plans_from_before_can_run() -> None:
    fixed = CollectivePlan("all_reduce", "exchange", 64, limits(3), (4, 4, 4), (1, 1, 1), (5, 5, 5))
    assert is_runnable(fixed)
    assert is_runnable(replace(fixed, order="alternating"))
    assert is_runnable(replace(fixed, kind="radix", wavelengths=(1, 2, 3)))
    assert is_runnable(CollectivePlan("all_reduce", "radix", 5, limits(3), (2, 3), (2,), (5, 5)))


@pytest.mark.parametrize(
    ("radices", "held", "wavelengths"),
    [
        ((4, 4, 4), (2, 1), (2, 2, 2)),  # six peers
        ((4, 4, 4), (1, 1, 1), (6, 5, 5)),  # 18 wavelengths
        ((4, 4), (1, 1), (5, 5)),  # reach 16 ranks
        ((4, 4, 4), (1, 1), (5, 5, 5)),
        ((4, 4, 4), (1, 2, 0), (5, 5, 5)),
        ((4, 4, 4), (1, 1, 1), (5, 5)),
        ((4, 4, 4), (1, 1, 1), (5, 5, 0)),
        ((), (), ()),
    ],
)
def test_plans_that_cannot_run(radices: tuple[int, ...], held: tuple[int, ...], wavelengths: tuple[int, ...]) -> None:
    assert not is_runnable(CollectivePlan("all_reduce", "radix", 64, limits(3), radices, held, wavelengths))


def test_two_rounds_with_a_circuit_in_common_cannot_share_a_configuration() -> None:
    """Both rounds of an exchange of five ranks by 2 and 3 send to the rank two ahead."""
    plan = CollectivePlan("all_reduce", "exchange", 5, limits(3), (2, 3), (2,), (5, 5))
    assert not is_runnable(plan)
    assert is_runnable(replace(plan, held=(1, 1), order="alternating"))
    assert not is_runnable(replace(plan, kind="radix", held=(1, 1), order="alternating"))
    assert np.isfinite(plan.time_s(1.0))
