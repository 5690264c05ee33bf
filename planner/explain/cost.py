"""What a plan would lose by admitting a job."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from planner.explain.explanation import Statement
from planner.explain.whatif_solver import WhatIfSolver
from planner.explain.words import amount
from planner.model.edit import required, with_objectives
from planner.model.instance import ObjectiveName
from planner.model.phrases import accelerators, listed
from planner.model.plan import Plan
from planner.model.result import BOUND_NOISE, Level, Status, difference
from planner.whatif.comparable import expand_as

SHARE = 0.3
"""share of the whole time limit"""
MAX_NAMED = 4
"""most changed jobs that a sentence names"""


@dataclass(frozen=True)
class Cost:
    """Loss in the first objective against a plan, at least and at most; None where no bound is known.

    `plan` is the best plan found in which the job runs, `is_possible` whether there is one at all.
    """

    objective: str
    at_least: float | None = None
    at_most: float | None = None
    plan: Plan | None = None
    is_possible: bool | None = None

    @property
    def is_nothing(self) -> bool:
        """Whether it surely costs nothing, and gains nothing either."""
        return self.at_most is not None and self.at_least == self.at_most and amount(self.at_most) == "0"

    @property
    def phrase(self) -> str | None:
        """3.1 of value; None where nothing is known."""
        if self.at_most is None:
            return None
        if self.at_least == self.at_most:
            how_much = "no" if self.is_nothing else f"{amount(self.at_most)} of"
            return f"{how_much} {self.objective}"
        if self.at_least is None or self.at_least <= 0:
            return f"at most {amount(self.at_most)} of {self.objective}"
        return f"between {amount(self.at_least)} and {amount(self.at_most)} of {self.objective}"


def cost_of(solver: WhatIfSolver, plan: Plan, name: str, **changes: Any) -> Cost:
    """Solve once more with the job required, and fields of it changed, and compare with the plan.

    Compared are the first objective of the instance, then value: the first one that changes is the cost.
    """
    first = solver.instance.objectives[0].name
    names: tuple[ObjectiveName, ...] = ("value",) if first == "value" else (first, "value")
    if solver.is_late:
        return Cost(first)
    changed = with_objectives(required(solver.instance, name, **changes), *names)
    result = solver.solve(expand_as(changed, solver.references), share=SHARE)
    if result.plan is None:
        return Cost(first, is_possible=False if result.status is Status.INFEASIBLE else None)
    costs = [_of_level(level, plan.objectives.get(level.objective), result.plan) for level in result.levels]
    return next((cost for cost in costs if not cost.is_nothing), costs[-1])


def _of_level(level: Level, base: float | None, found: Plan) -> Cost:
    """Loss in one objective: the value found bounds it above, the bound below."""
    if base is None or level.value is None:
        return Cost(level.objective, plan=found, is_possible=True)
    sign = 1.0 if level.objective == "value" else -1.0
    at_most = sign * difference(base, level.value)
    at_least = None if level.bound is None else sign * difference(base, level.bound, BOUND_NOISE)
    if level.status is Status.OPTIMAL:
        at_least = at_most
    return Cost(level.objective, at_least, at_most, found, is_possible=True)


def what_gives(plan: Plan, other: Plan, name: str) -> Iterator[Statement]:
    """Who leaves, and who changes size, where the other plan takes the place of the first."""
    out = [a.job for a in plan.assignments if a.job not in other.admitted]
    sizes = {a.job: len(a.devices) for a in plan.assignments}
    resized = [
        f"{a.job} runs with {accelerators(len(a.devices))} instead of {sizes[a.job]}"
        for a in other.assignments
        if a.job != name and sizes.get(a.job, len(a.devices)) != len(a.devices)
    ]
    changes = [f"{_some(out)} {'is' if len(out) == 1 else 'are'} left out"] if out else []
    changes += resized[:MAX_NAMED]
    if changes:
        yield Statement(f"in the best plan found with {name}, {listed(changes)}")


def _some(names: list[str]) -> str:
    if len(names) <= MAX_NAMED:
        return listed(names)
    return f"{', '.join(names[:MAX_NAMED])} and {len(names) - MAX_NAMED} more"
