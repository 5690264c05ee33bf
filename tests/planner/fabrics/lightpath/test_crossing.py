"""Counts of blocks on a server, against every set of blocks by plain loops."""

from itertools import combinations

import pytest

from costmodel.fabrics import NO_PLAN
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath import crossing
from planner.fabrics.lightpath.crossing import IMPOSSIBLE, least_crossing, most_apart, most_crossing
from tests.planner.cpsat.step1.case import Case, problem_of
from tests.planner.fabrics.demand_cases import SMALL, line, plans_of, shapes
from tests.planner.small_racks import training


def by_loops(demand: Demand, carried: int) -> list[int]:
    """Least wavelengths that leave c blocks where no rank sends or receives more than `carried` across."""
    least = []
    for count in range(demand.num_blocks + 1):
        found = [leaving(demand, blocks, carried) for blocks in combinations(range(demand.num_blocks), count)]
        least.append(min((width for width in found if width != IMPOSSIBLE), default=IMPOSSIBLE))
    return least


def leaving(demand: Demand, blocks: tuple[int, ...], carried: int) -> int:
    most = 0
    for _, circuits in demand.configurations:
        ends: dict[tuple[str, int], int] = {}
        total = 0
        for source, destination, width in circuits:
            here, there = source // demand.block in blocks, destination // demand.block in blocks
            total += width if here and not there else 0
            for end in (("sends", source), ("receives", destination)):
                ends[end] = ends.get(end, 0) + (width if here != there else 0)
        if max(ends.values()) > carried:
            return IMPOSSIBLE
        most = max(most, total)
    return most


@pytest.mark.parametrize("degrees", [degrees for degrees in SMALL if degrees[0] * degrees[1] * degrees[2] < 8])
@pytest.mark.parametrize("carried", [1, 3, 4])
def test_counts_are_those_of_some_set_of_blocks(
    degrees: tuple[int, int, int, int], carried: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The relaxation for many blocks forbids none of them."""
    demands = [*shapes(*degrees, num_plans=2)]
    exact = [by_loops(demand, carried) for demand in demands]
    found = [least_crossing(demand, carried) for demand in demands]
    monkeypatch.setattr(crossing, "MAX_EXACT_BLOCKS", 1)
    for demand, widths, each in zip(demands, exact, found, strict=True):
        limited = [c for c, width in enumerate(widths) if each[c] != width]
        assert not limited or not crossing._light_of_ranks(demand, carried)[0].size
        relaxed = least_crossing.__wrapped__(demand, carried)
        possible = [(width, most) for width, most in zip(relaxed, widths, strict=True) if most != IMPOSSIBLE]
        assert all(IMPOSSIBLE != width <= most for width, most in possible)


@pytest.mark.parametrize("degrees", [degrees for degrees in SMALL if degrees[0] * degrees[1] * degrees[2] < 8])
def test_no_blocks_exchange_more_than_what_is_said(degrees: tuple[int, int, int, int]) -> None:
    """Of any set of blocks, what crosses in each configuration; of one block it is exact where there is but one."""
    for demand in shapes(*degrees, num_plans=2):
        most, blocks = most_crossing(demand), range(demand.num_blocks)
        for count in range(demand.num_blocks + 1):
            crossing = [
                sum(
                    width
                    for _, circuits in demand.configurations
                    for source, destination, width in circuits
                    if (source // demand.block in some) != (destination // demand.block in some)
                )
                for some in combinations(blocks, count)
            ]
            if len({*demand.between_blocks}) == len(demand.configurations):
                assert max(crossing) <= most[count]
                assert count not in (1, demand.num_blocks - 1) or max(crossing) == most[count]


@pytest.mark.parametrize("degrees", [degrees for degrees in SMALL if degrees[0] * degrees[1] * degrees[2] < 8])
def test_most_blocks_without_light_to_some_are_those_of_the_best_set(
    degrees: tuple[int, int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for demand in shapes(*degrees, num_plans=2):
        joined = {
            frozenset((source // demand.block, destination // demand.block))
            for _, circuits in demand.configurations
            for source, destination, _ in circuits
        }
        blocks = {*range(demand.num_blocks)}
        expected = tuple(
            max(
                sum(all(frozenset((a, b)) not in joined for a in some) for b in blocks - {*some})
                for some in combinations(blocks, count)
            )
            for count in range(demand.num_blocks + 1)
        )
        assert most_apart(demand) == expected
        with monkeypatch.context() as patch:
            patch.setattr(crossing, "MAX_EXACT_BLOCKS", 0)
            assert all(most >= exact for most, exact in zip(most_apart(demand), expected, strict=True))


def test_complete_group_parts_where_each_rank_has_the_light() -> None:
    """Eight ranks that reach seven others by one wavelength each, of which fibers carry four: only halves part."""
    exchange = next(plan for plan in plans_of(8) if plan.radices == (8,) and plan.wavelengths == (1,))
    demand = Demand(8, 1, 1, 1, (exchange, NO_PLAN, NO_PLAN))
    assert least_crossing(demand, 4) == (0, -1, -1, -1, 16, -1, -1, -1, 0)
    assert least_crossing(demand, 7) == tuple(demand.boundary)


def test_stage_inside_a_line_has_a_neighbour_beside_it() -> None:
    demand = Demand(1, 3, 1, 1, (NO_PLAN, line(3, 2), NO_PLAN))
    assert least_crossing(demand, 2) == (0, 2, 2, 0)
    assert least_crossing(demand, 1) == (0, IMPOSSIBLE, IMPOSSIBLE, 0)


@pytest.mark.parametrize(("blocks", "solvable"), [({0: 4}, True), ({0: 2, 1: 2}, True), ({0: 3, 1: 1}, False)])
def test_path_parts_no_more_light_of_a_rank_than_fibers_carry(blocks: dict[int, int], solvable: bool) -> None:
    """Four ranks that all exchange with each other by a wavelength, over fibers of two."""
    problem = problem_of(
        training("x", 4, constraints={"collective": "exchange"}),
        fibers=2, wavelengths_per_tile=3, wavelengths_per_fiber=2,
    )  # fmt: skip
    row = next(r for r, s in enumerate(problem.options[0].shapes) if s.tensor == 4 and s.plans[0].radices == (4,))
    case = Case(problem, "path").choose({0: (row,)}).place({0: blocks}, {0: row}).touch({0: blocks})
    assert case.is_solvable() == solvable
