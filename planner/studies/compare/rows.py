"""One row for each run: what a policy reached on a variant of an instance, and how far it is from the bound."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from planner.candidates.unlisted import why_unlisted
from planner.checks import check
from planner.fabrics.problem import Problem
from planner.model.instance import Instance
from planner.model.plan import Assignment
from planner.model.result import Result, relative_gap


@dataclass(frozen=True)
class PolicyRow:
    """Result of one policy on one instance; None where it found no plan or nothing is known."""

    instance: str
    parameters: Mapping[str, Any]
    """values of the fields that a grid varies, by path"""
    policy: str
    seed: int
    status: str
    objective: str
    """name of the first objective of the instance, which `reached`, `bound` and `gap` are about"""
    reached: float | None
    value: float | None
    """sum of weight x utility over the admitted jobs, each against its reference"""
    admitted: int
    jobs: int
    devices_used: int
    devices_healthy: int
    energy: float | None
    """the energy objective: weighted joules per unit of work over each job's reference; None if not asked for"""
    power_w: float | None
    tokens_per_s: float | None
    """of all admitted jobs whose work is tokens, together"""
    joules_per_token: float | None
    """of these jobs"""
    samples_per_s: float | None
    """of all admitted jobs whose work is samples, together"""
    joules_per_sample: float | None
    """of these jobs"""
    fragmentation: float | None
    moves: float | None
    bound: float | None
    """proven by whichever run on the same variant proves the tightest"""
    gap: float | None
    """distance of the plan's first objective from `bound`, a fraction"""
    violations: int | None
    wall_time_s: float | None
    """which differs from run to run"""
    cost_per_h: float | None = None
    """capital over its lifetime and energy of the jobs; costs are absent without prices"""
    cost_per_million_tokens: float | None = None
    """where the work of all admitted jobs is tokens"""
    cost_per_million_samples: float | None = None
    """where the work of all admitted jobs is samples"""
    impossible: str = ""
    """jobs without any candidate here, each with the reason"""


def row_of(
    problem: Problem, parameters: Mapping[str, Any], policy: str, result: Result, wall_time_s: float
) -> PolicyRow:
    """Row of a result, with the bound and the gap that this run proved itself."""
    instance, plan = problem.instance, result.plan
    objectives = plan.objectives if plan is not None else {}
    assignments = plan.assignments if plan is not None else ()
    tokens, samples = (_work(instance, assignments, unit) for unit in ("tokens/s", "samples/s"))
    return PolicyRow(
        instance=instance.name,
        parameters=parameters,
        policy=policy,
        seed=result.seed,
        status=result.status.value,
        objective=instance.objectives[0].name,
        reached=result.objective,
        value=sum(a.value for a in assignments) if plan is not None else None,
        admitted=len(assignments),
        jobs=len(instance.all_jobs),
        devices_used=sum(len(a.devices) for a in assignments),
        devices_healthy=instance.cluster.num_healthy,
        energy=objectives.get("energy"),
        power_w=sum(a.power_w for a in assignments) if plan is not None else None,
        tokens_per_s=tokens[0],
        joules_per_token=tokens[1],
        samples_per_s=samples[0],
        joules_per_sample=samples[1],
        fragmentation=objectives.get("fragmentation"),
        moves=objectives.get("moves"),
        bound=result.bound,
        gap=result.gap,
        violations=len(check(instance, plan, starts=True)) if plan is not None else None,
        wall_time_s=wall_time_s,
        impossible="; ".join(
            f"{options.job.name}: {why_unlisted(instance.cluster, options.job)}"
            for options in problem.options
            if not len(options)
        ),
    )


def _work(instance: Instance, assignments: Iterable[Assignment], unit: str) -> tuple[float | None, float | None]:
    """Units of work per second, and joules for one, over the jobs whose speed is in this unit; None without any."""
    of_unit = [a for a in assignments if instance.job(a.job).workload.speed_unit == unit]
    speed = sum(a.speed for a in of_unit)
    return (speed, sum(a.energy_per_work * a.speed for a in of_unit) / speed) if speed else (None, None)


def with_bound(rows: Sequence[PolicyRow]) -> list[PolicyRow]:
    """Rows of one variant with the tightest bound that any of them proved, and the gap of each to it."""
    bounds = [row.bound for row in rows if row.bound is not None]
    tightest = min if rows and rows[0].objective == "value" else max
    bound = tightest(bounds) if bounds else None
    return [replace(row, bound=bound, gap=relative_gap(row.reached, bound)) for row in rows]


def to_records(rows: Iterable[PolicyRow], *, with_timings: bool = True) -> list[dict[str, Any]]:
    """Rows as plain mappings, fit for JSON; parameters are fields of their own."""
    return [
        {"instance": row.instance, **row.parameters}
        | {name: value for name, value in vars(row).items() if name != "parameters"}
        | ({} if with_timings else {"wall_time_s": None})
        for row in rows
    ]
