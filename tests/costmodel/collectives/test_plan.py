"""Time of a plan, and how often its circuits change."""

import pickle

import numpy as np
import pytest

from costmodel.collectives.plan import CollectivePlan
from tests.costmodel.collectives.cases import ALPHA_S, BEST_US, best_of, limits
from tests.costmodel.collectives.family_cases import best_plan, built, family


@pytest.mark.parametrize(("ranks", "message_bytes", "max_peers", "expected_us"), BEST_US)
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


def test_time_is_affine_in_arrays_of_messages() -> None:
    plan = built("radix", (8,), (1,), (2,))
    sizes = np.array([0.0, 1e3, 1e6])
    assert plan.time_s(sizes) == pytest.approx(plan.latency_s + plan.seconds_per_byte * sizes)
    assert plan.time_s(0.0) == pytest.approx(2 * ALPHA_S)


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


def test_a_hash_is_kept_and_not_handed_to_other_processes() -> None:
    plan = CollectivePlan("all_reduce", "exchange", 4, limits(1), (2, 2), (1, 1), (16, 16))
    before = vars(plan).copy()
    assert hash(plan) == hash(plan)
    assert vars(plan) != before
    assert vars(pickle.loads(pickle.dumps(plan))) == before
    assert {pickle.loads(pickle.dumps(plan))} == {plan}
