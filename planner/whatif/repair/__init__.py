"""A plan after failures: the fewest ranks move, then the fewest circuits change; if nothing fits, one job gives way."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from planner.cpsat.repair import RepairLimits
from planner.fabrics.ranked_assignment import RankedAssignment, ranked_by
from planner.model.arguments import require_instance, require_names, require_plan
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.phrases import listed
from planner.model.plan import Assignment, Plan
from planner.whatif.comparable import require_scored_steps
from planner.whatif.failures import Failure, damaged, parse_failures
from planner.whatif.repair.damaged_plan import DamagedPlan
from planner.whatif.repair.search import Kept, keep_all
from planner.whatif.repair.shed import shed_job
from planner.whatif.restate import restated
from planner.whatif.transition import Transition, transition

Outcome = Literal["intact", "repaired", "reduced", "none"]


@dataclass(frozen=True)
class Move:
    """A rank that leaves its device; `source` is None for a rank that the job did not have before."""

    job: str
    rank: int
    source: str | None
    destination: str


@dataclass(frozen=True)
class Repair:
    """Outcome of a repair after failures.

    intact: no running job uses a failed part; repaired: every job runs as before, some ranks or circuits elsewhere;
    reduced: jobs run in another configuration, or not at all; none: nothing was found that keeps what must run.
    """

    outcome: Outcome
    instance: Instance
    """with the failures"""
    failures: tuple[Failure, ...]
    plan: Plan | None
    moves: tuple[Move, ...] = ()
    changed_circuits: int = 0
    """what is kept fewest: circuits one of whose ranks moved, or whose light did, and all of a job in another
    configuration. The `transition` has what is torn down and set up, which knows no ranks."""
    least_moves: int = 0
    """proven for repairs that keep every job as it runs"""
    least_changes: int = 0
    """proven for as many moved ranks"""
    dropped: tuple[str, ...] = ()
    resized: tuple[str, ...] = ()
    """jobs that run in another configuration"""
    lost_value: float = 0.0
    is_impossible: bool = False
    """proven: no repair keeps every job as it runs"""
    transition: Transition | None = None
    wall_time_s: float = 0.0

    @property
    def is_fewest(self) -> bool:
        """True if fewest ranks move, and with as many fewest circuits change, both proven."""
        return (
            self.outcome in ("intact", "repaired")
            and len(self.moves) == self.least_moves
            and self.changed_circuits == self.least_changes
        )

    def in_words(self, number: Callable[[float], str]) -> str:
        """What the repair came to, and what of it is proven; `number` writes the value that is lost."""
        if self.outcome == "intact":
            return "no job stands on it: the plan stays as it is"
        if self.outcome == "none":
            return (
                "nothing was found that keeps every required job and resident; solve the instance with the failure anew"
            )
        if self.outcome == "repaired":
            proof = "proven" if self.is_fewest else f"at least {self.least_moves} ranks must move"
            return f"every job runs as before; fewest moved ranks and changed circuits: {proof}"
        why = "proven: no repair keeps" if self.is_impossible else "no repair was found that keeps"
        parts = [f"{why} every job as it runs"]
        if self.resized:
            parts.append(f"{listed(self.resized)} {_one_or(self.resized, 'runs', 'run')} in another configuration")
        if self.dropped:
            parts.append(f"{listed(self.dropped)} {_one_or(self.dropped, 'is', 'are')} dropped to make room")
        return f"{'; '.join(parts)}; value lost: {number(self.lost_value)}"


def _one_or(names: Sequence[str], one: str, several: str) -> str:
    return one if len(names) == 1 else several


def repair(instance: Instance, plan: Plan, failed: Sequence[str], *, limits: RepairLimits | None = None) -> Repair:
    """The plan on the instance with more parts down, such as s3.t2 or s0>s1#2 (forms: `planner.whatif.failures`).

    What runs is the plan; a spare device is found without any solver. The time of the `transition` is that of the
    circuits: what a moved rank must load is not counted.
    """
    require_instance("repair", instance)
    require_plan("repair", plan)
    require_names("repair", failed, "failed")
    require_scored_steps("repair", instance)
    started = time.perf_counter()
    limits = (limits or RepairLimits()).together()
    _require_jobs(instance, plan)
    failures = parse_failures(instance.cluster, failed)
    damage = DamagedPlan(damaged(instance, failures), plan)
    kept = keep_all(damage, limits)
    found = kept.assignments if kept.assignments is not None else shed_job(damage, limits)
    if found is None:
        return Repair(
            "none", damage.instance, failures, None, is_impossible=kept.is_impossible,
            wall_time_s=time.perf_counter() - started,
        )  # fmt: skip
    done = _judged(damage, failures, kept, restated(damage.instance, plan, found))
    return replace(done, wall_time_s=time.perf_counter() - started)


def _judged(damage: DamagedPlan, failures: tuple[Failure, ...], kept: Kept, repaired: Plan) -> Repair:
    """The repaired plan with all that changed."""
    old = {a.job: a for a in damage.plan.assignments}
    moves = tuple(_moves(old, repaired.assignments))
    changed = sum(_num_changed(damage, old[a.job], a) for a in repaired.assignments)
    dropped = tuple(name for name in old if name not in repaired.admitted)
    resized = tuple(a.job for a in repaired.assignments if a.configuration != old[a.job].configuration)
    return Repair(
        outcome="reduced" if dropped or resized else "repaired" if moves or changed else "intact",
        instance=damage.instance,
        failures=failures,
        plan=repaired,
        moves=moves,
        changed_circuits=changed,
        least_moves=kept.least_moves,
        least_changes=kept.least_changes,
        dropped=dropped,
        resized=resized,
        lost_value=sum(a.value for a in damage.plan.assignments) - sum(a.value for a in repaired.assignments),
        is_impossible=kept.is_impossible,
        transition=transition(damage.cluster, damage.plan.assignments, repaired.assignments),
    )


def _require_jobs(instance: Instance, plan: Plan) -> None:
    names = {job.name for job in instance.all_jobs}
    for assignment in plan.assignments:
        if assignment.job not in names:
            problem = f"'{instance.name}' has no such job; give the plan of this instance"
            raise InputError("plan", f"assignments[{assignment.job}]", problem)


def _num_changed(damage: DamagedPlan, old: Assignment, new: Assignment) -> int:
    if new.configuration != old.configuration:
        return sum(len(held.circuits) for held in new.circuits) + len(new.memory) + len(new.upper)
    fabric = damage.cluster.fabric
    before, after = (set(_rows(ranked_by(fabric, assignment))) for assignment in (old, new))
    others = sum(plug not in old.memory for plug in new.memory) + len({*new.upper} - {*old.upper})
    return len(after - before) + others


def _rows(tenant: RankedAssignment) -> Iterator[tuple[object, ...]]:
    """Each circuit by configuration and ranks, with the devices of both and its light."""
    for number, (links, beams) in enumerate(zip(tenant.links, tenant.lights, strict=True)):
        for link, beam in zip(links, beams, strict=True):
            yield number, link, tenant.devices[link.source], tenant.devices[link.destination], beam


def _moves(old: dict[str, Assignment], assignments: Sequence[Assignment]) -> Iterator[Move]:
    for assignment in assignments:
        places = old[assignment.job].devices
        for rank, device in enumerate(assignment.devices):
            before = places[rank] if rank < len(places) else None
            if before != device:
                yield Move(assignment.job, rank, before, device)


__all__ = ["Failure", "Move", "Outcome", "Repair", "repair"]
