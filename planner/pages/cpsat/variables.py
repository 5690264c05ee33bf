"""Decisions of one job as variables: pages behind each link, pages that stay, tensors that are made again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from ortools.sat.python import cp_model

from planner.pages.problem import Pages, Task

Literal = cp_model.IntVar
Linear = cp_model.LinearExpr | int


@dataclass(frozen=True)
class PageVariables:
    """Lists by absence, then by link."""

    pages: list[list[cp_model.IntVar]]
    kept: list[cp_model.IntVar]
    remade: list[Literal]
    on_link: list[list[cp_model.IntVar]]
    """whether a page is behind the link"""
    moves: list[cp_model.IntVar]
    """whether a page is behind any link"""

    def hint(self, cp: cp_model.CpModel, pages: Pages) -> None:
        for a, row in enumerate(self.pages):
            for link, variable in enumerate(row):
                count = int(pages.moved[a, link])
                cp.add_hint(variable, count)
                cp.add_hint(self.on_link[a][link], count > 0)
            cp.add_hint(self.kept[a], int(pages.kept[a]))
            cp.add_hint(self.moves[a], bool(pages.moved[a].any()))
            cp.add_hint(self.remade[a], bool(pages.remade[a]))

    def read(self, value: Callable[[Linear], float]) -> Pages:
        """Decisions of a solution; those of a relaxation may be fractions."""
        moved = np.array([[value(x) for x in row] for row in self.pages]).reshape(len(self.kept), -1)
        remade = np.array([value(r) for r in self.remade], np.float64) > 0.5
        return Pages(np.rint(moved).astype(np.int64), np.rint([value(k) for k in self.kept]).astype(np.int64), remade)


def page_variables(cp: cp_model.CpModel, task: Task) -> PageVariables:
    """Every page is somewhere, nothing is made from what is made again, local memory holds what stays."""
    absences, links = range(len(task.count)), range(len(task.links))
    count: list[int] = task.count.tolist()
    made = PageVariables(
        [[cp.new_int_var(0, count[a], "") for _ in links] for a in absences],
        [cp.new_int_var(0, min(count[a], task.local_pages), "") for a in absences],
        [cp.new_int_var(0, int(can), "") for can in task.can_be_remade.tolist()],
        [[cp.new_bool_var("") for _ in links] for _ in absences],
        [cp.new_bool_var("") for _ in absences],
    )
    for a in absences:
        cp.add(sum(made.pages[a]) + made.kept[a] + count[a] * made.remade[a] == count[a])
        for pages, is_there in zip(made.pages[a], made.on_link[a], strict=True):
            cp.add(pages <= count[a] * is_there)
            cp.add(pages >= is_there)
            cp.add(is_there <= made.moves[a])
        cp.add(sum(made.on_link[a]) >= made.moves[a])
        cp.add(count[a] * (made.moves[a] + made.remade[a]) + made.kept[a] >= count[a])
        for source in task.program.remade_from[a]:
            if task.can_be_remade[a] and task.can_be_remade[source]:
                cp.add(made.remade[a] + made.remade[source] <= 1)
        if (home := int(task.home[a])) not in (-1, a):
            for pages, at_home in zip(made.pages[a], made.pages[home], strict=True):
                cp.add(pages <= at_home)
    for peak in task.local_peaks:
        cp.add(sum(made.kept[a] for a in peak) <= task.local_pages)
    return made


def most_behind(cp: cp_model.CpModel, task: Task, variables: PageVariables, link: int) -> Linear:
    """Most pages of a job behind one link at any place of its step."""
    peaks: Sequence[Sequence[int]] = task.away_peaks
    sums = [sum(variables.pages[a][link] for a in peak) for peak in peaks]
    if len(sums) < 2:
        return sums[0] if sums else 0
    most = cp.new_int_var(0, int(task.count.sum()), "")
    for each in sums:
        cp.add(most >= each)
    return most
