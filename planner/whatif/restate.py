"""A changed plan with the objectives it claims, from the claims of the plan it came from."""

from collections.abc import Iterable

from planner.candidates.expand import list_options
from planner.cpsat.step1.objectives import OBJECTIVES
from planner.fabrics import plugin_of
from planner.fabrics.problem import Problem
from planner.formulation.objective import SummedObjective
from planner.model.instance import Instance
from planner.model.job import Resident
from planner.model.plan import Assignment, Plan
from planner.model.resident_plan import moved


def restated(instance: Instance, before: Plan, assignments: Iterable[Assignment]) -> Plan:
    """The plan of these assignments, in the order of the instance; no job is scored anew that runs as before."""
    order = {job.name: j for j, job in enumerate(instance.all_jobs)}
    kept = tuple(moved(instance, a) for a in sorted(assignments, key=lambda a: order[a.job]))
    claims = {name: _claim(instance, before, kept, name) for name in before.objectives}
    return Plan(
        instance=instance.name,
        assignments=kept,
        objectives=claims,
        switches=plugin_of(instance.cluster.fabric).switch_setting(instance, kept),
    )


def _claim(instance: Instance, before: Plan, kept: tuple[Assignment, ...], name: str) -> float:
    if name == "value":
        return sum(assignment.value for assignment in kept)
    if name == "moves":
        residents = {job.name: job for job in instance.all_jobs if isinstance(job, Resident)}
        return sum(residents[a.job].move_cost for a in kept if a.is_moved)
    objective = OBJECTIVES[name]
    if isinstance(objective, SummedObjective):
        return _changed(before.objectives[name], objective, instance, before, kept)
    return objective.value(Problem(instance, ()), kept)


def _changed(
    value: float, objective: SummedObjective, instance: Instance, before: Plan, kept: tuple[Assignment, ...]
) -> float:
    """The value of the old plan, less the terms of jobs that changed, plus their new ones; ways that are not listed
    have none."""
    old, new = {a.job: a for a in before.assignments}, {a.job: a for a in kept}
    for job in old.keys() | new.keys():
        ways = [each.get(job) for each in (old, new)]
        if len({None if way is None else way.configuration for way in ways}) == 1:
            continue
        options = list_options(instance, instance.job(job))
        for sign, way in zip((-1.0, 1.0), ways, strict=True):
            if way is not None and options.row_of(way.configuration) is not None:
                value += sign * objective.amount(options, way)
    return value
