"""Step 2 of jobs over racks."""

from planner.candidates.expand import expand
from planner.checks import check
from planner.cpsat.solve import plan_of
from planner.cpsat.step2.by_rack import ByRack
from planner.fabrics import plugin_of
from planner.fabrics.pattern import Choice, Pattern
from planner.fabrics.problem import Problem
from planner.formulation.step_two import Realized, StepTwoLimits
from tests.planner.fabrics.joined_racks.racks import SWITCHES, racks

LIMITS = StepTwoLimits(time_limit_s=60.0, deterministic_limit=5.0, workers=1, seed=0)


def _pattern(problem: Problem) -> Pattern:
    """A job of eight in racks 0 and 2, one of four in rack 1."""
    first, second = problem.options
    rows = [row for row, demand in enumerate(first.shapes) if demand.racks == 2 and demand.block == 2]
    row = min(rows, key=lambda row: int(first.shapes[row].boundary.max()))
    alone = [row for row, demand in enumerate(second.shapes) if demand.racks == 1 and demand.block == 2]
    least = min(alone, key=lambda row: int(second.shapes[row].boundary.max()))
    spread = Choice(row, False, ((0, 1), (1, 1), (4, 1), (5, 1)))
    return {0: spread, 1: Choice(least, False, ((2, 1), (3, 1)))}


def test_parts_are_realised_apart_and_joined() -> None:
    problem = expand(racks(SWITCHES, 8, 4), prune=False)
    parts = ByRack.of(problem, _pattern(problem))
    assert [*parts.pattern] == [2, 3, 1]
    assert parts.owners == [0, 0]
    step_two = plugin_of(problem.cluster.fabric).step_two
    found = parts.joined(step_two.realize(parts.problem, parts.pattern, LIMITS), LIMITS)
    assert found.assignments is not None
    plan = plan_of(problem, found.assignments)
    assert check(problem.instance, plan, starts=True) == []
    assert plan["j0"].devices[4].startswith("r2.")


def test_what_parts_refute_the_whole_jobs_do() -> None:
    problem = expand(racks(SWITCHES, 8, 4), prune=False)
    parts = ByRack.of(problem, _pattern(problem))
    assert parts.joined(Realized(nogood=(2, 3, 1)), LIMITS).nogood == (0, 1)
    assert parts.joined(Realized(), LIMITS).is_undecided


def test_nothing_changes_where_no_job_spans_racks() -> None:
    problem = expand(racks(SWITCHES, 8, 4), prune=False)
    pattern = {1: _pattern(problem)[1]}
    assert ByRack.of(problem, pattern).problem is problem
