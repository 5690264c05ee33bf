"""The outcome of a plan in an operator's words: jobs, value and work beside best fit, power, and the proof after it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Plan
from planner.model.result import Result, Status

LEAST_PERCENT = 0.01
"""to which what is not proven is rounded up"""


@dataclass(frozen=True)
class PlanOutcome:
    """What runs and what that takes; `best_fit`: what best fit runs on the same instance, None where not known."""

    jobs: int
    admitted: int
    power_w: float
    proof: str
    best_fit_admitted: int | None = None
    best_fit_power_w: float | None = None
    more_value: float | None = None
    """share by which the value of the plan, which is what it was chosen for, exceeds that of best fit"""
    more_work: float | None = None
    """the same of work, in which nothing counts less the more of it a job has"""

    @property
    def data(self) -> Mapping[str, Any]:
        """As the page has it."""
        return vars(self)


def outcome_of(instance: Instance, result: Result, best_fit: Plan | None = None) -> PlanOutcome | None:
    """None where there is no plan."""
    if result.plan is None:
        return None
    beside: dict[str, Any] = {}
    if best_fit is not None and (before := work(instance, best_fit)) > 0:
        beside = {
            "best_fit_admitted": len(best_fit.assignments),
            "best_fit_power_w": _power_w(best_fit),
            "more_value": _value(result.plan) / _value(best_fit) - 1,
            "more_work": work(instance, result.plan) / before - 1,
        }
    return PlanOutcome(
        len(instance.all_jobs), len(result.plan.assignments), _power_w(result.plan), proof_of(result), **beside
    )


def work(instance: Instance, plan: Plan) -> float:
    """Speed of each job as a share of its reference, which is its fastest listed one unless it has one of its own, by
    weight; of a step utility whether it pays."""
    jobs = {job.name: job for job in instance.all_jobs}
    return sum(jobs[a.job].weight * _speed_share(jobs[a.job], a.value) for a in plan.assignments if a.job in jobs)


def _speed_share(job: Job, value: float) -> float:
    share = value / job.weight
    return share**2 if job.utility == "sqrt" else share


def _value(plan: Plan) -> float:
    return sum(assignment.value for assignment in plan.assignments)


def _power_w(plan: Plan) -> float:
    return sum(assignment.power_w for assignment in plan.assignments)


def proof_of(result: Result) -> str:
    """proven optimal; value proven optimal, where later objectives are not; at most 3.2 % from the best; not proven."""
    if not result.levels:
        return "not proven"
    first = result.levels[0]
    if all(level.status is Status.OPTIMAL for level in result.levels):
        return "proven optimal"
    if first.status is Status.OPTIMAL:
        return f"{first.objective} proven optimal"
    if first.bound is None or first.gap is None:
        return "not proven"
    return f"{at_most(first.gap)} from the best"


def at_most(gap: float) -> str:
    """A gap, which is a share, in words: at most 3.2 %."""
    return f"at most {max(100 * gap, LEAST_PERCENT):.2g} %"
