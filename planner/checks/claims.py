"""The claims of a plan about itself."""

from collections.abc import Iterator
from math import isclose

from planner.checks.judged import judged
from planner.checks.moved import movers
from planner.checks.names import admitted
from planner.checks.objectives import OBJECTIVES, fragmentation_between, worths
from planner.checks.pricing import Price
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Assignment, Plan
from planner.model.violation import Violation

TOLERANCE = 1e-6
"""relative difference of a claim"""
SUM_TOLERANCE = 1e-10
"""of a sum over jobs, in which a small one must not be lost beside large ones"""

CLAIMED = ("speed", "step_s", "energy_per_work", "power_w")
"""what an assignment repeats of its price"""


def check_claims(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Instance, scores and values of jobs, and objectives, are what they are recomputed to be."""
    if plan.instance != instance.name:
        yield Violation("claims", "instance", f"the plan is for '{plan.instance}', not '{instance.name}'")
    is_priced = True
    moved = movers(instance, plan)
    found = zip(admitted(instance, plan), judged(instance, plan), worths(instance, plan), strict=True)
    for (job, assignment), of_model, worth in found:
        yield from _check_assignment(job, assignment, of_model.price, worth, is_moved=job.name in moved)
        is_priced = is_priced and worth is not None
    for name, claimed in plan.objectives.items():
        if name not in OBJECTIVES:
            yield Violation("claims", name, f"there is no objective '{name}'")
        elif name == "fragmentation":
            least, most = fragmentation_between(instance, plan)
            yield from _compare(name, claimed, min(max(claimed, least), most))
        elif is_priced or name not in ("value", "energy"):
            yield from _compare(name, claimed, OBJECTIVES[name](instance, plan), SUM_TOLERANCE)


def _check_assignment(
    job: Job, assignment: Assignment, priced: Price | None, worth: float | None, *, is_moved: bool
) -> Iterator[Violation]:
    if assignment.is_moved != is_moved:
        message = f"{job.name}: is_moved should be {str(is_moved).lower()}"
        yield Violation("claims", f"{job.name}: is_moved", message)
    if priced is None:
        return
    for name in CLAIMED:
        claimed, actual = getattr(assignment, name), getattr(priced, name)
        if claimed != actual:
            yield from _compare(f"{job.name}: {name}", claimed, actual)
    if worth is not None and worth != assignment.value:
        yield from _compare(f"{job.name}: value", assignment.value, worth)


def _compare(where: str, claimed: float, actual: float, tolerance: float = TOLERANCE) -> Iterator[Violation]:
    if not isclose(claimed, actual, rel_tol=tolerance, abs_tol=1e-12):
        yield Violation("claims", where, f"{where} is {actual:.13g}, not {claimed:.13g}", abs(claimed - actual))
