"""What would make a job fit: each offer is one solve of an instance changed in that way."""

from collections.abc import Iterator

from planner.derive import failed_parts, pinned, repaired, required
from planner.expand import list_options
from planner.explain.ask import Asker
from planner.explain.explanation import Statement
from planner.explain.room import sizes_phrase
from planner.explain.words import accelerators, in_brackets, listed, pace, servers
from planner.instance import Instance, JobConstraints, Resident
from planner.plan import Plan

MAX_MOVES = 12
"""most admitted jobs that are tried as the one that moves"""
MAX_PARTS = 8
"""most failed parts that are tried one by one"""
MAX_SIZES = 4
"""most sizes that are offered"""


def moves(asker: Asker, plan: Plan, name: str) -> Iterator[Statement]:
    """Admitted jobs of which one, in its configuration but elsewhere, makes room; the smallest tried first."""
    instance = asker.instance
    others = [a for a in plan.assignments if a.job != name and _may_move(instance, a.job)]
    others.sort(key=lambda a: len(a.devices))
    for other in others[:MAX_MOVES]:
        changed = pinned(instance, plan, name, movable=(other.job,))
        answer = asker.ask(changed, fixed=(other.job,))
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


def repairs(asker: Asker, waiting: Instance, name: str) -> Iterator[Statement]:
    """Failed parts of which one, or all together, let the job fit into an instance in which it does not."""
    parts = failed_parts(waiting)
    if not parts or not asker.ask(repaired(waiting)).is_possible:
        return
    alone = [p for p in parts[:MAX_PARTS] if asker.ask(repaired(waiting, p)).is_possible]
    if alone:
        yield Statement(f"fits if {listed(alone, 'or')} is repaired")
    else:
        yield Statement(f"fits if {listed(parts) if len(parts) <= 3 else 'the failed parts'} are repaired")


def other_size(asker: Asker, waiting: Instance, name: str) -> Iterator[Statement]:
    """The fastest size that the job does not accept and that would fit."""
    sizes = _other_sizes(waiting, name)
    if not sizes:
        return
    answer = asker.ask(required(waiting, name, accelerators=sizes))
    if answer.is_possible and answer.plan is not None:
        found = answer.plan[name]
        speed = in_brackets(pace(found.speed, asker.speeds[name]))
        yield Statement(f"fits with {accelerators(len(found.devices))}{speed}")


def working_sizes(asker: Asker, waiting: Instance, name: str) -> Iterator[Statement]:
    """The smallest sizes with which the job could run, among those it does not accept."""
    works = []
    for size in _other_sizes(waiting, name):
        if asker.ask(required(waiting, name, accelerators=size)).is_possible:
            works.append(size)
        if len(works) == MAX_SIZES:
            break
    if works:
        yield Statement(f"fits with {sizes_phrase(works)}")


def _other_sizes(waiting: Instance, name: str) -> tuple[int, ...]:
    """Sizes that the job does not accept and that have a configuration."""
    fabric, job = waiting.cluster.fabric, waiting.job(name)
    limit = fabric.num_devices if fabric.links_racks else fabric.servers * fabric.devices_per_server
    others = tuple(size for size in range(1, limit + 1) if size not in job.sizes)
    if not others:
        return ()
    changed = required(waiting, name, accelerators=others)
    return tuple(sorted({int(n) for n in list_options(changed, changed.job(name)).candidates.num_devices}))


def without_constraints(asker: Asker, waiting: Instance, name: str) -> Iterator[Statement]:
    """The job without what it insists on: one server, or one kind of all-reduce."""
    constraints = waiting.job(name).constraints
    if constraints.collective is not None:
        changed = JobConstraints(one_server=constraints.one_server)
        answer = asker.ask(required(waiting, name, constraints=changed))
        if answer.is_possible and answer.plan is not None:
            found = answer.plan[name]
            configuration = found.configuration
            used = (configuration.tensor_collective.kind, configuration.data_collective.kind)
            kinds = sorted({kind for kind in used if kind not in ("none", constraints.collective)})
            speed = pace(found.speed, asker.speeds[name])
            yield Statement(f"fits with {listed(kinds) or 'any collective'}{in_brackets(speed)}")
    if constraints.one_server:
        changed = JobConstraints(collective=constraints.collective)
        answer = asker.ask(required(waiting, name, constraints=changed))
        if answer.is_possible and answer.plan is not None:
            found = answer.plan[name]
            on = listed(servers(waiting.cluster.fabric, found.devices))
            speed = pace(found.speed, asker.speeds[name])
            yield Statement(f"fits on {on} if it may span servers{in_brackets(speed)}")
