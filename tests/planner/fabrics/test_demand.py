"""Circuits, colourings and boundaries of shapes against plain loops."""

import pytest

from costmodel.fabrics import NO_PLAN, GroupPlan, LinkPlan
from costmodel.hardware.device import load_device
from planner.fabrics.boundary import _bound
from planner.fabrics.demand import Demand
from planner.fabrics.ocs_rail.demand import RailDemand
from planner.fabrics.sipam.demand import PoolDemand, SipamDemand
from tests.oracles.circuits import required_circuits
from tests.planner.fabrics.demand_cases import SMALL, is_coloured, least_leaving, line, plans_of, shapes


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


def test_circuits_agree_with_the_oracle_of_the_rules() -> None:
    from costmodel.pricing.candidates import enumerate_candidates
    from tests.costmodel.pricing.candidates_cases import DEVICE, workload_of
    from tests.costmodel.pricing.score_cases import LIGHTPATH, WORKLOADS, fabric_of

    listed = enumerate_candidates(workload_of(WORKLOADS["training"]), (4, 5, 6, 7), DEVICE, fabric_of(LIGHTPATH))
    for row in range(0, len(listed), 7):
        c = listed.configuration(row)
        plans = tuple(listed.plans[i] for i in listed.plan[:, row])
        shape = Demand(c.tensor, c.pipeline, c.data, c.block, plans, context=c.context, expert=c.expert)
        mine = [(name, frozenset(circuits)) for name, circuits in shape.configurations]
        assert mine == [(name, frozenset(circuits)) for name, circuits in required_circuits(c)]


@pytest.mark.parametrize("kind", ["lightpath", "sipam", "ocs_rail"])
def test_light_along_context_and_expert_agrees_with_plain_loops(kind: str) -> None:
    """Circuits are those of the rules, colours right, and what leaves some blocks is counted."""
    from costmodel.pricing.candidates import enumerate_candidates
    from planner.fabrics.demand import shape_of
    from tests.oracles.tiny_layouts import fabric_of, workload_of

    fabric, workload = fabric_of(kind), workload_of(context=(1, 2), expert=(1, 2, 4))
    listed, seen = enumerate_candidates(workload, (4, 8), load_device("h100-sxm"), fabric), set[str]()
    rows = [row for row in range(len(listed)) if any(p.configurations() for p in listed.row_plans(row)[3:])]
    for row in rows[:: max(1, len(rows) // 60)]:
        shape = shape_of(listed, row, fabric)
        mine = [(name, frozenset(circuits)) for name, circuits in shape.configurations]
        assert mine == [(name, frozenset(circuits)) for name, circuits in required_circuits(listed.configuration(row))]
        seen |= {name for name, _ in mine}
        if kind == "lightpath":
            is_coloured(shape)
            exact = least_leaving(shape)
            assert shape.boundary.tolist() == exact
            assert (_bound(shape) <= exact).all()
    assert {"context", "expert"} <= seen


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
