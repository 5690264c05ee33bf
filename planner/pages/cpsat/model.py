"""All jobs of a page problem as one model: their steps, the memories that they share, the weighted time."""

from collections.abc import Callable, Sequence
from math import ceil, floor

from ortools.sat.python import cp_model

from planner.pages.cpsat.step import StepModel
from planner.pages.cpsat.ticks import Ticks, serial_s
from planner.pages.cpsat.variables import Linear, PageVariables, most_behind, page_variables
from planner.pages.problem import PageProblem, Pages, Task

TICKS = 2**26
"""of the longest step"""
WEIGHT_STEPS = 10_000
"""of the largest weight, where weights are not whole"""


class PageModel:
    """The model; smaller objectives are better, in ticks times steps of weight."""

    def __init__(self, problem: PageProblem, longest_s: float | None) -> None:
        """`longest_s`: of the steps of a known placement."""
        longest_s = max(serial_s(task) for task in problem.tasks) if longest_s is None else longest_s
        self.problem, self.tick_s = problem, longest_s / TICKS
        self.cp = cp_model.CpModel()
        self.variables: list[PageVariables] = [page_variables(self.cp, task) for task in problem.tasks]
        self._share_memories()
        weights = [task.weight for task in problem.tasks]
        is_whole = all(weight == floor(weight) for weight in weights) and max(weights) <= WEIGHT_STEPS
        self.weight_steps = 1.0 if is_whole else WEIGHT_STEPS / max(weights)
        pairs = list(zip(problem.tasks, self.variables, strict=True))
        steps = [self._step(task, variables) for task, variables in pairs]
        self.is_exact = all(step.is_exact for step in steps)
        total = sum(floor(weight * self.weight_steps) * step.end for weight, step in zip(weights, steps, strict=True))
        self.value: Linear = total
        self.cp.minimize(total)

    def _step(self, task: Task, variables: PageVariables) -> StepModel:
        return StepModel(self.cp, Ticks(task, self.tick_s), variables, self.problem.rules)

    def _share_memories(self) -> None:
        """No memory holds more than its capacity, whoever's pages they are."""
        for memory, capacity in enumerate(self.problem.capacity_pages):
            if capacity is not None:
                used = [
                    most_behind(self.cp, task, variables, link)
                    for task, variables in zip(self.problem.tasks, self.variables, strict=True)
                    for link, leads_to in enumerate(task.memories)
                    if leads_to == memory
                ]
                self.cp.add(sum(used) <= capacity)

    def require_at_most(self, value_s: float) -> None:
        """No worse than a known placement."""
        self.cp.add(self.value <= ceil(value_s / self.tick_s * self.weight_steps) + 1)

    def seconds(self, objective: float) -> float:
        return objective * self.tick_s / self.weight_steps

    def hint(self, placed: Sequence[Pages]) -> None:
        for variables, pages in zip(self.variables, placed, strict=True):
            variables.hint(self.cp, pages)

    def read(self, value: Callable[[Linear], float]) -> list[Pages]:
        return [variables.read(value) for variables in self.variables]
