"""Columns of tiles beyond the fibers: no way to lay a job takes less than it is charged, and no plan exceeds all."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.fabrics import GroupPlan, Lightpath
from planner.candidates.expand import expand
from planner.fabrics import plugin_of
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.lightpath.columns import FiberColumns
from planner.fabrics.problem import Problem
from planner.heuristics.greedy import place_all
from planner.heuristics.strategies import over_evenly
from planner.model.instance import Instance
from planner.model.plan import Assignment
from tests.planner.small_racks import rack, serving, training

SHARED: dict[str, Any] = {"waveguides": "shared", "max_peers": 8}


def problem_of(*jobs: dict[str, Any], **fabric: Any) -> Problem:
    return expand(Instance.parse(rack(*jobs, **SHARED | fabric)), prune=False)


def taken(fabric: Lightpath, beside: int, assignment: Assignment) -> tuple[int, ...]:
    """Ranks beside fibers, waveguide-wavelengths that lead to them from the columns beyond, and servers in which these
    are more than half: of a job over several servers, from its circuits alone. Nothing where fibers end in all
    columns."""
    columns = fabric.tiles_per_server // fabric.tile_rows
    if beside == columns:
        return ()
    devices = [fabric.parse_device(name) for name in assignment.devices]
    crossing = set[tuple[tuple[int, int, int], int]]()
    for held in assignment.circuits:
        for circuit in held.circuits:
            ends = fabric.parse_device(circuit.source), fabric.parse_device(circuit.destination)
            route = tuple(map(fabric.parse_fiber, circuit.fibers))
            for segment in fabric.crossed(ends[0], route, ends[1]):
                if segment[1] % columns == beside and segment[2] % columns == beside - 1:
                    crossing |= {(segment, wavelength) for wavelength in circuit.wavelengths}
    by_server = Counter(segment[0] for segment, _ in crossing)
    carried = fabric.tile_rows * fabric.wavelengths_per_tile
    near = sum(slot % columns < beside for _, slot in devices)
    wide = sum(2 * light > carried for light in by_server.values())
    return tuple(
        rank * near + light * len(crossing) + most * wide
        for rank, light, most in ((carried, 1, 0), (1, 0, 1), (2 * carried, 1, carried))
    )


def placements(problem: Problem, demand: Demand) -> Iterator[Sequence[Device]]:
    """Devices by rank, blocks in one server each."""
    fabric = problem.cluster.fabric
    tiles = product(range(fabric.num_servers), range(fabric.devices_per_server))
    for devices in permutations(tiles, demand.num_ranks):
        blocks = (devices[i : i + demand.block] for i in range(0, demand.num_ranks, demand.block))
        if all(len({server for server, _ in block}) == 1 for block in blocks):
            yield devices


@pytest.mark.parametrize(("rows", "tiles", "ranks", "is_short"), [(1, 3, 3, False), (1, 3, 4, True), (2, 4, 3, False)])
def test_no_way_to_lay_a_job_takes_less(rows: int, tiles: int, ranks: int, *, is_short: bool) -> None:
    """All placements on two servers, routed by first fit beside nothing; four ranks that exchange with all others send
    four wavelengths over the middle of a line, of which there are three."""
    job = serving("x", ranks, model="llama-3.1-70b")
    problem = problem_of(job, tiles=tiles, tile_rows=rows, fibers=2, wavelengths_per_tile=3, wavelengths_per_fiber=3)
    options, columns = problem.options[0], FiberColumns(problem.cluster)
    first = {demand: row for row, demand in reversed([*enumerate(options.shapes)]) if demand.has_light}
    num_laid_beside = 0
    for demand, row in first.items():
        needs, found = columns.needs(demand), [*laid(problem, row)]
        assert needs is not None or not found
        assert all(charged <= amount for each in found for charged, amount in zip(needs or (), each, strict=True))
        num_laid_beside += any(needs or ()) and len(found) > 0
    assert (num_laid_beside > 0) == is_short


def laid(problem: Problem, row: int) -> Iterator[tuple[int, ...]]:
    """What the first job takes, over all placements that first fit routes."""
    fabric, options, free = problem.cluster.fabric, problem.options[0], FreeState.empty(problem.cluster)
    assert isinstance(fabric, Lightpath)
    beside = min(2, fabric.tiles_per_server // fabric.tile_rows)
    for devices in placements(problem, options.shapes[row]):
        found = free.assign_on(options, row, devices)
        if found is not None:
            free.release_named(found)
            used = taken(fabric, beside, found)
            yield used if len({server for server, _ in devices}) > 1 else tuple(0 for _ in used)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(2, 4), st.sampled_from([(3, 1), (4, 1), (4, 2), (6, 2)]), st.integers(1, 2), st.integers(2, 8),
    st.lists(st.tuples(st.sampled_from([2, 3, 4, 6]), st.booleans()), min_size=2, max_size=5), st.integers(0, 9),
)  # fmt: skip
def test_jobs_of_a_plan_take_what_they_are_charged_and_no_more_than_there_is(
    servers: int, tiles: tuple[int, int], fibers: int, wavelengths: int, drawn: list[tuple[int, bool]], failed: int
) -> None:
    jobs = [
        training(f"t{i}", ranks, batch=48) if trains else serving(f"s{i}", ranks, model="llama-3.1-70b")
        for i, (ranks, trains) in enumerate(drawn)
    ]
    health = {"failed_tiles": [f"s0.t{failed}"]} if failed < tiles[0] else {}
    light = {"wavelengths_per_tile": wavelengths, "wavelengths_per_fiber": wavelengths}
    problem = problem_of(
        *jobs, servers=servers, tiles=tiles[0], tile_rows=tiles[1], fibers=fibers, health=health, **light
    )
    fabric = problem.cluster.fabric
    assert isinstance(fabric, Lightpath)
    columns, demands = FiberColumns(problem.cluster), problem.options_by_name
    plan = place_all(problem, over_evenly((2, 3, 4))) or []
    total = [0 for _ in columns.capacities]
    beside = min(fibers, tiles[0] // tiles[1])
    for assignment in plan:
        options = demands[assignment.job]
        row = options.row_of(assignment.configuration)
        assert row is not None
        needs = columns.needs(options.shapes[row])
        assert needs is not None
        if len({fabric.parse_device(name)[0] for name in assignment.devices}) == 1:
            assert not any(needs)
            continue
        used = taken(fabric, beside, assignment)
        assert all(charged <= amount for charged, amount in zip(needs, used, strict=True))
        total = [a + b for a, b in zip(total, needs, strict=True)]
    assert all(amount <= capacity for amount, capacity in zip(total, columns.capacities, strict=True))


def widest(problem: Problem) -> Demand:
    """5 wavelengths from each of four ranks to each other one, no two of which need lie together."""
    return next(
        demand
        for demand in problem.options[0].shapes
        if [(p.kind, p.radices, p.wavelengths) for p in demand.plans if p.ranks > 1] == [("radix", (4,), (5,))]
        and demand.block == 1
    )


def test_what_no_line_carries_lies_beside_fibers() -> None:
    """20 wavelengths over the middle of a line that carries 16: at most one rank of a server lies beyond its fibers,
    and 15 lead there. So four servers are charged a rank beyond each, 4 x 15, or 4 of wide light."""
    light = {"wavelengths_per_tile": 16, "wavelengths_per_fiber": 16, "wavelength_bandwidth": "18.75 GB/s"}
    problem = problem_of(serving("x", 4, model="llama-3.1-70b"), servers=4, tiles=4, fibers=2, **light)
    columns = FiberColumns(problem.cluster)
    assert columns.needs(widest(problem)) == (60, 4, 4 * (15 + 16))
    assert columns.capacities == (8 * 16 + 4 * 16, 8 + 4, 8 * 32 + 4 * 16 + 4 * 16)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=6, max_size=6), st.sampled_from([1, 2]))
def test_bundles_are_as_many_fibers_as_the_largest_has(counts: list[int], rows: int) -> None:
    """Three servers, with so many fibers for each ordered pair."""
    pairs = permutations(range(3), 2)
    bundles = [{"from": f"s{a}", "to": f"s{b}", "count": n} for (a, b), n in zip(pairs, counts, strict=True)]
    job, sizes = serving("x", 4, model="llama-3.1-70b"), {"servers": 3, "tiles": 8, "tile_rows": rows}
    alike, bundled = (problem_of(job, fibers=fibers, **sizes) for fibers in (max(counts), bundles))
    found, expected = FiberColumns(bundled.cluster), FiberColumns(alike.cluster)
    assert found.capacities == expected.capacities
    for demand in bundled.options[0].shapes:
        assert found.needs(demand) == expected.needs(demand)


def lies_on_a_line(plan: GroupPlan, carried: int) -> bool:
    """Whether in some order no boundary is crossed by more wavelengths in one direction, all orders tried."""
    cuts = [(circuits, cut) for circuits in plan.configurations() for cut in range(1, plan.ranks)]
    return any(
        all(sum(w for a, b, w in circuits if order[a] < cut <= order[b]) <= carried for circuits, cut in cuts)
        for order in permutations(range(plan.ranks))
    )


def test_where_fibers_end_in_all_columns_only_blocks_may_lack_a_place() -> None:
    """Four ranks of a block that all exchange 5 wavelengths send 20 over the middle of a line that carries 16."""
    light = {"wavelengths_per_tile": 16, "wavelengths_per_fiber": 16, "wavelength_bandwidth": "18.75 GB/s"}
    problem = problem_of(serving("x", 8, model="llama-3.1-70b"), servers=4, tiles=4, fibers=4, **light)
    columns = FiberColumns(problem.cluster)
    assert columns.capacities == ()
    by_block = {demand: columns.needs(demand) for demand in problem.options[0].shapes if demand.block == 4}
    assert {*by_block.values()} == {None, ()}
    assert all(found is not None for demand, found in by_block.items() if lies_on_a_line(demand.plans[0], 16))
    others = [demand for demand in problem.options[0].shapes if demand.block < 4]
    assert all(columns.needs(demand) == () for demand in others)


def test_only_shared_waveguides_of_several_servers_are_scarce() -> None:
    for fabric, is_scarce in (({}, True), ({"waveguides": "dedicated"}, False), ({"servers": 1}, False)):
        cluster = problem_of(serving("x", 2), fibers=1, **fabric).cluster
        assert (plugin_of(cluster.fabric).step_one.scarce(cluster) is not None) == is_scarce
