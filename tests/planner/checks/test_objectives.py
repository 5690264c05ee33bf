"""Objectives against numbers worked out by hand."""

from math import sqrt
from typing import Any

import pytest

from costmodel.parallelism.configuration import Configuration
from planner.checks import objective_values
from planner.checks.objectives import energy, fragmentation, moves, value
from planner.model.plan import Plan
from tests.planner.checks.good import fat_tree, moved, pair, resident_of, ring, ring_assignment, staying
from tests.planner.checks.plans import FAT_TREE, assign, edited, instance_of, job, plan_of, rewired, scores_of


def shares(accelerators: Any = 4) -> tuple[float, float]:
    """Speed over the fastest, and energy over the least, of the ring among what is listed."""
    instance = instance_of(job("ring", accelerators))
    listed, own = scores_of(instance, instance.jobs[0], ring_assignment().configuration)
    assert own is not None
    least = listed[0].energy_per_work_j.min()
    return float(own.speed[0] / listed[0].speed.max()), float(own.energy_per_work_j[0] / least)


@pytest.mark.parametrize("accelerators", [4, (1, 4), (4, 6)])
@pytest.mark.parametrize("utility", ["sqrt", "linear"])
def test_value_and_energy(utility: str, accelerators: Any) -> None:
    share, energy_share = shares(accelerators)
    assert share < 1 <= energy_share
    instance = instance_of(job("ring", accelerators, utility=utility, weight=3.0))
    plan = plan_of(instance, ring_assignment())
    assert value(instance, plan) == pytest.approx(3.0 * (sqrt(share) if utility == "sqrt" else share))
    assert energy(instance, plan) == pytest.approx(3.0 * energy_share)


def test_fastest_candidate_is_worth_its_weight() -> None:
    instance = instance_of(job("one", 1, weight=2.0), job("ring", 4))
    plan = plan_of(instance, assign("one", Configuration(), "s0.t0"))
    assert value(instance, plan) == 2.0
    assert energy(instance, plan) == 2.0
    assert value(instance, Plan(instance="tiny")) == 0.0
    assert energy(instance, Plan(instance="tiny")) == 0.0


def test_step() -> None:
    share, _ = shares()
    for step_at, expected in ((share * 0.999, 5.0), (share, 5.0), (share * 1.001, 0.0)):
        instance = instance_of(job("ring", 4, utility="step", step_at=step_at, weight=5.0))
        assert value(instance, plan_of(instance, ring_assignment())) == expected


def test_current_configuration_counts_as_listed() -> None:
    """A resident of four devices that accepts one runs faster than anything else that is listed."""
    instance = instance_of(residents=(resident_of(ring_assignment(), accelerators=1),))
    assert value(instance, plan_of(instance, ring_assignment())) == 1.0
    alone = assign("ring", Configuration(), "s0.t0")
    listed, own = scores_of(instance, instance.residents[0], alone.configuration)
    assert own is not None
    expected = sqrt(own.speed[0] / listed[1].speed[0])
    assert 0 < expected < 1
    assert value(instance, plan_of(instance, alone)) == pytest.approx(expected)


def test_sizes_beyond_the_rack_are_not_listed_but_failures_change_nothing() -> None:
    """Sixteen devices exceed the rack of twelve; with seven of them failed size 6 stays listed."""
    share, _ = shares((4, 6))
    failed = ["s0.t2", "s0.t3", "s0.t4", "s0.t5", "s1.t2", "s1.t3", "s1.t4"]
    for sizes, health in (((4, 6, 16), {}), ((4, 6), {"failed_tiles": failed})):
        instance = instance_of(job("ring", sizes, utility="linear"), health=health)
        assert value(instance, plan_of(instance, ring_assignment())) == pytest.approx(share)


def test_moves() -> None:
    assert moves(*moved()) == 2.5
    assert moves(*staying()) == 0.0
    instance, plan = staying(move_cost=7.0)
    assert moves(instance, rewired(plan, "ring", "s0.t0 s0.t1 2,3")) == 7.0


def test_objectives_of_the_instance_in_its_order() -> None:
    _, plan = ring()
    instance = instance_of(job("ring", 4), objectives=["moves", "value"])
    assert list(objective_values(instance, plan)) == ["moves", "value"]


