"""The linear relaxation and what is made of it: bounds below every placement, whole pages that fit."""

import itertools
import math
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.model.page_instance import PageInstance
from planner.pages.cpsat.relaxation import relax
from planner.pages.heuristics import greedy_keep
from planner.pages.improve import improve
from planner.pages.problem import PageProblem
from tests.costmodel.dataflow.streams.cases import chain
from tests.oracles.pages import fastest
from tests.planner.page_cases import fields, problem_of, problems, task_of
from tests.planner.pages.cpsat.against_brute_force_cases import by_ticks, stretches

EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
NEVER_S = 1e4
CHANGES = 1000
"""that are tried before a placement is compared with a bound"""


@pytest.mark.slow
@EXAMPLES
@given(problem=problems(), is_fine=st.booleans())
def test_no_placement_is_faster_than_the_bound(problem: PageProblem, is_fine: bool) -> None:
    (task,) = problem.tasks
    capacity = list(problem.capacity_pages)
    best = fastest(
        stretches(task), len(task.links), task.local_pages, capacity, lambda chosen: by_ticks(problem, chosen)
    )
    found = relax(problem, [NEVER_S], 10, is_fine=is_fine)
    if best is None or found is None:
        return
    assert found.bound_s <= best * (1 + 1e-9) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("is_fine", [False, True])
def test_the_bound_holds_where_tensors_have_a_home(is_fine: bool) -> None:
    kinds = ["activation", "weight", "gradient", "optimizer"]
    step = {"kind": "transformer", "model": "bert-base", "micro_batch": 8, "sequence": 512, "layers": 3}
    data = fields(step=step | {"tensors": kinds}, local="40 MiB")
    problem = PageProblem.of(PageInstance.parse(data))
    placed = greedy_keep(problem)
    assert placed is not None
    tried = itertools.count()
    better = improve(problem, placed, math.inf, random.Random(0), lambda *_: None, lambda: next(tried) == CHANGES)
    value_s = problem.value_s(better)
    found = relax(problem, [value_s], 10, is_fine=is_fine)
    assert found is not None
    assert 0.8 * value_s <= found.bound_s <= value_s


def test_a_queue_of_copies_binds_where_their_sum_does_not() -> None:
    """Ten operators of a second, each of whose tensors takes two to leave; backward is long enough to hide the way back
    of all but the first."""
    program = chain([1] * 10, [9] * 10, [2] * 10)
    task = task_of(program, [1.0], 0, may_remake=False)
    problem = problem_of(task, capacity=[None])
    (placed,) = greedy_keep(problem) or []
    value_s = problem.step_s(0, placed)
    coarse, fine = (relax(problem, [value_s], 10, is_fine=is_fine) for is_fine in (False, True))
    assert coarse is not None
    assert fine is not None
    operators_s = float(program.operator_s.sum())
    assert operators_s + 10 < coarse.bound_s <= fine.bound_s <= value_s


def test_the_relaxation_is_a_placement_of_one_job() -> None:
    data = fields(local="40 MiB") | {"page": "1 MiB"}
    problem = PageProblem.of(PageInstance.parse(data))
    found = relax(problem, [1.0], 10)
    assert found is not None
    assert found.bound_s <= problem.value_s(found.pages)
