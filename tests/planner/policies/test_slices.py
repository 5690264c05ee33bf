"""Policies that cut slices: their shapes on a rack, and what they skip."""

from typing import Any

import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.fabrics.demand import Demand
from planner.fabrics.problem import Problem
from planner.model.instance import Instance
from planner.pipeline import solve
from planner.policies.slices import ranks_on
from tests.oracles.slices import boxes_of, subcubes_of
from tests.paths import ROOT
from tests.planner.explain.remedies_cases import FAT_TREE
from tests.planner.small_racks import rack, serving, training

RACK64 = ROOT / "instances" / "lumorph" / "rack64.yaml"


@pytest.fixture(scope="module")
def rack64() -> Problem:
    return expand(Instance.load(RACK64))


def _torus_number(server: int, slot: int) -> int:
    """Servers of 2 x 2 x 2 on a grid of 2 x 2 x 2."""
    x, y, z = (2 * (server >> k & 1) + (slot >> k & 1) for k in (2, 1, 0))
    return (x * 4 + y) * 4 + z


def _numbers(problem: Problem, devices: tuple[str, ...], *, is_torus: bool) -> frozenset[int]:
    places = [problem.cluster.fabric.parse_device(name) for name in devices]
    return frozenset(_torus_number(*place) if is_torus else place[0] * 8 + place[1] for place in places)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["torus_slices", "bcube_slices"])
def test_jobs_lie_in_legal_slices_of_their_own(rack64: Problem, policy: str) -> None:
    """Where the size needs no rounding the devices are the slice; else they lie inside one."""
    result = solve(rack64, policy=policy)
    assert result.plan is not None
    assert check(rack64.instance, result.plan) == []
    assert len(result.plan.admitted) >= 5
    for assignment in result.plan.assignments:
        numbers = _numbers(rack64, assignment.devices, is_torus=policy == "torus_slices")
        size = len(numbers)
        legal = boxes_of((4, 4, 4), size) if policy == "torus_slices" else subcubes_of(2, 6, size)
        assert any(numbers <= slice_ for slice_ in legal)
        assert size == len(assignment.devices)


def fat_tree(*jobs: dict[str, Any], servers: int = 2) -> Instance:
    data = rack(*jobs)
    data["cluster"]["fabric"] = FAT_TREE | {"servers": servers}
    return Instance.parse(data)


def test_rounding_up_leaves_devices_idle() -> None:
    """Three of four devices of a subcube: the fourth serves nobody, while first fit gives it away."""
    jobs = [serving("a", 3), serving("b", 3), serving("c", 1), serving("d", 1)]
    instance = fat_tree(*jobs)
    rounded, exact = (solve(instance, policy=policy).plan for policy in ("bcube_slices", "first_fit"))
    assert rounded is not None
    assert exact is not None
    assert rounded.admitted == ("a", "b")
    assert exact.admitted == ("a", "b", "c", "d")


def test_boxes_need_no_rounding_but_must_be_contiguous() -> None:
    """Servers of 1 x 2 x 2 on 2 x 1 x 1: after 3 + 1 on one plane the other is free for four."""
    instance = fat_tree(serving("a", 3), serving("b", 5), serving("c", 4))
    plan = solve(instance, policy="torus_slices").plan
    assert plan is not None
    assert plan.admitted == ("a", "c")


def test_a_slice_without_enough_light_is_skipped() -> None:
    instance = Instance.parse(rack(training("a", 8), training("b", [2, 4]), fibers=0))
    for policy in ("torus_slices", "bcube_slices"):
        plan = solve(instance, policy=policy).plan
        assert plan is not None
        assert plan.admitted == ("b",)
        assert check(instance, plan, starts=True) == []


def test_failed_devices_belong_to_no_slice_and_dark_ones_serve_singles() -> None:
    data = rack(serving("a", 4), serving("b", 4), serving("c", 1), servers=2, tiles=4, fibers=4)
    data["cluster"]["health"] = {"failed_tiles": ["s0.t1"], "failed_ports": ["s0.t2"]}
    instance = Instance.parse(data)
    for policy in ("torus_slices", "bcube_slices"):
        plan = solve(instance, policy=policy).plan
        assert plan is not None
        assert check(instance, plan, starts=True) == []
        assert plan["a"].devices == tuple(f"s1.t{slot}" for slot in range(4))
        assert plan["c"].devices == ("s0.t2",)


def test_blocks_stay_in_one_server(rack64: Problem) -> None:
    pair = next(shape for o in rack64.options for shape in o.shapes if (shape.num_ranks, shape.block) == (4, 2))
    assert isinstance(pair, Demand)
    assert ranks_on([(1, 0), (0, 3), (0, 1), (1, 5)], pair) == [(0, 1), (0, 3), (1, 0), (1, 5)]
    assert ranks_on([(0, 0), (1, 0), (1, 1), (1, 2)], pair) == []
