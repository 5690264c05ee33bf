"""Rows that stand on an empty cluster, and jobs scattered over servers where light inside a server is short."""

from typing import Any

from planner import check
from planner.candidates.expand import expand
from planner.cpsat.solve import plan_of
from planner.fabrics.free_state import FreeState
from planner.fabrics.problem import Problem
from planner.heuristics.ruin_recreate import Effort, recreated
from planner.heuristics.standing import Standing
from planner.model.clock import Clock
from planner.model.instance import Instance
from tests.planner.small_racks import rack, serving

FOREVER, OVER = Clock(float("inf")), Clock(float("-inf"))
LINE: dict[str, Any] = {
    "tile_rows": 1, "waveguides": "shared", "wavelengths_per_tile": 16, "wavelengths_per_fiber": 16,
    "wavelength_bandwidth": "18.75 GB/s",
}  # fmt: skip


def four_ranks(**fabric: int) -> Problem:
    """One job of four ranks beside three lines of four tiles: 5 wavelengths for each pair are 20 over the middle of a
    line, and 16 pass there; ranks at the fibers of several lines send most of it over these."""
    job = serving("x", 4, model="llama-3.1-70b")
    return expand(Instance.parse(rack(job, servers=3, tiles=4, **LINE | {"fibers": 2} | fabric)))


def widest(problem: Problem) -> int:
    """The row with 5 wavelengths from each of four ranks to each other one."""
    rows = problem.options[0].shapes
    alike = (("radix", (4,), (5,)),)
    return next(
        row
        for row, demand in enumerate(rows)
        if tuple((plan.kind, plan.radices, plan.wavelengths) for plan in demand.plans if plan.ranks > 1) == alike
        and demand.num_blocks == 4
    )


def test_a_row_stands_that_no_server_holds_alone() -> None:
    problem = four_ranks()
    row, options = widest(problem), problem.options[0]
    assert FreeState.empty(problem.cluster).assign(options, row, [(0, 4)]) is None
    assert Standing.of(problem).allows(options, row, FOREVER)
    assert Standing.of(problem) is Standing.of(problem)


def test_a_row_without_fibers_does_not_stand_and_is_not_asked_for_late() -> None:
    problem = four_ranks(fibers=0)
    row, options = widest(problem), problem.options[0]
    standing = Standing.of(problem)
    assert standing.allows(options, row, OVER)
    assert not standing.allows(options, row, FOREVER)
    assert not standing.allows(options, row, OVER)


def test_asking_takes_nothing() -> None:
    problem = four_ranks()
    options, standing = problem.options[0], Standing.of(problem)
    first = [standing.allows(options, row, FOREVER) for row in range(len(options))]
    again = Standing(problem)
    assert first == [again.allows(options, row, FOREVER) for row in reversed(range(len(options)))][::-1]


def test_a_job_goes_to_the_fibers_where_that_is_worth_more() -> None:
    problem = four_ranks()
    options, free = problem.options[0], FreeState.empty(problem.cluster)
    rows = options.rows_by_value()
    inside = next(found for row in rows if (found := free.assign(options, row, [(0, 4)])) is not None)
    *_, plan = recreated(problem, [inside], 0, Effort(FOREVER, rounds=30, patience=30), float("inf"))
    assert plan[0].value > inside.value
    assert len({name.split(".")[0] for name in plan[0].devices}) > 1
    assert check(problem.instance, plan_of(problem, plan)) == []


def test_nothing_is_tried_once_the_clock_is_over() -> None:
    problem = four_ranks()
    assert list(recreated(problem, [], 0, Effort(OVER, rounds=5, patience=5), float("inf"))) == []
