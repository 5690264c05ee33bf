"""The linear relaxation and what is made of it: bounds below every placement, whole pages that fit."""

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.model.page_instance import PageInstance
from planner.pages.cpsat.columns import Columns
from planner.pages.cpsat.linear import Rows
from planner.pages.cpsat.relaxation import relax
from planner.pages.cpsat.times import pass_time
from planner.pages.cpsat.windows import Windows
from planner.pages.heuristics import greedy_keep
from planner.pages.improve import improve
from planner.pages.problem import PageProblem, Pages
from planner.pages.rounding import Shares, whole_pages
from tests.costmodel.dataflow.streams.cases import chain
from tests.oracles.pages import fastest
from tests.planner.page_cases import fields, problem_of, problems, task_of
from tests.planner.pages.cpsat.test_against_brute_force import by_ticks, stretches

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


def _anywhere(problem: PageProblem, generator: np.random.Generator) -> Pages:
    """A placement without regard to what memories hold."""
    (task,) = problem.tasks
    remade = np.zeros(len(task.count), bool)
    for a in generator.permutation(len(task.count)).tolist():
        is_free = task.can_be_remade[a] and not remade[list(task.excluded[a])].any()
        remade[a] = bool(is_free and generator.random() < 0.4)
    stays = generator.choice([0.0, 0.5, 1.0], len(task.count))
    kept = np.rint(stays * task.count).astype(np.int64)
    out = np.where(remade, 0, task.count - kept)
    first = generator.integers(0, out + 1)
    moved = np.column_stack([first, out - first]) if len(task.links) == 2 else out[:, None]
    return Pages(moved, np.where(remade, 0, kept), remade)


def _as_columns(own: Columns, problem: PageProblem, pages: Pages) -> np.ndarray:
    """What the simulated step makes of the columns."""
    (task,), windows, ran = problem.tasks, own.windows, problem.timeline(0, pages)
    again = np.zeros(len(task.program.operators))
    for absence, start_s, end_s in ran.remakes:
        again[task.program.absences[absence].before] += end_s - start_s
    values = np.zeros(own.following)
    starts_s = np.array([0.0, *(ran.starts_s - again)[windows.places[1:-1]], ran.end_s])
    values[own.start] = starts_s / own.longest_s
    values[own.moved], values[own.remade] = pages.moved / task.count[:, None], pages.remade
    for copy in ran.copies:
        share = (copy.end_s - copy.start_s) / own.longest_s
        stretch = int((windows.may_return_in if copy.is_return else windows.leaves_in)[copy.absence])
        if stretch < 0:
            continue
        way = int(copy.is_return)
        values[own.carried[2 * way, stretch + 1 :, copy.link]] += share
        if copy.is_return:
            values[own.carried[1, windows.returns_in[copy.absence] + 1 :, copy.link]] += share
        for place in range(1, len(starts_s) - 1):
            is_early = copy.is_return and stretch >= place and copy.start_s < starts_s[place] - 1e-9
            is_late = not copy.is_return and stretch < place and copy.end_s > starts_s[place] + 1e-9
            if is_early or is_late:
                values[own.outside[way, place, copy.link]] += share
    return values


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(problem=problems(most_layers=9, most_pages=9), seed=st.integers(0, 99), is_fine=st.booleans())
def test_every_simulated_step_obeys_every_row(problem: PageProblem, seed: int, is_fine: bool) -> None:
    pages = _anywhere(problem, np.random.default_rng(seed))
    own = Columns.of(problem.tasks[0], Windows(problem.tasks[0], problem.rules, is_fine), 100.0, 0)
    rows = Rows()
    pass_time(rows, own)
    values = _as_columns(own, problem, pages)
    for columns, entries, (least, most) in zip(rows.columns, rows.entries, rows.limits, strict=True):
        assert least - 1e-9 <= entries @ values[columns] <= most + 1e-9


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


def test_windows_count_what_lies_between_places() -> None:
    program = chain([1] * 6, [1] * 6, [1, 2, 3, 4, 5, 6])
    problem = problem_of(task_of(program, [1.0], 0, may_remake=False), capacity=[None])
    windows = Windows(problem.tasks[0], problem.rules, are_fine=True)
    assert windows.places.tolist() == [*range(-1, 11), 12], "nothing leaves after operator 10 or is needed by 11"
    assert windows.leaves_in.tolist() == [2, 3, 4, 5, 6, 6]
    assert windows.returns_in.tolist() == [10, 9, 8, 7, 6, 6]
    whole = next(each for each in windows if (each.first, each.last) == (0, 12))
    assert (whole.most_bytes, whole.early_bytes, whole.late_bytes) == (42, 0, 0)
    part = next(each for each in windows if (each.first, each.last) == (1, 7))
    assert (part.most_bytes, part.early_bytes, part.late_bytes) == (21 + 11, 11, 6)
    loose = Windows(problem.tasks[0], problem.rules.model_copy(update={"most_leaving": None}), are_fine=True)
    assert next(each for each in loose if (each.first, each.last) == (1, 7)).most_bytes == 11


@settings(max_examples=60, deadline=None)
@given(
    moved=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=3, max_size=3),
    rates=st.tuples(st.sampled_from([1.0, 2.0, 3.0]), st.sampled_from([1.0, 2.0])),
)
def test_whole_pages_are_all_there_and_balanced(moved: list[tuple[int, int]], rates: tuple[float, float]) -> None:
    program = chain([1, 1, 1], [1, 1, 1], [24, 30, 36])
    task = task_of(program, list(rates), 99, may_remake=False)
    shares = np.array(moved) / task.count[:, None]
    pages = whole_pages(task, Shares(shares, np.zeros(3)), is_limited=False)
    assert (pages.moved.sum(axis=1) + pages.kept == task.count).all()
    assert pages.moved.sum(axis=1).tolist() == [sum(pair) for pair in moved]
    wanted = pages.moved.sum() * np.array(rates) / sum(rates)
    assert np.abs(pages.moved.sum(axis=0) - wanted).max() <= 1.0


def test_whole_pages_of_a_tensor_with_a_home_are_there() -> None:
    step = {"kind": "transformer", "model": "bert-base", "micro_batch": 1, "sequence": 128, "layers": 2}
    data = fields(step=step | {"tensors": ["weight", "optimizer"]}) | {"page": "1 MiB"}
    task = PageProblem.of(PageInstance.parse(data)).tasks[0]
    shares = np.random.default_rng(0).uniform(0, 0.5, (len(task.count), 2))
    shares[task.home == np.arange(len(task.count))] = 0.5
    assert task.is_at_home(whole_pages(task, Shares(shares, np.zeros(len(task.count))), is_limited=False))


def test_the_relaxation_is_a_placement_of_one_job() -> None:
    data = fields(local="40 MiB") | {"page": "1 MiB"}
    problem = PageProblem.of(PageInstance.parse(data))
    found = relax(problem, [1.0], 10)
    assert found is not None
    assert found.bound_s <= problem.value_s(found.pages)
