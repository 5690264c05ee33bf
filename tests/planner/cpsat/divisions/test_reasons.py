"""Jobs that exclude each other already, against every set of jobs."""

from itertools import combinations
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cpsat.divisions import reasons
from planner.cpsat.divisions.reasons import reasons_of
from planner.cpsat.search import Search
from planner.cpsat.step2.fix_configurations import step_two_limits
from planner.fabrics.pattern import Choice, Pattern
from planner.fabrics.problem import Problem
from planner.formulation.step_two import Realized, StepTwoLimits
from planner.model.clock import Clock
from tests.planner.cpsat.divisions.division_cases import exchanging, problem_of, search_of
from tests.planner.small_racks import serving

NUM_JOBS = 5
LIMIT_S = 60.0


def limits_of(search: Search) -> StepTwoLimits:
    return step_two_limits(search, Clock.of(LIMIT_S))


PROBLEM = problem_of(*(serving(name, 1) for name in "abcde"))
ALL = tuple(range(NUM_JOBS))
SETS = st.sets(st.sets(st.sampled_from(ALL), min_size=1).map(frozenset))


@settings(max_examples=50)
@given(conflicts=SETS, is_short=st.booleans())
def test_reasons_are_refused_and_no_part_of_them_is(conflicts: set[frozenset[int]], is_short: bool) -> None:
    """Where sets of jobs that hold a conflict are refused, with all of them or with few as the no-good."""

    def refuses(problem: Problem, pattern: Pattern, limits: StepTwoLimits) -> Realized:
        held = sorted((each for each in conflicts if each <= pattern.keys()), key=sorted)
        return Realized(()) if not held else Realized(None, tuple(held[0] if is_short else pattern))

    pattern: Pattern = {j: Choice(0, False, ((0, 1),)) for j in ALL}
    with patch.object(reasons, "realize", refuses):
        found = reasons_of(PROBLEM, pattern, ALL, limits_of(search_of(PROBLEM)), Clock.of(LIMIT_S))
    least = {c for c in conflicts if not any(other < c for other in conflicts)}
    alone = {c for c in least if len(c) == 1}
    if alone:
        assert sorted(map(sorted, found)) == sorted(map(sorted, alone))
    else:
        assert len(found) == bool(conflicts)
        assert all(frozenset(each) in least for each in found)


def test_circuits_that_refuse_two_of_three_jobs_together_name_these() -> None:
    """Halves of four ranks that exchange fill the fibers of a pair: two such jobs exclude each other, a third one in a
    server of its own, or any one of them, has nothing to do with it."""
    problem = problem_of(exchanging("a"), exchanging("b"), serving("c", 1), servers=2, tiles_per_server=8)
    rows = [options.rows_by_value()[0] for options in problem.options]
    halves = {j: Choice(rows[j], False, ((0, 2), (1, 2))) for j in (0, 1)}
    pattern: Pattern = {**halves, 2: Choice(rows[2], False, ((0, 1),))}
    found = reasons_of(problem, pattern, (0, 1, 2), limits_of(search_of(problem)), Clock.of(LIMIT_S))
    assert [sorted(each) for each in found] == [[0, 1]]
    for jobs in (jobs for number in (1, 2) for jobs in combinations((0, 1, 2), number) if jobs != (0, 1)):
        assert reasons_of(problem, pattern, jobs, limits_of(search_of(problem)), Clock.of(LIMIT_S)) == []


def test_nothing_is_proven_when_time_is_over() -> None:
    pattern: Pattern = {j: Choice(0, False, ((0, 1),)) for j in ALL}
    assert reasons_of(PROBLEM, pattern, ALL, limits_of(search_of(PROBLEM)), Clock.of(0.0)) == []
