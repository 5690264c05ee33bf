"""From what runs to what shall run: stages in which no running tenant's light or devices are taken away."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from planner.fabrics import plugin_of
from planner.model.cluster import Cluster
from planner.model.plan import Assignment, Circuit
from planner.model.resident_plan import is_same
from planner.whatif.feedback_vertices import feedback_vertices

Action = Literal["stop", "start", "switch", "pause", "resume"]


@dataclass(frozen=True)
class Step:
    """Actions of one tenant in a stage: the circuits that it tears down and sets up."""

    job: str
    action: Action
    torn_down: tuple[Circuit, ...] = ()
    set_up: tuple[Circuit, ...] = ()


@dataclass(frozen=True)
class Transition:
    """Stages in order. All steps of a stage are taken at once; what they need was free before the stage began.

    A tenant that switches leaves its old circuits and takes its new ones in one stage. Where tenants wait for each
    other in a cycle, some pause: they are torn down first, and resume once all that they need is free.
    """

    stages: tuple[tuple[Step, ...], ...]
    paused: tuple[str, ...]
    least_paused: int
    """proven to be needed"""
    time_s: float
    """of all stages: reconfiguration and alpha each"""

    @property
    def num_torn_down(self) -> int:
        """Circuits of the old plan that the new one has not."""
        return sum(len(step.torn_down) for stage in self.stages for step in stage)

    @property
    def num_set_up(self) -> int:
        return sum(len(step.set_up) for stage in self.stages for step in stage)

    @property
    def disturbed(self) -> tuple[str, ...]:
        """Running tenants whose circuits or devices change."""
        return tuple(sorted({s.job for stage in self.stages for s in stage if s.action in ("switch", "pause")}))


def transition(cluster: Cluster, old: Sequence[Assignment], new: Sequence[Assignment]) -> Transition:
    """Stages from the assignments that run to those that shall run.

    A tenant waits for every other one that still holds a device, or light on a fiber or shared waveguide, which it
    needs. Transmitters and receivers belong to devices.
    """
    before, after = {a.job: a for a in old}, {a.job: a for a in new}
    changed = [name for name in after if name not in before or not is_same(before[name], after[name])]
    leaving = [name for name in before if name not in after]
    waits = _waits(cluster, {n: before[n] for n in before if n in changed or n in leaving}, [after[n] for n in changed])
    switching = {name for name in changed if name in before}
    found = feedback_vertices({name: waits[name] & switching for name in switching})
    level: dict[str, int] = dict.fromkeys((*leaving, *found.vertices), 0)
    """last stage in which a tenant still holds its old circuits when it begins"""
    open_names = [name for name in changed if name not in found.vertices]
    while open_names:
        ready = [name for name in open_names if all(other in level for other in waits[name])]
        for name in ready:
            level[name] = max((level[other] + 1 for other in waits[name]), default=0)
        open_names = [name for name in open_names if name not in ready]
    stages: defaultdict[int, list[Step]] = defaultdict(list)
    for name in leaving:
        stages[0].append(_step("stop", before[name], None))
    for name in sorted(found.vertices):
        stages[0].append(Step(name, "pause", torn_down=circuits_only_in(before[name], after[name])))
        last = max((level[other] + 1 for other in waits[name]), default=0)
        stages[max(last, 1)].append(Step(name, "resume", set_up=circuits_only_in(after[name], before[name])))
    for name in changed:
        if name not in found.vertices:
            action: Action = "switch" if name in before else "start"
            stages[level[name]].append(_step(action, before.get(name), after[name]))
    ordered = tuple(tuple(stages[number]) for number in sorted(stages))
    return Transition(
        stages=ordered,
        paused=tuple(sorted(found.vertices)),
        least_paused=found.least,
        time_s=len(ordered) * cluster.fabric.stage_s,
    )


def _step(action: Action, old: Assignment | None, new: Assignment | None) -> Step:
    job = (new or old or Assignment.model_construct()).job
    return Step(job, action, torn_down=circuits_only_in(old, new), set_up=circuits_only_in(new, old))


def circuits_only_in(one: Assignment | None, other: Assignment | None) -> tuple[Circuit, ...]:
    """Circuits of one that the other has not in the same configuration of its dimension."""
    known = set(_placed(other)) if other is not None else set()
    return tuple(circuit for *key, circuit in (_placed(one) if one is not None else ()) if (*key, circuit) not in known)


def _placed(assignment: Assignment) -> Iterator[tuple[str, int, Circuit]]:
    """Circuits with their dimension and the number of their configuration in it."""
    numbers: defaultdict[str, int] = defaultdict(int)
    for held in assignment.circuits:
        for circuit in held.circuits:
            yield held.dimension, numbers[held.dimension], circuit
        numbers[held.dimension] += 1


def num_kept(old: Assignment | None, new: Assignment) -> int:
    """Circuits of the new assignment that are on already."""
    return sum(len(held.circuits) for held in new.circuits) - len(circuits_only_in(new, old))


def _waits(cluster: Cluster, holding: dict[str, Assignment], wanting: Sequence[Assignment]) -> dict[str, set[str]]:
    """For each tenant that changes, the others that own what it needs."""
    fabric, claims = cluster.fabric, plugin_of(cluster.fabric).claims
    held: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for name, assignment in holding.items():
        for part, bits in claims.of(fabric, assignment).owned.items():
            held[part].append((name, bits))
    return {
        assignment.job: {
            name
            for part, bits in claims.of(fabric, assignment).owned.items()
            for name, taken in held.get(part, ())
            if name != assignment.job and taken & bits
        }
        for assignment in wanting
    }