def fragments(distribution: dict[int, float], fabric: dict[str, Any] | None = None, **fields: Any) -> float:
    """Fragmentation of the ring, which leaves four tiles in each server and one fiber each way."""
    instance = instance_of(job("ring", 4), fabric=fabric, size_distribution=distribution, **fields)
    return fragmentation(instance, plan_of(instance, ring_assignment()))


@pytest.mark.parametrize(
    ("distribution", "expected"),
    [
        ({1: 1}, 0.0),
        ({4: 1}, 0.0),
        ({3: 1}, 0.0),
        ({6: 1}, 0.0),
        ({8: 1}, 0.0),
        ({12: 1}, 0.0),
        ({4: 1, 64: 5}, 0.0),
    ],
)
def test_fragmentation_with_a_free_fiber_each_way(distribution: dict[int, float], expected: float) -> None:
    """Size 12 has no room at all and counts as fitted; 13 and more exceed two servers and are left out."""
    assert fragments(distribution) == pytest.approx(expected)


def test_fragmentation_without_free_fibers() -> None:
    """One of the fibers lit, or down: no job spans the servers, so only sizes up to four fit."""
    lit = {"fibers": [{"from": "s0", "to": "s1", "count": 1}, {"from": "s1", "to": "s0", "count": 2}]}
    down = {"failed_fibers": [{"from": "s1", "to": "s0", "index": 0}]}
    for fields in ({"fabric": lit}, {"health": down}):
        assert fragments({6: 1}, **fields) == pytest.approx(1.0)
        assert fragments({3: 1}, **fields) == pytest.approx(0.0)
        assert fragments({2: 1, 6: 3}, **fields) == pytest.approx(0.75)


def test_fragmentation_counts_lit_devices() -> None:
    """Servers with three and four lit devices, one of the three to spare: 7 // 3 = 2 fit, 7 // 2 = 3 fit."""
    health = {"failed_ports": ["s0.t5"]}
    assert fragments({1: 1, 2: 1, 3: 1, 7: 1}, health=health) == pytest.approx(0.0)
    dark = {"failed_fibers": [{"from": "s1", "to": "s0", "index": 0}]}
    assert fragments({2: 1, 7: 1}, health={**health, **dark}) == pytest.approx(0.5)
    assert fragments(
        {2: 1}, health={"failed_tiles": ["s0.t5"], "failed_ports": ["s0.t5", "s0.t4", "s1.t5"], **dark}
    ) == (pytest.approx(1 - 2 / 2))


@pytest.mark.parametrize(("racks", "expected"), [(2, 0.0), (1, 0.0)])
def test_fragmentation_across_racks(racks: int, expected: float) -> None:
    """Two free devices in each of two islands: a job of four spans them, in one rack or in two."""
    fabric = {**FAT_TREE, "racks": racks, "servers": 2 // racks}
    instance = instance_of(job("packets", 4), fabric=fabric, size_distribution={4: 1.0})
    _, plan = fat_tree()
    second = "r1.s0" if racks == 2 else "s1"
    first = "r0.s0" if racks == 2 else "s0"
    devices = (f"{first}.g0", f"{first}.g1", f"{second}.g0", f"{second}.g1")
    assert fragmentation(instance, edited(plan, "packets", devices=devices)) == pytest.approx(expected)


def test_light_of_other_jobs_takes_fibers() -> None:
    """A pair across the servers lights both fibers of a one-fiber fabric."""
    fields = {"fabric": {"fibers": 1}, "size_distribution": {10: 1.0}}
    instance = instance_of(job("pair", 2), **fields)
    inside = plan_of(instance, pair("pair", "s0.t0", "s0.t1", "0,1"))
    assert fragmentation(instance, inside) == pytest.approx(0.0)
    across = edited(inside, "pair", devices=("s0.t0", "s1.t0"))
    lit = rewired(across, "pair", "s0.t0 s1.t0 0,1 s0>s1#0", "s1.t0 s0.t0 0,1 s1>s0#0")
    assert fragmentation(instance, lit) == pytest.approx(1.0)
