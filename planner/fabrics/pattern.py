"""Patterns: the counts of blocks by server that step 1 chose for each job, and plans from them by first fit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.fabrics.free_state import FreeState, MostLit
from planner.fabrics.problem import Problem
from planner.model.plan import Assignment


@dataclass(frozen=True)
class Choice:
    """Step 1's word on one admitted job: candidate row, and blocks by server; or the resident stays."""

    row: int
    stays: bool
    blocks: tuple[tuple[int, int], ...]
    """(server, number of blocks), ascending"""


Pattern = Mapping[int, Choice]
"""Choices by index of the job in `Problem.options`."""


def route_pattern(
    problem: Problem,
    pattern: Pattern,
    most_lit: MostLit | None = None,
    fixed: Mapping[int, Sequence[int]] | None = None,
) -> list[Assignment] | None:
    """Assignments that realise a pattern, job by job; None where first fit finds none in several orders.

    `fixed` gives the server of each block of some jobs.
    """
    staying = [problem.options[j].staying() for j, choice in pattern.items() if choice.stays]
    placed = [j for j, choice in pattern.items() if not choice.stays]
    start = FreeState.empty(problem.cluster, most_lit)
    for assignment in staying:
        start.take_named(assignment)

    def difficulty(j: int) -> tuple[float, ...]:
        return start.difficulty(problem.options[j].shapes[pattern[j].row], pattern[j].blocks)

    order = sorted(placed, key=difficulty, reverse=True)
    for _ in range(start.most_orders):
        free, assignments = start.copy(), list(staying)
        for j in order:
            found = free.assign(problem.options[j], pattern[j].row, pattern[j].blocks, (fixed or {}).get(j))
            if found is None:
                break
            assignments.append(found)
        else:
            return assignments
        if order[0] == j:
            return None
        order.remove(j)
        order.insert(0, j)
    return None
