"""Tori as a fabric: which plans go together, where slices lie, where ranks go, and which circuits join cubes."""

from itertools import pairwise, product
from math import prod

import pytest
from pydantic import ValidationError

from costmodel.fabrics import NO_PLAN, LinkPlan, Torus
from costmodel.fabrics.sliced import Held
from tests.costmodel.fabrics.torus_cases import ALPHA, LINK, SWITCHES, Sides, cubes, job, torus


def chip(fabric: Torus, slot: int) -> Sides:
    a, b, c = fabric.sides
    return next(p for p in product(range(a), range(b), range(c)) if (p[0] * b + p[1]) * c + p[2] == slot)


def test_inside_a_server_every_box_is_offered_and_across_servers_none() -> None:
    fabric = torus((4, 2, 3))
    found = {plan.radices for plan in fabric.plans("tensor", 4, one_server=True)}
    assert found == {(4, 1, 1), (2, 2, 1), (2, 1, 2), (1, 2, 2)}
    assert {plan.kind for plan in fabric.plans("data", 4, one_server=True)} == {"bucket", "rotated"}
    assert {plan.kind for plan in fabric.plans("pipeline", 4, one_server=True)} == {"chain"}
    assert fabric.plans("data", 4, one_server=False) == fabric.plans("data", 5, one_server=True) == ()
    assert fabric.plans("expert", 1, one_server=False) == (NO_PLAN,)


def test_across_cubes_an_axis_is_a_multiple_of_the_side() -> None:
    fabric = cubes()
    found = {plan.radices for plan in fabric.plans("data", 8, one_server=False)}
    assert found == {box for box in product((1, 2, 4, 8), repeat=3) if prod(box) == 8}
    assert (2, 2, 2) not in {plan.radices for plan in fabric.plans("tensor", 8, one_server=False)}
    assert fabric.blocks((2, 2, 2, 2), 16) == [1, 2]
    assert fabric.blocks((2, 2, 2, 2), 8) == [2, 8]
    assert torus().blocks((2, 2, 2, 2), 128) == [2]


def test_one_hop_of_each_side_leaves_its_cube() -> None:
    """Along 8 chips in cubes of 4 every fourth link, along 2 of 2 every second one, and none of a group in one cube."""
    fabric = cubes((4, 2, 2))
    shares = {
        plan.radices: plan.near_share
        for plan in fabric.plans("data", 8, one_server=False)
        if isinstance(plan, LinkPlan)
    }
    assert shares[8, 1, 1] == 3 / 4
    assert shares[1, 4, 2] == 1 / 2
    assert shares[4, 2, 1] == pytest.approx(5 / 8)
    assert all(isinstance(plan, LinkPlan) and plan.near_share == 1 for plan in fabric.plans("data", 8, one_server=True))


def test_consecutive_stages_are_neighbours_and_groups_lie_along_their_axes() -> None:
    fabric = torus((4, 4, 4))
    plans = job(tensor=(1, 2, 1), pipeline=(3, 1, 3), data=(1, 1, 1))
    held: list[Held] = [(0, fabric.slices((3, 2, 3))[0].slots)]
    devices = fabric.layout(plans, held)
    assert len(set(devices)) == 18
    stages = [chip(fabric, slot) for _, slot in devices[::2]]
    for one, other in pairwise(stages):
        assert sum(abs(a - b) for a, b in zip(one, other, strict=True)) == 1
    for first, second in zip(devices[::2], devices[1::2], strict=True):
        one, other = chip(fabric, first[1]), chip(fabric, second[1])
        assert (other[0] - one[0], other[1] - one[1], other[2] - one[2]) == (0, 1, 0)


