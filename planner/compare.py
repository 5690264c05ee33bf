"""Several policies on several instances: one row for each pair, all judged by the same check."""

import csv
import io
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from planner.checks import check
from planner.expand import expand
from planner.instance import Instance
from planner.line import solve
from planner.policies import find_policy
from planner.problem import Problem
from planner.result import Result, SolveOptions, relative_gap


@dataclass(frozen=True)
class Row:
    """What one policy reached on one instance; None where it found no plan or nothing is known."""

    instance: str
    policy: str
    status: str
    objective: str
    """name of the first objective of the instance, which `bound` and `gap` are about"""
    value: float | None
    """sum of weight x utility over the admitted jobs"""
    admitted: int
    jobs: int
    devices_used: int
    devices_healthy: int
    energy: float | None
    """the energy objective: weighted joules per unit of work over each job's least; None if not asked for"""
    power_w: float | None
    fragmentation: float | None
    moves: float | None
    bound: float | None
    """on the first objective, proven by whichever of the policies proves the tightest"""
    gap: float | None
    """distance of the plan's first objective from `bound`, a fraction"""
    violations: int | None
    wall_time_s: float
    seed: int


def compare(
    instances: Sequence[Instance | Problem],
    policies: Sequence[str],
    *,
    options: SolveOptions | None = None,
    on_start: Callable[[str, str], None] | None = None,
) -> list[Row]:
    """Rows by instance, then by policy; `on_start` is told the names of both before each run."""
    for policy in policies:
        find_policy(policy)
    rows: list[Row] = []
    for instance in instances:
        problem = instance if isinstance(instance, Problem) else expand(instance)
        runs: list[tuple[Row, float | None]] = []
        for policy in policies:
            if on_start is not None:
                on_start(problem.instance.name, policy)
            started = time.perf_counter()
            result = solve(problem, policy=policy, options=options or SolveOptions())
            row = _row(problem, policy, result, time.perf_counter() - started)
            runs.append((row, result.objective))
        rows += _with_bound(runs, problem.instance.objectives[0].name == "value")
    return rows


def _row(problem: Problem, policy: str, result: Result, wall_time_s: float) -> Row:
    """What the result says, with the bound and the gap that this policy proved itself."""
    instance, plan = problem.instance, result.plan
    objectives = plan.objectives if plan is not None else {}
    assignments = plan.assignments if plan is not None else ()
    return Row(
        instance=instance.name,
        policy=policy,
        status=result.status.value,
        objective=instance.objectives[0].name,
        value=sum(a.value for a in assignments) if plan is not None else None,
        admitted=len(assignments),
        jobs=len(instance.all_jobs),
        devices_used=sum(len(a.devices) for a in assignments),
        devices_healthy=instance.cluster.num_healthy,
        energy=objectives.get("energy"),
        power_w=sum(a.power_w for a in assignments) if plan is not None else None,
        fragmentation=objectives.get("fragmentation"),
        moves=objectives.get("moves"),
        bound=result.bound,
        gap=result.gap,
        violations=len(list(check(instance, plan))) if plan is not None else None,
        wall_time_s=wall_time_s,
        seed=result.seed,
    )


def _with_bound(runs: Sequence[tuple[Row, float | None]], is_maximized: bool) -> list[Row]:
    """Rows with the tightest bound that any policy proved, and the gap of each first objective to it."""
    bounds = [row.bound for row, _ in runs if row.bound is not None]
    bound = (min(bounds) if is_maximized else max(bounds)) if bounds else None
    return [replace(row, bound=bound, gap=relative_gap(reached, bound)) for row, reached in runs]


def to_csv(rows: Iterable[Row]) -> str:
    """Rows as CSV with a header; an empty cell is None."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Row.__dataclass_fields__)
    writer.writerows(vars(row).values() for row in rows)
    return text.getvalue()


def to_records(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Rows as plain mappings, fit for JSON."""
    return [dict(vars(row)) for row in rows]
