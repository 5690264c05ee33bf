"""What more racks, links and jobs may do to value, and that bounds hold at every moment, on each kind of fabric."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.model.edit import edited, with_fabric
from planner.model.instance import Instance
from planner.model.result import Incumbent
from planner.pipeline import solve
from planner.whatif.comparable import measured_against, references
from tests.oracles.brute_force_racks import most_value
from tests.oracles.tiny_racks import tiny_racks, tiny_racks_of_pools, tiny_racks_of_slices
from tests.planner.fabrics.joined_racks.racks import KINDS, OPTIONS, best

DRAWN: dict[str, Callable[..., Instance]] = {
    "lightpath": tiny_racks, "slices": tiny_racks_of_slices, "pools": tiny_racks_of_pools,
}  # fmt: skip
MORE = {
    "packets": ("oversubscription", (4, 2, 1)),
    "switches": ("ports", (1, 2, 4)),
    "fibers": ("fibers", (0, 1, 2)),
}
"""field of a layer, and values of which each gives twice the links of the one before, or some where it gives none"""
LAW = settings(max_examples=2, deadline=None, derandomize=True)
SEEDS = st.integers(0, 200)
NOISE = 1e-9


def _values(instances: list[Instance]) -> list[float]:
    """Jobs of all are measured against what they reach in the last one, so that values compare."""
    measured = references(instances[-1])
    return [best(measured_against(instance, measured)).objectives["value"] for instance in instances]


def _assert_no_less(instances: list[Instance]) -> None:
    values = _values(instances)
    assert all(before <= after + NOISE for before, after in pairwise(values)), values


@pytest.mark.slow
@pytest.mark.parametrize("drawn", DRAWN)
@LAW
@given(seed=SEEDS, kind=st.sampled_from(sorted(KINDS)))
def test_twice_the_links_never_lower_value(drawn: str, seed: int, kind: str) -> None:
    field, numbers = MORE[kind]
    _assert_no_less([DRAWN[drawn](seed, upper=KINDS[kind] | {field: number}) for number in numbers])


@pytest.mark.slow
@pytest.mark.parametrize("drawn", DRAWN)
@LAW
@given(seed=SEEDS, kind=st.sampled_from(sorted(KINDS)))
def test_one_more_rack_never_lowers_value(drawn: str, seed: int, kind: str) -> None:
    layer = KINDS[kind] | ({"radix": 8} if kind == "switches" else {})
    few = DRAWN[drawn](seed, upper=layer)
    _assert_no_less([few, with_fabric(few, racks=few.cluster.fabric.racks + 1)])


@pytest.mark.slow
@pytest.mark.parametrize("drawn", DRAWN)
@LAW
@given(seed=SEEDS)
def test_one_more_job_never_lowers_value(drawn: str, seed: int) -> None:
    whole = DRAWN[drawn](seed)
    _assert_no_less([edited(whole, jobs=whole.jobs[:number]) for number in range(1, len(whole.jobs) + 1)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("drawn", "seed"), [("lightpath", 1), ("lightpath", 4), ("slices", 0), ("slices", 5), ("pools", 3)]
)
def test_no_moment_claims_more_than_there_is(drawn: str, seed: int) -> None:
    instance = DRAWN[drawn](seed)
    told = list[Incumbent]()
    solve(instance, options=OPTIONS, on_incumbent=told.append)
    most = most_value(instance)
    assert all(each.bound is None or each.bound >= most * (1 - NOISE) for each in told)
    assert all(each.objective is None or each.objective <= most * (1 + NOISE) for each in told)
    assert {each.bound is None for each in told} == {True, False}