def test_context_and_expert_take_whole_axes_of_data() -> None:
    fabric = torus((2, 3, 4))
    plans = job(data=(2, 3, 4), context=(1, 3, 1), expert=(1, 1, 4))
    devices = fabric.layout(plans, [(0, fabric.slices((2, 3, 4))[0].slots)])
    index = {chip(fabric, slot): rank for rank, (_, slot) in enumerate(devices)}
    assert index == {(x, y, z): (x * 4 + z) * 3 + y for x, y, z in product(range(2), range(3), range(4))}


def test_a_job_is_found_again_on_its_slices() -> None:
    fabric = cubes((2, 2, 2), servers=4)
    plans = job(tensor=(4, 1, 1), data=(1, 2, 2))
    slots = fabric.slices((2, 2, 2))[0].slots
    held: list[Held] = [(3, slots), (1, slots)]
    devices = fabric.layout(plans, held)
    assert [server for server, _ in devices[:4]] == [3, 3, 1, 1]
    assert fabric.held(plans, devices) == held
    assert fabric.held(plans, [devices[1], devices[0], *devices[2:]]) is None
    parts = job(tensor=(2, 1, 1))
    both: list[Held] = [(0, fabric.slices((2, 1, 1))[1].slots), (2, fabric.slices((2, 1, 1))[3].slots)]
    assert fabric.held(parts, fabric.layout(parts, both)) == both


def test_circuits_close_the_axes_that_a_box_spans() -> None:
    fabric = cubes((2, 3, 2), servers=4)
    plans = job(tensor=(2, 1, 1), data=(1, 3, 1))
    lines = fabric.lines(plans, [(1, fabric.slices((2, 3, 1))[0].slots)])
    assert [(line.source, line.destination, fabric.switch_name(*line.switch)) for line in lines] == [
        ((1, 6), (1, 0), "x0"),
        ((1, 8), (1, 2), "x2"),
        ((1, 10), (1, 4), "x4"),
        ((1, 4), (1, 0), "y0"),
        ((1, 10), (1, 6), "y2"),
    ]
    assert fabric.lines(job(tensor=(1, 2, 1)), [(0, fabric.slices((1, 2, 1))[0].slots)]) == ()
    assert torus((2, 3, 2)).lines(plans, [(0, fabric.slices((2, 3, 1))[0].slots)]) == ()


def test_circuits_of_whole_cubes_use_each_port_of_a_switch_once() -> None:
    fabric = cubes((2, 2, 2), servers=8, racks=2)
    plans = job(tensor=(4, 1, 1), pipeline=(1, 4, 1), data=(1, 1, 2))
    slots = fabric.slices((2, 2, 2))[0].slots
    lines = fabric.lines(plans, [(server, slots) for server in (9, 12, 10, 15)])
    assert len(lines) == 4 * 3 * 4
    assert {line.switch[0] for line in lines} == {3, 4, 5}
    assert len({(line.switch, line.source[0]) for line in lines}) == len(lines)
    assert len({(line.switch, line.destination[0]) for line in lines}) == len(lines)
    next_along_x = {line.source[0]: line.destination[0] for line in lines if line.switch[0] == 3}
    assert next_along_x == {9: 10, 10: 9, 12: 15, 15: 12}
    assert all(line.source[0] == line.destination[0] for line in lines if line.switch[0] == 5)


def test_switches_by_name() -> None:
    fabric = cubes((2, 3, 4), racks=2)
    for axis, number in ((0, 11), (1, 7), (5, 5)):
        name = fabric.switch_name(axis, number)
        assert fabric.parse_switch(name) == (axis, number)
    assert fabric.switch_name(4, 0) == "r1.y0"
    assert cubes().switch_name(2, 3) == "z3"
    for wrong in ("x12", "r2.x0", "w1", "y8", "r0.z6", "x0", "r0.x00"):
        with pytest.raises(ValueError, match=r"switches are r0\.x0 to r1\.z5"):
            fabric.parse_switch(wrong)
    with pytest.raises(ValueError, match="has no optical switches"):
        torus().parse_switch("x0")


