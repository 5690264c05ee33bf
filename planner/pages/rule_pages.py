"""Pages of a plan, recounted: all there, in memories that work and hold them, and the steps as fast as claimed."""

from collections.abc import Iterator, Sequence
from math import ceil, floor

import numpy as np

from costmodel.dataflow.networks.tensor_graph import Absence
from costmodel.dataflow.streams.placement import Placement
from costmodel.dataflow.streams.program import Program
from costmodel.dataflow.streams.simulate import simulate
from planner.model.page_instance import PageInstance
from planner.model.page_plan import JobPages, PagePlan
from planner.model.rank_step import CaseJob, PageCase
from planner.model.violation import Violation

PAGE_RULES = PLACES, AGAIN, HOME, CAPACITY, TIME = "pages", "made again", "home", "capacity", "time"
"""as the section Pages of RULES.md names them"""
EXACT = 1e-9
"""relative, of times and of whole pages"""


def check_pages(instance: PageInstance, plan: PagePlan) -> list[Violation]:
    """Every rule of the section Pages that the plan breaks; empty for a good plan."""
    return list(check_case(instance.case, plan.jobs))


def check_case(case: PageCase, planned_jobs: Sequence[JobPages]) -> Iterator[Violation]:
    """The same for pages of any jobs."""
    plan = {each.job: each for each in planned_jobs}
    planned = [each.job for each in planned_jobs]
    expected = [job.name for job in case.jobs]
    if sorted(planned) != sorted(expected):
        yield Violation(PLACES, "jobs", f"the plan has {', '.join(planned)}; it must have {', '.join(expected)}")
        return
    used = dict.fromkeys(case.capacity_bytes, 0)
    for job in case.jobs:
        found = list(_job_violations(case, job, plan[job.name]))
        yield from found
        if found:
            continue
        for memory, count in _most_at_once(job, plan[job.name]).items():
            used[memory] += count
        yield from _slow(case, job, plan[job.name])
    for name, capacity_bytes in case.capacity_bytes.items():
        if capacity_bytes is None:
            continue
        most = floor(capacity_bytes / case.page_bytes + EXACT)
        if used[name] > most:
            text = f"holds {used[name]} pages where {most} fit"
            yield Violation(CAPACITY, name, text, float(used[name] - most))


def _job_violations(case: PageCase, job: CaseJob, planned: JobPages) -> Iterator[Violation]:
    program = job.program
    tensors = program.graph.tensors
    here = [(tensors[each.tensor].name, each.after) for each in program.absences]
    if here != [(each.tensor, each.after) for each in planned.tensors]:
        yield Violation(PLACES, job.name, "tensors are not those that may leave, in the order in which they do")
        return
    working = {link.name for link in job.links}
    for number, each in enumerate(planned.tensors):
        where = f"{job.name}: {each.tensor} after {each.after}"
        for memory, count in each.pages.items():
            if memory not in working:
                yield Violation(PLACES, where, f"has pages in {memory}, to which no way works")
            if count < 0:
                yield Violation(PLACES, where, f"has {count} pages in {memory}")
        whole = 0 if each.remade else _count(case, program, number)
        if sum(each.pages.values()) + each.kept != whole:
            text = f"has {sum(each.pages.values()) + each.kept} pages placed, not {whole}"
            yield Violation(PLACES, where, text, abs(sum(each.pages.values()) + each.kept - whole))
        if each.remade:
            yield from _wrongly_remade(job, program, planned, number)
    yield from _far_from_home(job, program, planned)
    most, room = _most_kept(program, planned), floor(job.local_bytes / case.page_bytes + EXACT)
    if most > room:
        yield Violation(CAPACITY, job.name, f"keeps {most} pages where {room} may stay", float(most - room))


def _count(case: PageCase, program: Program, number: int) -> int:
    size = program.graph.tensors[program.absences[number].tensor].size_bytes
    return max(1, ceil(size / case.page_bytes - EXACT))


def _wrongly_remade(job: CaseJob, program: Program, planned: JobPages, number: int) -> Iterator[Violation]:
    """What cannot be made again, or is made from what is made again at that time."""
    absence, where = program.absences[number], f"{job.name}: {planned.tensors[number].tensor}"
    if not job.may_remake or absence.remade_by is None or absence.before >= len(program.operators):
        yield Violation(AGAIN, where, "may not be made again")
    for other, each in enumerate(program.absences):
        is_source = each.tensor in absence.remade_from and each.after < absence.before <= each.before
        if is_source and planned.tensors[other].remade:
            yield Violation(AGAIN, where, f"is made again from {planned.tensors[other].tensor}, which is so too")


def _far_from_home(job: CaseJob, program: Program, planned: JobPages) -> Iterator[Violation]:
    """A tensor that the step does not make has at most as many pages anywhere as after its last use."""
    for each, home in zip(planned.tensors, _homes(program), strict=True):
        at_home = each if home is None else planned.tensors[home]
        for memory, count in each.pages.items():
            if count > at_home.pages.get(memory, 0):
                text = f"has more pages in {memory} after operator {each.after} than at home"
                yield Violation(HOME, f"{job.name}: {each.tensor}", text)


def _homes(program: Program) -> list[int | None]:
    """For each absence of a tensor that the step does not make its last one."""
    own: dict[int, list[int]] = {}
    for number, each in enumerate(program.absences):
        own.setdefault(each.tensor, []).append(number)
    found = [own[each.tensor] for each in program.absences]
    return [numbers[-1] if program.absences[numbers[0]].after < 0 else None for numbers in found]


def _places(absence: Absence) -> slice:
    """Places between operators, 0 before the first, at which the tensor is not in use."""
    return slice(absence.after + 1, absence.before + 1)


def _most_kept(program: Program, planned: JobPages) -> int:
    at = np.zeros(len(program.operators) + 1, np.int64)
    for absence, each in zip(program.absences, planned.tensors, strict=True):
        at[_places(absence)] += each.kept
    return int(at.max())


def _most_at_once(job: CaseJob, planned: JobPages) -> dict[str, int]:
    """By memory: pages at home all the time, others as long as the tensor is away."""
    program = job.program
    found = {}
    for link in job.links:
        at = np.zeros(len(program.operators) + 1, np.int64)
        for number, (each, home) in enumerate(zip(planned.tensors, _homes(program), strict=True)):
            if home in (None, number):
                places = _places(program.absences[number]) if home is None else slice(None)
                at[places] += each.pages.get(link.name, 0)
        found[link.name] = int(at.max())
    return found


def _slow(case: PageCase, job: CaseJob, planned: JobPages) -> Iterator[Violation]:
    """Where the simulated step takes another time than the plan claims."""
    program, links = job.program, job.links
    placement = Placement.from_pages(
        program.size_bytes,
        [[each.pages.get(link.name, 0) for link in links] for each in planned.tensors],
        [each.kept for each in planned.tensors],
        [each.remade for each in planned.tensors],
    )
    end_s = simulate(program, links, placement, case.rules).end_s
    if abs(end_s - planned.step_s) > EXACT * max(end_s, planned.step_s):
        text = f"takes {end_s:.9g} s, not the {planned.step_s:.9g} s of the plan"
        yield Violation(TIME, job.name, text, abs(end_s - planned.step_s))
