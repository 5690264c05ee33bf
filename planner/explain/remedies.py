"""What would make a job fit: each offer is one solve of an instance changed in that way."""

from collections.abc import Iterable, Iterator
from itertools import islice

from planner.explain.capacity import has_ways, sizes_phrase
from planner.explain.explanation import Statement
from planner.explain.whatif_solver import WhatIfSolver
from planner.explain.words import in_brackets, pace, servers
from planner.fabrics.free_state import FreeState
from planner.model.edit import failed_parts, pinned, repaired, required
from planner.model.instance import Instance
from planner.model.job import Resident
from planner.model.phrases import accelerators, listed
from planner.model.plan import Assignment, Plan

MAX_MOVES = 12
"""most admitted jobs that are tried as the one that moves"""
MAX_PARTS = 8
"""most failed parts that are tried one by one"""
MAX_TRIED = 12
"""most sizes that are tried"""
MAX_SIZES = 4
"""most sizes that are offered"""


def moves(solver: WhatIfSolver, plan: Plan, name: str) -> Iterator[Statement]:
    """One admitted job that, in its configuration but elsewhere, makes room; the smallest is tried first."""
    instance = solver.instance
    free = FreeState.beside_residents(pinned(instance, plan, name))
    if free.num_free < min(instance.job(name).sizes):
        return
    others = [a for a in plan.assignments if a.job != name and _may_move(instance, a.job)]
    others.sort(key=lambda a: len(a.devices))
    for other in others[:MAX_MOVES]:
        changed = pinned(instance, plan, name, movable=(other.job,))
        answer = solver.answer(changed, fixed=(other.job,), any_plan=True)
        if not answer.is_possible or answer.plan is None:
            continue
        fabric = instance.cluster.fabric
        before, after = servers(fabric, other.devices), servers(fabric, answer.plan[other.job].devices)
        new = [server for server in after if server not in before]
        verb = f"moves to {listed(new)}" if new else f"is rearranged on {listed(after)}"
        at = accelerators(len(answer.plan[name].devices))
        yield Statement(f"fits with {at} if {other.job} {verb}")
        return


def _may_move(instance: Instance, name: str) -> bool:
    job = instance.job(name)
    return not isinstance(job, Resident) or job.movable


def repairs(solver: WhatIfSolver, waiting: Instance, name: str) -> Iterator[Statement]:
    """Failed parts of which one, or all together, let the job fit into an instance in which it does not."""
    parts = failed_parts(waiting)
    if not parts or not solver.answer(repaired(waiting), any_plan=True).is_possible:
        return
    alone = []
    for part in parts[:MAX_PARTS]:
        if solver.answer(repaired(waiting, part), any_plan=True).is_possible:
            alone.append(part)
    if alone:
        yield Statement(f"fits if {listed(alone, 'or')} is repaired")
    else:
        yield Statement(f"fits if {listed(parts) if len(parts) <= 3 else 'the failed parts'} are repaired")


def other_size(solver: WhatIfSolver, waiting: Instance, name: str) -> Iterator[Statement]:
    """The fastest of the few largest sizes that the job does not accept and the free devices would do for."""
    free = FreeState.beside_residents(waiting)
    largest = max(sum(free.any[server] for server in rack) for rack in free.together)
    sizes = tuple(islice(_other_sizes(waiting, name, range(largest, 0, -1)), MAX_SIZES))
    if not sizes:
        return
    answer = solver.answer(required(waiting, name, accelerators=sizes))
    if answer.is_possible and answer.plan is not None:
        found = answer.plan[name]
        speed = in_brackets(_against_fastest(solver, found))
        yield Statement(f"fits with {accelerators(len(found.devices))}{speed}")


def _against_fastest(solver: WhatIfSolver, found: Assignment) -> str:
    """Speed against the fastest configuration that the job accepts, wherever it fits, or the reference of the file."""
    reference = solver.references.get(found.job)
    speed = pace(found.speed, reference.speed) if reference is not None else ""
    of = "fastest" if solver.instance.job(found.job).reference is None else "reference"
    return f"{speed} than its {of}" if speed else ""


def working_sizes(solver: WhatIfSolver, waiting: Instance, name: str) -> Iterator[Statement]:
    """The smallest sizes with which the job could run, among those it does not accept."""
    works = []
    for size in islice(
        _other_sizes(waiting, name, range(1, waiting.cluster.fabric.most_devices_of_a_job + 1)), MAX_TRIED
    ):
        if solver.answer(required(waiting, name, accelerators=size), any_plan=True).is_possible:
            works.append(size)
        if len(works) == MAX_SIZES:
            break
    if works:
        yield Statement(f"fits with {sizes_phrase(works)}")


def _other_sizes(waiting: Instance, name: str, sizes: Iterable[int]) -> Iterator[int]:
    """Those of the sizes that the job does not accept and that have a configuration."""
    job = waiting.job(name)
    return (s for s in sizes if s not in job.sizes and has_ways(waiting, name, s, job.constraints))


def without_constraints(solver: WhatIfSolver, waiting: Instance, name: str) -> Iterator[Statement]:
    """The job without what it insists on: one server, as many on each, or one kind of all-reduce."""
    constraints = waiting.job(name).constraints
    if constraints.collective is not None:
        changed = constraints.model_copy(update={"collective": None})
        answer = solver.answer(required(waiting, name, constraints=changed))
        if answer.is_possible and answer.plan is not None:
            found = answer.plan[name]
            configuration = found.configuration
            used = (configuration.tensor_collective.kind, configuration.data_collective.kind)
            kinds = sorted({kind for kind in used if kind not in ("none", constraints.collective)})
            speed = _against_fastest(solver, found)
            yield Statement(f"fits with {listed(kinds) or 'any collective'}{in_brackets(speed)}")
    for field, free, words in (
        ("one_server", False, "it may span servers"),
        ("servers_by_rack", None, "racks need not give these numbers of servers"),
        ("per_server", None, "its servers need not give as many each"),
    ):
        if not getattr(constraints, field):
            continue
        also = {"servers_by_rack": None} if field == "per_server" else {}
        changed = constraints.model_copy(update={field: free, **also})
        answer = solver.answer(required(waiting, name, constraints=changed))
        if answer.is_possible and answer.plan is not None:
            found = answer.plan[name]
            on = listed(servers(waiting.cluster.fabric, found.devices))
            speed = _against_fastest(solver, found)
            yield Statement(f"fits on {on} if {words}{in_brackets(speed)}")
