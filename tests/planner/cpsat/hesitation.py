"""Step 2 that neither realises nor refutes choices when it is first asked for them, as if its time were over."""

from collections.abc import Callable
from dataclasses import dataclass, field

from planner.cpsat.step2.realize import realize
from planner.fabrics.pattern import Pattern, route_pattern
from planner.fabrics.problem import Problem
from planner.formulation.nogood import MostLit
from planner.formulation.step_two import Realized, StepTwoLimits


@dataclass
class Hesitation:
    """Stands for `realize`: choices that first fit does not route take a second question."""

    asked: list[object] = field(default_factory=list)
    also: Callable[[Pattern], bool] = lambda pattern: False
    """whether it hesitates over others, too"""

    def __call__(
        self, problem: Problem, pattern: Pattern, limits: StepTwoLimits, most_lit: MostLit | None = None
    ) -> Realized:
        rows = {j: problem.options[j].candidates.configuration(choice.row) for j, choice in pattern.items()}
        choices = {j: (rows[j], choice.stays, choice.blocks) for j, choice in pattern.items()}
        is_hard = self.also(pattern) or route_pattern(problem, pattern, most_lit) is None
        if is_hard and choices not in self.asked:
            self.asked.append(choices)
            return Realized()
        return realize(problem, pattern, limits, most_lit)
