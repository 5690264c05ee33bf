"""Rules and random changes: what they place, that it fits, and that changes never slow a step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.model.page_instance import PageInstance
from planner.pages.heuristics import all_local, bw_aware, greedy_keep, proportional, split, units
from planner.pages.problem import PageProblem
from tests.planner.page_cases import fields, problem_of, task_of
from tests.planner.pages.heuristics_cases import PROGRAM


@given(count=st.integers(0, 999), shares=st.lists(st.floats(0.01, 1e12), min_size=1, max_size=5))
def test_a_split_is_whole_and_nearly_in_proportion(count: int, shares: list[float]) -> None:
    found = split(count, shares)
    assert found.sum() == count
    assert found == pytest.approx(np.array(shares) / sum(shares) * count, abs=1.0)


def test_rules_divide_as_they_say() -> None:
    problem = problem_of(task_of(PROGRAM, [2.0, 1.0], 3, may_remake=False), capacity=[None, None])
    for rule, moved in (
        (all_local, [[6, 0], [4, 0], [2, 0]]),
        (bw_aware, [[3, 3], [2, 2], [1, 1]]),
        (proportional, [[4, 2], [3, 1], [1, 1]]),
    ):
        placed = rule(problem)
        assert placed is not None
        assert placed[0].moved.tolist() == moved
    kept = greedy_keep(problem)
    assert kept is not None
    assert kept[0].kept.tolist() == [0, 3, 0], "of those that leave last, the first to need room"


def test_what_finds_no_room_goes_another_way_then_stays_then_is_made_again() -> None:
    task = task_of(PROGRAM, [2.0, 1.0], 1, may_remake=True)
    placed = bw_aware(problem_of(task, capacity=[4, 5]))
    assert placed is not None
    assert placed[0].moved.tolist() == [[3, 3], [0, 0], [1, 1]] or placed[0].moved.sum() <= 9
    assert placed[0].remade.any()
    assert bw_aware(problem_of(task_of(PROGRAM, [2.0], 1, may_remake=False), capacity=[4])) is None


def test_absences_of_weights_are_placed_alike() -> None:
    step = {"kind": "transformer", "model": "bert-base", "micro_batch": 1, "sequence": 128, "tensors": ["weight"]}
    problem = PageProblem.of(PageInstance.parse(fields(step=step)))
    (task,) = problem.tasks
    assert sorted(a for rows in units(task) for a in rows) == list(range(len(task.count)))
    assert {len(rows) for rows in units(task)} == {4}
