"""Rails of circuit switches: plans by hand, closed forms, and matchings against enumeration."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from costmodel.fabrics import NO_PLAN, GroupPlan, OcsRail
from costmodel.fabrics.ocs_rail import FREE, ports_of

RAIL: dict[str, Any] = {
    "kind": "ocs_rail", "servers": 4, "gpus_per_server": 4, "nvlink_bandwidth": "400 GB/s", "nvlink_alpha": "1 us",
    "nvlink_energy": "10 pJ/B", "switches": 4, "ports": 136, "port_bandwidth": "10 GB/s", "port_energy": "20 pJ/B",
    "alpha": "2 us", "reconfiguration": "20 ms",
}  # fmt: skip


def rail(**changes: Any) -> OcsRail:
    return OcsRail.model_validate(RAIL | changes)


def test_transfers_take_ports_for_each_pair_of_the_busiest_replica() -> None:
    found = rail().transfers(1, 2, one_server=False)
    assert [(plan.wavelengths, ports_of(plan)) for plan in found] == [((2,), 4), ((1,), 2)]
    assert [plan.name for plan in rail().transfers(1, 2, one_server=True)] == ["transfer 1 to 2"]
    assert [*rail().transfers(3, 2, one_server=False)] == [], "more replicas than servers"


def across(dimension: Any, ranks: int, **changes: Any) -> dict[str, GroupPlan]:
    plans = rail(**changes).plans(dimension, ranks, one_server=False)
    return {f"{plan.name}, {ports_of(plan)} ports": plan for plan in plans}


def test_rings_use_any_number_of_ports() -> None:
    plans = across("data", 4)
    for width in (1, 2, 3, 4):
        ring = plans[f"ring w{width}, {width} ports"]
        assert ring.latency_s == pytest.approx(6 * 2e-6)
        assert ring.seconds_per_byte == pytest.approx(1.5 / (width * 10e9))


def test_other_all_reduces_hold_one_configuration_within_the_ports() -> None:
    plans = across("data", 4)
    assert plans["exchange 4, 3 ports"].seconds_per_byte == pytest.approx(1 / 10e9)
    assert plans["radix 4, 3 ports"].latency_s == pytest.approx(4e-6)
    assert plans["radix 2x2, 2 ports"].latency_s == pytest.approx(8e-6)
    assert all(len(plan.held) == 1 for plan in plans.values() if plan.radices)
    assert "exchange 4, 3 ports" not in across("data", 4, switches=2)


@pytest.mark.slow
@given(st.integers(2, 12), st.integers(1, 8))
def test_plans_across_differ_and_fit_their_ports(ranks: int, switches: int) -> None:
    plans = rail(servers=12, switches=switches).plans("data", ranks, one_server=False)
    keys = [(plan.kind, plan.radices, plan.wavelengths) for plan in plans]
    assert len(set(keys)) == len(keys)
    for plan in plans:
        sent = np.zeros(ranks, dtype=int)
        received = np.zeros(ranks, dtype=int)
        (circuits,) = plan.configurations()
        for source, destination, width in circuits:
            sent[source] += width
            received[destination] += width
        assert set(sent) == set(received) == {ports_of(plan)}
        assert ports_of(plan) <= switches


@pytest.mark.parametrize(("stages", "widths"), [(2, [4, 3, 2, 1]), (3, [2, 1]), (4, [2, 1])])
def test_lines_have_two_neighbours_from_three_stages_on(stages: int, widths: list[int]) -> None:
    lines = rail().plans("pipeline", stages, one_server=False)
    assert [line.wavelengths[0] for line in lines] == widths
    assert [ports_of(line) for line in lines] == [w if stages == 2 else 2 * w for w in widths]
    assert lines[0].seconds_per_byte == pytest.approx(1 / (widths[0] * 10e9))


def test_groups_lie_inside_a_server_or_across() -> None:
    fabric = rail()
    inside = fabric.plans("tensor", 4, one_server=True, per_server=4)
    assert inside[0].seconds_per_byte == pytest.approx(1.5 / 400e9)
    assert [ports_of(plan) for plan in inside] == [0] * len(inside)
    assert fabric.plans("pipeline", 2, one_server=True)[0].kind == "switched"
    assert fabric.plans("data", 4, one_server=False, per_server=2) == ()
    assert fabric.plans("data", 5, one_server=False) == ()
    assert fabric.plans("tensor", 2, one_server=False) == ()
    reduced = fabric.plans("data", 2, one_server=False)
    assert {*fabric.plans("context", 2, one_server=False)} == {p for p in reduced if p.kind in ("ring", "radix")}
    assert {plan.kind for plan in fabric.plans("expert", 4, one_server=False)} <= {"direct", "bruck"}
    assert fabric.plans("expert", 4, one_server=False, per_server=2) == ()
    assert fabric.plans("data", 1, one_server=False) == (NO_PLAN,)


def test_blocks_are_whole_groups() -> None:
    assert [*rail().blocks((1, 1, 1, 2), 8)] == [1, 2]
    assert [*rail().blocks((2, 2, 2, 4), 4)] == [2, 4]
    assert [*rail().blocks((8, 8, 8, 8), 8)] == []


def test_dimensions_share_the_ports() -> None:
    fabric = rail()
    line = fabric.plans("pipeline", 2, one_server=False)[2:]
    ring = {ports_of(plan): plan for plan in fabric.plans("data", 2, one_server=False) if plan.kind == "ring"}
    tensor = fabric.plans("tensor", 2, one_server=True)[0]
    assert fabric.combines([tensor, line[1], ring[3], NO_PLAN, NO_PLAN])
    assert not fabric.combines([tensor, line[1], ring[4], NO_PLAN, NO_PLAN])
    assert not fabric.combines([tensor, line[0], ring[3], NO_PLAN, NO_PLAN])


def test_dimensions_share_the_servers() -> None:
    """Two stages of three replicas would need six servers."""
    fabric = rail()
    line = fabric.plans("pipeline", 2, one_server=False)[-1]
    ring = [plan for plan in fabric.plans("data", 3, one_server=False) if plan.kind == "ring"][-1]
    assert not fabric.combines([NO_PLAN, line, ring, NO_PLAN, NO_PLAN])
    assert fabric.combines([NO_PLAN, fabric.plans("pipeline", 2, one_server=True)[0], ring, NO_PLAN, NO_PLAN])


def test_switches_by_name() -> None:
    fabric = rail()
    for switch in product(range(4), range(4)):
        assert fabric.parse_switch(fabric.switch_name(*switch)) == switch
    for name in ("q4#0", "q0#4", "q0", "q00#1", "s0.g0", ""):
        with pytest.raises(ValueError, match="switches are q0#0 to q3#3"):
            fabric.parse_switch(name)


def test_too_few_ports_are_refused() -> None:
    with pytest.raises(ValidationError, match="136 cannot join 138 servers"):
        rail(servers=69, racks=2)


def _matchings(servers: int) -> list[tuple[int, ...]]:
    """All partial matchings without a circuit from a server to itself."""
    return [
        each
        for each in product([FREE, *range(servers)], repeat=servers)
        if all(a != b for a, b in enumerate(each))
        and len({b for b in each if b != FREE}) == sum(b != FREE for b in each)
    ]


def _sum(matchings: tuple[tuple[int, ...], ...], servers: int) -> tuple[tuple[int, ...], ...]:
    links = np.zeros((servers, servers), dtype=int)
    for each in matchings:
        for a, b in enumerate(each):
            if b != FREE:
                links[a, b] += 1
    return tuple(map(tuple, links.tolist()))


@pytest.mark.slow
@pytest.mark.parametrize(("servers", "switches"), [(2, 3), (3, 1), (3, 2), (4, 1)])
def test_what_is_realizable_is_what_matchings_sum_to(servers: int, switches: int) -> None:
    possible = {_sum(each, servers) for each in product(_matchings(servers), repeat=switches)}
    fabric = rail(servers=servers, switches=switches)
    pairs = [(a, b) for a in range(servers) for b in range(servers) if a != b]
    for counts in product(range(switches + 1), repeat=len(pairs)):
        links = np.zeros((servers, servers), dtype=np.int64)
        links[tuple(np.array(pairs).T)] = counts
        if tuple(map(tuple, links.tolist())) in possible:
            held = tuple(map(tuple, fabric.matchings(links).tolist()))
            assert set(held) <= set(_matchings(servers))
            assert _sum(held, servers) == tuple(map(tuple, links.tolist()))
        else:
            with pytest.raises(ValueError, match="ask for no more each way"):
                fabric.matchings(links)


@given(st.integers(2, 9), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_sums_of_random_matchings_are_taken_apart_again(servers: int, switches: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    links = np.zeros((servers, servers), dtype=np.int64)
    for _ in range(switches):
        links[np.arange(servers), generator.permutation(servers)] += 1
    np.fill_diagonal(links, 0)
    held = rail(servers=servers, switches=switches).matchings(links)
    again = np.zeros_like(links)
    for each in held:
        lit = np.flatnonzero(each != FREE)
        assert len(set(each[lit].tolist())) == len(lit)
        again[lit, each[lit]] += 1
    assert (again == links).all()


def test_wrong_links_are_refused() -> None:
    with pytest.raises(ValueError, match="with a diagonal of 0"):
        rail(servers=2, switches=1).matchings(np.eye(2, dtype=np.int64))
