"""Problems of edited instances whose values compare with those of the instance that was edited."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from planner.candidates.expand import expand, list_options
from planner.candidates.listing import Listings
from planner.fabrics.problem import JobOptions, Problem
from planner.model.edit import edited
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.job import Job, Reference
from planner.model.plan import Plan

JobT = TypeVar("JobT", bound=Job)


def require_scored_steps(asked: str, instance: Instance) -> None:
    """InputError where steps are those of placed pages, which what `asked` names does not search."""
    if instance.placed_steps:
        remedy = f"{asked} prices steps by their scores alone; solve the changed instance anew, or leave this field out"
        raise InputError(instance.name, "placed_steps", remedy)


def references(instance: Instance) -> dict[str, Reference]:
    """References of the value and energy of each job; jobs without any candidate are left out."""
    listings = Listings(instance.cluster, instance.all_jobs)
    listed = [list_options(instance, job, listings) for job in instance.all_jobs]
    return {options.job.name: options.reference for options in listed if len(options)}


def measured_against(instance: Instance, given: Mapping[str, Reference]) -> Instance:
    """The instance whose jobs are measured against given references, by name; others as before.

    Another fabric may bring a faster candidate, and against that one every slower candidate would lose value
    although nothing became worse. With the references of the original instance, values and energies of the two
    compare; a candidate faster than all original ones is worth more than its weight.
    """

    def of(job: JobT) -> JobT:
        return edited(job, reference=given[job.name]) if job.name in given else job

    return edited(instance, jobs=tuple(map(of, instance.jobs)), residents=tuple(map(of, instance.residents)))


def expand_as(instance: Instance, given: Mapping[str, Reference], *, fixed: Collection[str] = ()) -> Problem:
    """Candidates of a derived instance, measured against given references.

    Jobs that must stay, and residents in `fixed`, list their current configuration only.
    """
    problem = expand(measured_against(instance, given))
    return replace(problem, options=tuple(_narrowed(options, fixed) for options in problem.options))


def _narrowed(options: JobOptions, fixed: Collection[str]) -> JobOptions:
    if options.current is None or not (options.must_stay or options.job.name in fixed):
        return options
    return options.take(np.array([options.current], dtype=np.int64))


def rehinted(problem: Problem, plan: Plan) -> Plan | None:
    """The plan as a start for another problem, its values those of that problem.

    None where a configuration of the plan is not listed there.
    """
    by_name = {options.job.name: options for options in problem.options}
    assignments = []
    for old in plan.assignments:
        options = by_name.get(old.job)
        row = options.row_of(old.configuration) if options is not None else None
        if options is None or row is None:
            return None
        assignments.append(options.assignment(row, old.devices, old.circuits, upper=old.upper))
    return Plan(instance=problem.instance.name, assignments=tuple(assignments))
