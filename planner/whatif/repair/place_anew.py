"""Where the slots of a job, or its racks, depend on each other, jobs that lost a part are placed anew, whole."""

from collections.abc import Sequence

import numpy as np

from costmodel.pricing.candidates import candidates_of
from costmodel.pricing.score import score
from planner.cpsat.repair import RepairLimits
from planner.fabrics import plugin_of
from planner.fabrics.demands import RowDemands
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.residents import may_stay
from planner.heuristics.greedy import place_all
from planner.heuristics.strategies import tightest
from planner.model.edit import as_residents
from planner.model.instance import Instance
from planner.model.job import Reference, Resident
from planner.model.plan import Assignment
from planner.model.result import SolveOptions, Status
from planner.policies.cpsat import cpsat
from planner.whatif.repair.damaged_plan import DamagedPlan


def place_anew(damage: DamagedPlan, limits: RepairLimits, *, is_quick: bool) -> tuple[list[Assignment] | None, bool]:
    """All jobs as they run, those that lost nothing where they are if that is possible; and whether none is proven.

    Jobs that lost a part stay where memory is pooled and other parts are free; else first fit of them, then, unless it
    must be quick, search with the fewest ranks in jobs that move. None where nothing was found.
    """
    if not damage.plan.assignments:
        return [], False
    instance = as_residents(damage.instance, damage.plan)
    problem = Problem(instance, tuple(_options(instance, a) for a in damage.plan.assignments))
    spares = plugin_of(instance.cluster.fabric).spares
    found = spares.reconnected(problem, damage.plan.assignments) or place_all(problem, tightest)
    if found is not None and damage.leaves_ports(found):
        return _in_order(damage, found), False
    if is_quick:
        return None, False
    options = SolveOptions(
        time_limit_s=min(limits.seconds_left, limits.time_limit_s),
        deterministic_limit=limits.deterministic,
        workers=limits.workers,
        seed=limits.seed,
    )
    result = cpsat(problem, options)
    if result.plan is None or not damage.leaves_ports(result.plan.assignments):
        return None, result.status is Status.INFEASIBLE
    return _in_order(damage, result.plan.assignments), False


def _options(instance: Instance, assignment: Assignment) -> JobOptions:
    """The one way in which a job may go on."""
    cluster, job = instance.cluster, instance.job(assignment.job)
    assert isinstance(job, Resident)
    candidates = candidates_of([assignment.configuration], job.workload, cluster.device, cluster.fabric)
    return JobOptions(
        job=job,
        fabric=cluster.fabric,
        candidates=candidates,
        scores=score(candidates, cluster.device, cluster.fabric),
        shapes=RowDemands.of(candidates, cluster.fabric, job.constraints),
        reference=Reference(speed=assignment.speed, energy_per_work=assignment.energy_per_work),
        value=np.array([assignment.value]),
        energy=np.ones(1),
        num_listed=1,
        current=0,
        can_stay=may_stay(cluster, job),
    )


def _in_order(damage: DamagedPlan, found: Sequence[Assignment]) -> list[Assignment]:
    """As the plan has them, with new devices and circuits."""
    by_name = {a.job: a for a in found}
    return [
        old.model_copy(
            update={name: getattr(by_name[old.job], name) for name in ("devices", "circuits", "memory", "upper")}
        )
        for old in damage.plan.assignments
    ]
