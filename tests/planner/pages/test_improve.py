"""Changes of a placement fit, and never slow a step."""

import random
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.pages.heuristics import proportional
from planner.pages.improve import improve, repaired
from planner.pages.problem import PageProblem, Pages
from tests.planner.page_cases import problem_of, problems, task_of
from tests.planner.pages.heuristics_cases import PROGRAM


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(problem=problems(most_layers=6, most_pages=9), seed=st.integers(0, 9))
def test_changes_fit_and_never_slow_a_step(problem: PageProblem, seed: int) -> None:
    placed = proportional(problem)
    if placed is None:
        return
    seen: list[float] = []
    found = improve(
        problem, placed, time.perf_counter() + 0.2, random.Random(seed), lambda _, value: seen.append(value), bool
    )
    assert problem.fits(found)
    assert problem.value_s(found) <= problem.value_s(placed)
    assert seen == sorted(seen, reverse=True)
    (task,) = problem.tasks
    total = found[0].moved.sum(axis=1) + found[0].kept
    assert (total == np.where(found[0].remade, 0, task.count)).all()
    assert not any(found[0].remade[a] and found[0].remade[list(task.excluded[a])].any() for a in range(len(task.count)))


def test_what_is_too_much_goes_out() -> None:
    problem = problem_of(task_of(PROGRAM, [2.0, 1.0], 5, may_remake=True), capacity=[None, None])
    nothing = np.zeros((3, 2), np.int64)
    found = repaired(problem, [Pages(nothing, np.array([6, 4, 2]), np.zeros(3, bool))])
    assert found is not None
    assert found[0].kept.tolist() == [5, 0, 0]
    assert found[0].moved.sum(axis=1).tolist() == [1, 4, 2]
