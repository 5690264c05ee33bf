"""A changed plan with the objectives it claims, from the claims of the plan it came from."""

from collections.abc import Iterable

from planner.candidates.expand import list_options
from planner.cpsat.evaluate import fragmentation_of
from planner.fabrics import plugin_of
from planner.fabrics.problem import Problem
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
    if name == "fragmentation":
        return fragmentation_of(Problem(instance, ()), kept)
    return _energy(instance, before, kept)


def _energy(instance: Instance, before: Plan, kept: tuple[Assignment, ...]) -> float:
    """Energy of the old plan, less the terms of jobs that changed, plus their new ones."""
    old = {a.job: a.configuration for a in before.assignments}
    new = {a.job: a.configuration for a in kept}
    energy = before.objectives["energy"]
    for job in old.keys() | new.keys():
        if old.get(job) == new.get(job):
            continue
        options = list_options(instance, instance.job(job))
        for sign, configurations in ((-1.0, old), (1.0, new)):
            if job in configurations:
                row = options.row_of(configurations[job])
                energy += sign * float(options.energy[row]) if row is not None else 0.0
    return energy