def test_slices_need_the_switches_of_the_axes_that_they_span() -> None:
    fabric = cubes((2, 2, 2))
    one = fabric.slices((2, 1, 1))[0]
    assert fabric.needed_switches(0, (2, 1, 1), one.slots) == {(0, 0)}
    assert fabric.needed_switches(0, (1, 1, 1), (5,)) == frozenset()
    assert len(fabric.needed_switches(0, (2, 2, 2), tuple(range(8)))) == 12


def test_wrong_fabrics_are_refused() -> None:
    with pytest.raises(ValidationError, match="4 cannot join 3 cubes"):
        torus((2, 2, 2), servers=3, switches={"ports": 4, "energy": 0})
    with pytest.raises(ValidationError, match="must be at least 2 each"):
        torus((2, 1, 2), switches=SWITCHES)
    with pytest.raises(ValidationError, match="4096 chips at most"):
        torus((32, 32, 8))


def routed_s_per_byte(sides: Sides, box: Sides) -> tuple[int, float, float]:
    """Most hops, seconds per byte by the busiest link, and mean hops, by sending every message link by link."""
    load: dict[tuple[Sides, int, int], float] = {}
    ranks, most, crossed = [*product(*map(range, box))], 0, 0.0
    for source, target in product(ranks, repeat=2):
        options: list[list[list[tuple[Sides, int, int]]]] = []
        here, hops = list(source), 0
        for axis in range(3):
            extent, gap = box[axis], target[axis] - here[axis]
            ways = [gap] if extent < sides[axis] else [gap % extent, gap % extent - extent]
            ways = [way for way in ways if abs(way) == min(map(abs, ways))]
            paths = []
            for way in set(ways):
                at, path = list(here), []
                for _ in range(abs(way)):
                    path.append(((at[0], at[1], at[2]), axis, 1 if way > 0 else -1))
                    at[axis] = (at[axis] + (1 if way > 0 else -1)) % (extent if extent == sides[axis] else 10**6)
                paths.append(path)
            options.append(paths)
            hops += min(map(abs, ways))
            here[axis] = target[axis]
        most, crossed = max(most, hops), crossed + hops / len(ranks) ** 2
        for paths in options:
            for link in (link for path in paths for link in path):
                load[link] = load.get(link, 0.0) + 1 / len(paths) / len(ranks)
    return most, max(load.values()) / LINK, crossed


@pytest.mark.parametrize("box", [(4, 1, 1), (3, 1, 1), (2, 3, 1), (4, 2, 3), (1, 3, 5), (2, 2, 2), (1, 1, 4)])
def test_all_to_alls_equal_the_routed_ones(box: Sides) -> None:
    fabric = torus((4, 3, 5))
    plan = next(p for p in fabric.plans("expert", prod(box), one_server=True) if p.radices == box)
    hops, per_byte, crossed = routed_s_per_byte((4, 3, 5), box)
    assert plan.latency_s == pytest.approx(hops * ALPHA)
    assert plan.seconds_per_byte == pytest.approx(per_byte)
    assert plan.bytes_per_byte == pytest.approx(crossed)


def test_caches_of_two_pools_take_boxes_of_both() -> None:
    fabric = torus((4, 3, 5))
    found = fabric.transfers(3, 1, one_server=True)
    assert {plan.radices for plan in found} == {plan.radices for plan in fabric.plans("data", 4, one_server=True)}
    [row] = [plan for plan in found if plan.radices == (4, 1, 1)]
    assert (row.kind, row.latency_s, row.seconds_per_byte) == ("routed", 2 * ALPHA, pytest.approx(1 / LINK))
    [line] = [plan for plan in fabric.transfers(2, 2, one_server=True) if plan.radices == (1, 1, 4)]
    assert (line.latency_s, line.seconds_per_byte) == (2 * ALPHA, pytest.approx(2 / LINK))
    assert not fabric.transfers(2, 2, one_server=False)
    assert not fabric.transfers(2, 2, one_server=True, each=(1, 2))
