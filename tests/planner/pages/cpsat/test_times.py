"""Every simulated step obeys every row of the relaxation."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.formulation.linear import Rows
from planner.pages.cpsat.columns import Columns
from planner.pages.cpsat.times import pass_time
from planner.pages.cpsat.windows import Windows
from planner.pages.problem import PageProblem, Pages
from tests.planner.page_cases import problems


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
