"""What lacks where pages fit nowhere: pages that have to be somewhere at once, against the room for them."""

from collections.abc import Iterator

import numpy as np

from costmodel.wording import counted
from planner.pages.problem import PageProblem, Task


def lacking(problem: PageProblem) -> Iterator[str]:
    """A line for each job that does not fit, or one for all together where each would fit alone."""
    alone = [line for task in problem.tasks if (line := _lack(problem, task)) is not None]
    yield from alone
    needed = sum(_least_at_once(task) for task in problem.tasks)
    may_stay = sum(task.local_pages for task in problem.tasks)
    room = _room(problem, {memory for task in problem.tasks for memory in task.memories})
    if not alone and room is not None and needed > room + may_stay:
        lacks = _pages(problem, needed - room - may_stay)
        yield f"all jobs together lack {lacks}: {_against(problem, needed, may_stay, room)}"


def _lack(problem: PageProblem, task: Task) -> str | None:
    needed, room = _least_at_once(task), _room(problem, {*task.memories})
    if room is None or needed <= room + task.local_pages:
        return None
    largest = int(np.argmax(task.count))
    name = task.program.graph.tensors[task.program.absences[largest].tensor].name
    lacks = _pages(problem, needed - room - task.local_pages)
    told = _against(problem, needed, task.local_pages, room)
    return f"{task.name} lacks {lacks}: {told}; the largest tensor, {name}, has {_pages(problem, task.count[largest])}"


def _against(problem: PageProblem, needed: int, may_stay: int, room: int) -> str:
    places = f"{_pages(problem, may_stay)} may stay and memories within reach hold {_pages(problem, room)}"
    return f"{_pages(problem, needed)} have to be somewhere at once, but {places}"


def _least_at_once(task: Task) -> int:
    """Pages at the fullest place, but for tensors that may be made again."""
    counts = np.where(task.can_be_remade, 0, task.count).astype(np.float64)
    return int((task.is_away_at_peak @ counts).max(initial=0.0))


def _room(problem: PageProblem, memories: set[int]) -> int | None:
    """Pages; None where one of the memories is never full."""
    found = [problem.capacity_pages[memory] for memory in memories]
    return None if None in found else sum(most for most in found if most is not None)


def _pages(problem: PageProblem, count: int) -> str:
    return f"{counted(count, 'page')} ({count * problem.page_bytes / 1e9:.3g} GB)"
