"""What a plan would lose by admitting a job."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from planner.derive import expand_as, required, with_objectives
from planner.explain.ask import Asker
from planner.explain.explanation import Statement
from planner.explain.words import accelerators, amount, listed
from planner.plan import Plan
from planner.result import Status

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
    def phrase(self) -> str | None:
        """3.1 of value; None where nothing is known."""
        if self.at_most is None:
            return None
        if self.at_least == self.at_most:
            if amount(self.at_most) == "0":
                return f"no {self.objective}"
            return f"{amount(self.at_most)} of {self.objective}"
        if self.at_least is None or self.at_least <= 0:
            return f"at most {amount(self.at_most)} of {self.objective}"
        return f"between {amount(self.at_least)} and {amount(self.at_most)} of {self.objective}"


def cost_of(asker: Asker, plan: Plan, name: str, **changes: Any) -> Cost:
    """Solve once more with the job required, and fields of it changed, and compare with the plan."""
    objective = asker.instance.objectives[0].name
    if asker.is_late:
        return Cost(objective)
    changed = with_objectives(required(asker.instance, name, **changes), objective)
    result = asker.solve(expand_as(changed, asker.speeds), share=SHARE)
    base = plan.objectives.get(objective)
    if result.plan is None:
        return Cost(objective, is_possible=False if result.status is Status.INFEASIBLE else None)
    level = result.levels[0]
    if base is None or level.value is None:
        return Cost(objective, plan=result.plan, is_possible=True)
    sign = 1.0 if objective == "value" else -1.0
    at_most = sign * (base - level.value)
    at_least = None if level.bound is None else sign * (base - level.bound)
    if level.status is Status.OPTIMAL:
        at_least = at_most
    return Cost(objective, at_least, at_most, result.plan, is_possible=True)


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
