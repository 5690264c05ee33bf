"""Masks, losses, and first-fit circuits that keep every rule of the check."""

import pytest

from costmodel.fabrics import NO_PLAN
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.rwa import _pick
from planner.model.masks import bits, numbers_of
from tests.planner.fabrics.demand_cases import plans_of
from tests.planner.fabrics.lightpath.rwa_cases import light_of, lone_circuit, pair_of


def test_masks() -> None:
    assert bits((0, 2, 5)) == 0b100101
    assert numbers_of(0b100101) == (0, 2, 5)
    assert numbers_of(0) == ()


@pytest.mark.parametrize(
    ("free", "width", "offset", "reused", "expected"),
    [
        (0b1111, 2, 1, 0, 0b0110),
        (0b1101, 2, 1, 0, 0b0101),
        (0b1111, 2, 0, 0b1100, 0b1100),
        (0b1111, 2, 2, 0b1100, 0b1100),
        (0b1111, 3, 0, 0b1000, 0b1011),
        (0b0101, 3, 0, 0, None),
        (0b0101, 2, 0, 0, 0b0101),
    ],
)
def test_pick(free: int, width: int, offset: int, reused: int, expected: int | None) -> None:
    assert _pick(free, width, offset, reused) == expected


def test_committed_light_takes_fibers_and_leaves_the_rest() -> None:
    light = light_of(fibers=2)
    assert light.free_wavelengths(0, 1) == 8
    light.commit([lone_circuit("s0.t0", "s1.t0", (0, 3), "s0>s1#1")])
    assert light.free_wavelengths(0, 1) == 6
    assert (light.dark_fibers(0, 1), light.dark_fibers(1, 0)) == (1, 2)
    assert light.taken == {(0, 1, 1): 0b1001}
    light.commit([lone_circuit("s0.t0", "s0.t1", (0,))])
    assert light.taken == {(0, 1, 1): 0b1001}


def test_shared_waveguides_count_each_tile_boundary() -> None:
    light = light_of(waveguides="shared", fibers=2)
    light.commit([lone_circuit("s0.t0", "s1.t2", (1,), "s0>s1#1")])
    assert light.taken == {
        (0, 1, 1): 0b10, ("tile", 0, 0, 1): 0b10, ("tile", 1, 1, 2): 0b10,
    }  # fmt: skip
    light.commit([lone_circuit("s1.t0", "s1.t2", (2,))])
    assert light.taken[("tile", 1, 1, 2)] == 0b110
    for guide, mask in light.masks([lone_circuit("s0.t0", "s1.t2", (1,), "s0>s1#1")]).items():
        light.taken[guide] &= ~mask
    assert {guide: mask for guide, mask in light.taken.items() if mask} == {
        ("tile", 1, 0, 1): 0b100, ("tile", 1, 1, 2): 0b100,
    }  # fmt: skip


def test_failed_fibers_are_not_there() -> None:
    failed = [{"from": "s0", "to": "s1", "index": 0}]
    light = light_of(fibers=2, health={"failed_fibers": failed})
    assert light.routes.fibers(0, 1) == (1,)
    assert light.routes.fibers(1, 0) == (0, 1)
    assert light.free_wavelengths(0, 1) == 4


@pytest.mark.parametrize(("budget", "reaches"), [(None, True), ("1.75 dB", True), ("1.74 dB", False)])
def test_loss_counts_both_sides_and_the_fiber(budget: str | None, reaches: bool) -> None:
    """From tile 3 over fiber 0 to tile 0: three boundaries of 0.25 dB and a fiber of 1 dB."""
    light = light_of(fibers=1, loss_per_tile="0.25 dB", loss_per_fiber="1 dB", loss_budget=budget)
    assert light.routes.reaches((0, 3), (1, 0), ((0, 1, 0),)) == reaches
    assert light.routes.reaches((0, 3), (0, 0), ())


def test_second_job_takes_what_the_first_leaves_on_the_fiber() -> None:
    light, shape = light_of(), pair_of(2)
    first = light.route(shape, [(0, 0), (1, 0)])
    assert first is not None
    light.commit(first)
    second = light.route(shape, [(0, 1), (1, 1)])
    assert second is not None
    light.commit(second)
    assert [c.wavelengths for c in second[0].circuits] == [(2, 3), (2, 3)]
    assert light.route(shape, [(0, 2), (1, 2)]) is None
    assert light.route(shape, [(0, 2), (0, 3)]) is not None


def test_no_more_fibers_are_lit_than_allowed() -> None:
    shape = pair_of(4)
    for most, fits in ((0, False), (1, True)):
        light = light_of({(0, 1): most, (1, 0): 1}, fibers=2)
        assert (light.route(shape, [(0, 0), (1, 0)]) is not None) == fits
    light = light_of({(0, 1): 1, (1, 0): 1}, fibers=2)
    first = light.route(shape, [(0, 0), (1, 0)])
    assert first is not None
    light.commit(first)
    assert light.route(shape, [(0, 1), (1, 1)]) is None
    free = light_of(fibers=2)
    free.commit(first)
    assert free.route(shape, [(0, 1), (1, 1)]) is not None


def test_a_circuit_wider_than_a_fiber_never_leaves_the_server() -> None:
    shape = pair_of(8)
    assert light_of(fibers=4).route(shape, [(0, 0), (1, 0)]) is None
    assert light_of(fibers=4).route(shape, [(0, 0), (0, 1)]) is not None


def test_a_job_reuses_its_own_light_in_another_configuration() -> None:
    """Each of the two rounds of four ranks fills both fibers each way."""
    plan = next(p for p in plans_of(4) if p.kind == "radix" and p.held == (1, 1))
    shape = Demand(4, 1, 1, 1, (plan, NO_PLAN, NO_PLAN))
    assert len(shape.configurations) == 2
    light = light_of(fibers=2, wavelengths_per_fiber=8)
    routed = light.route(shape, [(0, 0), (1, 0), (1, 1), (0, 1)])
    assert routed is not None
    light.commit(routed)
    assert light.free_wavelengths(0, 1) == light.free_wavelengths(1, 0) == 0
    assert light_of(fibers=1, wavelengths_per_fiber=8).route(shape, [(0, 0), (1, 0), (1, 1), (0, 1)]) is None
