"""Circuits, colourings and boundaries of shapes against plain loops."""

from itertools import combinations

import numpy as np
import pytest

from costmodel.fabrics import NO_PLAN, GroupPlan, LinkPlan
from costmodel.hardware.device import load_device
from planner.fabrics.demand import Demand, _bound, _boundary
from planner.fabrics.ocs_rail.demand import RailDemand
from planner.fabrics.sipam.demand import PoolDemand, SipamDemand
from tests.oracles.circuits import required_circuits
from tests.planner.fabrics.demand_cases import SMALL, WAVELENGTHS, line, plans_of, shapes


@pytest.mark.slow
@pytest.mark.parametrize("ranks", range(2, 33))
def test_offsets_colour_every_plan(ranks: int) -> None:
    found = plans_of(ranks)
    for plan in (*found[:: max(1, len(found) // 40)], line(ranks), line(ranks, 4)):
        pipelined = plan.kind == "line"
        degrees = (1, ranks, 1) if pipelined else (ranks, 1, 1)
        plans: tuple[GroupPlan, GroupPlan, GroupPlan] = (
            (NO_PLAN, plan, NO_PLAN) if pipelined else (plan, NO_PLAN, NO_PLAN)
        )
        is_coloured(Demand(*degrees, 1, plans))


@pytest.mark.parametrize("degrees", SMALL)
def test_offsets_colour_every_shape(degrees: tuple[int, int, int, int]) -> None:
    for shape in shapes(*degrees):
        is_coloured(shape)


def is_coloured(shape: Demand) -> None:
    """No tile sends or receives a wavelength twice in one configuration, and none is out of range."""
    for (_, circuits), offsets in zip(shape.configurations, shape.offsets, strict=True):
        used = set()
        for (source, destination, width), first in zip(circuits, offsets, strict=True):
            assert 0 <= first <= WAVELENGTHS - width, shape
            for wavelength in range(first, first + width):
                for end in (("sends", source, wavelength), ("receives", destination, wavelength)):
                    assert end not in used, shape
                    used.add(end)


def least_leaving(shape: Demand) -> list[int]:
    """Least wavelengths that leave c blocks, over all sets of c blocks, in the configuration that needs most."""
    table = []
    for count in range(shape.num_blocks + 1):
        least = None
        for blocks in combinations(range(shape.num_blocks), count):
            most = 0
            for _, circuits in shape.configurations:
                leaving = sum(
                    w for s, d, w in circuits if s // shape.block in blocks and d // shape.block not in blocks
                )
                entering = sum(
                    w for s, d, w in circuits if d // shape.block in blocks and s // shape.block not in blocks
                )
                assert leaving == entering
                most = max(most, leaving)
            least = most if least is None else min(least, most)
        assert least is not None
        table.append(least)
    return table


@pytest.mark.slow
@pytest.mark.parametrize("degrees", SMALL)
def test_boundary_is_exact_and_the_bound_is_never_above_it(degrees: tuple[int, int, int, int]) -> None:
    for shape in shapes(*degrees, num_plans=2):
        exact = least_leaving(shape)
        is_only_a_ring = sum(plan.ranks > 1 for plan in shape.plans) == 1 and any(
            plan.kind == "ring" for plan in shape.plans
        )
        if is_only_a_ring:
            assert all(b <= e for b, e in zip(shape.boundary, exact, strict=True))
        else:
            assert shape.boundary.tolist() == exact
        assert (_bound(shape) <= exact).all(), shape
        assert shape.has_light == any(shape.boundary)
        assert all(leaving % shape.unit == 0 for leaving in exact)


@pytest.mark.slow
@pytest.mark.parametrize(("prefill", "decode"), [(1, 1), (1, 3), (2, 2), (2, 3), (4, 2), (3, 5), (6, 2)])
@pytest.mark.parametrize("tensor", [1, 2])
def test_light_of_caches_by_plain_loops(prefill: int, decode: int, tensor: int) -> None:
    plan = LinkPlan("transfer", prefill + decode, wavelengths=(2,), radices=(prefill, decode))
    ring = plans_of(tensor)[0] if tensor > 1 else NO_PLAN
    shape = Demand(tensor, 1, prefill + decode, tensor, (ring, NO_PLAN, plan))
    is_coloured(shape)
    exact = least_leaving(shape)
    assert shape.boundary.tolist() == exact
    assert (_bound(shape) <= exact).all()
    assert shape.has_light


def test_ring_of_any_length_leaves_one_circuit() -> None:
    ring = plans_of(32)[1]
    shape = Demand(32, 1, 1, 1, (ring, NO_PLAN, NO_PLAN))
    assert shape.boundary.tolist() == [0, *31 * [2], 0]
    assert shape.unit == 2


@pytest.mark.slow
def test_bound_of_many_blocks_is_never_above_some_sets() -> None:
    """Runs of consecutive blocks and random sets leave at least what the bound says."""
    rng = np.random.default_rng(0)
    for shape in (*shapes(24, 1, 1, 1), *shapes(1, 4, 6, 1, 3), *shapes(2, 3, 8, 2, 3)):
        table = _boundary(shape)
        assert table.shape == (25,)
        for count in range(1, 24):
            sets = [range(count), rng.permutation(24)[:count], range(24)[:: max(1, 24 // count)][:count]]
            for blocks in map(frozenset[int], sets):
                most = max(
                    (
                        sum(int(t[u, v]) for u in blocks for v in range(24) if v not in blocks)
                        for t in (between.table for between in shape.between_blocks)
                    ),
                    default=0,
                )
                assert table[len(blocks)] <= most


def test_two_rings_in_halves_need_no_light_between_them() -> None:
    """Two replicas of a tensor ring in blocks of half a ring: two blocks of one ring leave nothing."""
    shape = Demand(4, 1, 2, 2, (plans_of(4)[1], NO_PLAN, NO_PLAN))
    assert least_leaving(shape) == [0, 2, 0, 2, 0]
    assert shape.boundary.tolist() == [0, 2, 0, 2, 0]


def test_unit_is_the_common_width_of_circuits_between_blocks() -> None:
    wide, narrow = line(2, 4), plans_of(2, (6,))[0]
    assert Demand(1, 2, 2, 1, (NO_PLAN, wide, narrow)).unit == 2
    inside = Demand(2, 2, 1, 2, (plans_of(2, (1,))[0], wide, NO_PLAN))
    assert inside.unit == 4
    assert Demand(2, 1, 1, 2, (narrow, NO_PLAN, NO_PLAN)).unit == 1


def test_within_compares_widths_of_the_same_circuits() -> None:
    ring = {width: Demand(4, 1, 1, 1, (plans_of(4, (width,))[0], NO_PLAN, NO_PLAN)) for width in (1, 2)}
    assert ring[1].needs_no_more_than(ring[2])
    assert not ring[2].needs_no_more_than(ring[1])
    assert ring[1].needs_no_more_than(ring[1])
    other = Demand(4, 1, 1, 2, ring[1].plans)
    assert not ring[1].needs_no_more_than(other)
    radix = next(plan for plan in plans_of(4) if plan.kind == "radix")
    assert not ring[1].needs_no_more_than(Demand(4, 1, 1, 1, (radix, NO_PLAN, NO_PLAN)))


def test_boundary_is_shared_and_cannot_be_changed() -> None:
    shape = Demand(4, 1, 1, 1, (plans_of(4)[-1], NO_PLAN, NO_PLAN))
    assert shape.boundary is Demand(4, 1, 1, 1, (plans_of(4)[-1], NO_PLAN, NO_PLAN)).boundary
    with pytest.raises(ValueError, match="read-only"):
        shape.boundary[0] = 1


def test_circuits_agree_with_the_oracle_of_the_rules() -> None:
    from costmodel.pricing.candidates import enumerate_candidates
    from tests.costmodel.pricing.candidates_cases import DEVICE, workload_of
    from tests.costmodel.pricing.score_cases import LIGHTPATH, WORKLOADS, fabric_of

    listed = enumerate_candidates(workload_of(WORKLOADS["training"]), (4, 5, 6, 7), DEVICE, fabric_of(LIGHTPATH))
    for row in range(0, len(listed), 7):
        c = listed.configuration(row)
        plans = tuple(listed.plans[i] for i in listed.plan[:, row])
        shape = Demand(c.tensor, c.pipeline, c.data, c.block, (plans[0], plans[1], plans[2]))
        mine = [(name, frozenset(circuits)) for name, circuits in shape.configurations]
        assert mine == [(name, frozenset(circuits)) for name, circuits in required_circuits(c)]


def test_circuits_with_context_agree_with_the_oracle_of_the_rules() -> None:
    from costmodel.pricing.candidates import enumerate_candidates
    from planner.fabrics.demand import shape_of
    from tests.oracles.tiny_layouts import fabric_of, workload_of

    fabric, workload = fabric_of("ocs_rail", servers=4, gpus_per_server=4), workload_of(context=(1, 2), expert=(1, 2))
    listed = enumerate_candidates(workload, (8, 16), load_device("h100-sxm"), fabric)
    with_both = 0
    for row in range(len(listed)):
        c = listed.configuration(row)
        mine = [(name, sorted(circuits)) for name, circuits in shape_of(listed, row, fabric).configurations]
        assert mine == [(name, sorted(circuits)) for name, circuits in required_circuits(c)]
        with_both += bool(mine) and c.context > 1
    assert with_both


def test_demands_with_one_key_differ_in_light_alone() -> None:
    ring = plans_of(4)
    one, other = (Demand(4, 1, 1, 1, (plan, NO_PLAN, NO_PLAN)) for plan in ring[1:3])
    assert one.key == other.key == one.room_key
    assert one.key != Demand(4, 1, 1, 2, (ring[1], NO_PLAN, NO_PLAN)).key
    pooled = SipamDemand(4, 1, 1, 1, (NO_PLAN,) * 3, memory_units=2, memory_io=1)
    assert pooled.room_key != SipamDemand(4, 1, 1, 1, (NO_PLAN,) * 3, memory_units=3, memory_io=1).room_key
    assert (pooled.pooled_units, one.pooled_units) == (2, 0)


def test_a_demand_needs_no_more_than_one_with_more_ports_or_rails() -> None:
    none, some = (RailDemand(4, 1, 1, 1, (plan, NO_PLAN, NO_PLAN)) for plan in (NO_PLAN, plans_of(4)[2]))
    assert none.needs_no_more_than(some)
    assert not some.needs_no_more_than(none)
    assert some.chooses_servers
    assert not none.chooses_servers
    few, more, full = (SipamDemand(4, 1, 1, 1, (NO_PLAN,) * 3, memory_units=n, memory_io=1) for n in (2, 2, 3))
    assert few.needs_no_more_than(more)
    assert not few.needs_no_more_than(full)
    fewer, many = PoolDemand(2, 1, 1, 1, 1), PoolDemand(2, 1, 2, 1, 1)
    assert fewer.needs_no_more_than(many)
    assert not many.needs_no_more_than(fewer)
