"""Lines around the table of jobs: what is to be planned, what was left out, and how good the plan is."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from costmodel.wording import counted
from planner.cli.output import number, percent, plain, quantity, seconds

if TYPE_CHECKING:
    from planner.fabrics.problem import Problem
    from planner.model.instance import Instance
    from planner.model.plan import Plan
    from planner.model.result import Level, Result
    from planner.model.violation import Violation
    from planner.report.outcome import PlanOutcome


MOST_LEFT_OUT = 50
"""jobs without a place, a line each"""
SHOWN_AS_NONE = 5e-5
"""shares below are no difference in what is shown"""


def header(problem: "Problem") -> str:
    """rack64   lightpath 8 x 8   63 of 64 accelerators healthy   12 jobs   84 candidates (412 pruned as dominated)."""
    instance, cluster = problem.instance, problem.cluster
    fabric = cluster.fabric
    racks = f"{fabric.racks} racks of " if fabric.racks > 1 else ""
    running = len(instance.residents)
    parts = [
        plain(instance.name),
        f"{racks}{fabric.kind} {fabric.servers} x {fabric.devices_per_server}",
        f"{cluster.num_healthy} of {fabric.num_devices} accelerators healthy",
        counted(len(instance.jobs), "job") + (f", {counted(running, 'resident')}" if running else ""),
        f"{counted(problem.num_candidates, 'candidate')} ({problem.num_dominated:,} pruned as dominated)",
    ]
    return "   ".join(parts)


def left_out_lines(result: "Result", path: Path, num_healthy: int) -> list[str]:
    """One line for each job that does not run, with the command that says more; of many the first ones. One line for
    all where nothing of the cluster works."""
    if result.left_out and not num_healthy:
        return [f"{counted(len(result.left_out), 'job')} not placed: no accelerator of the cluster is healthy"]
    shown = result.left_out[:MOST_LEFT_OUT]
    rest = len(result.left_out) - len(shown)
    width = max((len(left.job) for left in shown), default=0)
    file = shlex.quote(str(path))
    return [
        f"{plain(left.job):<{width}}  -  not placed: {plain(left.reason.replace('INSTANCE', file))}" for left in shown
    ] + ([f"and {counted(rest, 'more job')} not placed; --json has all of them"] if rest else [])


def second_tier_lines(plan: "Plan") -> list[str]:
    """A line for each job that offloads: gpt: step 6.37 s with memory-unit x 1 (gap 0.8 %), scored 6.32 s, ..."""
    lines = []
    for assignment in plan.assignments:
        tier = assignment.second_tier
        if tier is None:
            continue
        away = sum(sum(each.pages.values()) for each in tier.tensors)
        kept = sum(each.kept for each in tier.tensors)
        proof = "optimal" if tier.is_proven else f"gap {percent(tier.gap)}"
        without = "too large without" if tier.without_s is None else f"{quantity(tier.without_s, 's')} without"
        scored = "" if tier.step_s == assignment.step_s else f", {quantity(assignment.step_s, 's')} scored"
        parts = [
            f"step {quantity(tier.step_s, 's')} simulated ({proof}){scored}",
            f"{without} {tier.memory}",
            f"{percent(away / max(away + kept, 1))} of pages offloaded",
            f"{sum(each.remade for each in tier.tensors)} of {counted(len(tier.tensors), 'tensor')} recomputed",
        ]
        lines.append(plain(f"{assignment.job}: {' · '.join(parts)}"))
    return lines


def levels_line(levels: "Sequence[Level]") -> str:
    """value 48.63 (optimal) · energy 6.31 (bound 6.28, gap 0.5 %)."""
    return " · ".join(f"{level.objective} {number(level.value)} ({_quality(level)})" for level in levels)


def outcome_line(outcome: "PlanOutcome") -> str:
    """11 of 12 jobs at 55.3 kW, +41 % value and +38 % work over best fit (6 jobs at 59.2 kW); proven optimal."""
    parts = [f"{outcome.admitted} of {counted(outcome.jobs, 'job')} at {quantity(outcome.power_w, 'W')}"]
    if outcome.more_value is not None and outcome.more_work is not None:
        than = f"{counted(outcome.best_fit_admitted or 0, 'job')} at {quantity(outcome.best_fit_power_w, 'W')}"
        parts.append(f"{_beside_best_fit(outcome.more_value, outcome.more_work)} ({than})")
    return f"{', '.join(parts)}; {outcome.proof}"


def _beside_best_fit(more_value: float, more_work: float) -> str:
    if max(abs(more_value), abs(more_work)) < SHOWN_AS_NONE:
        return "as much value and work as best fit"
    return f"{_signed(more_value)} value and {_signed(more_work)} work over best fit"


def _signed(share: float) -> str:
    return f"{'-' if share < 0 else '+'}{percent(abs(share))}"


def _above(share: float) -> str:
    return f"+{percent(share)}" if share >= SHOWN_AS_NONE else "as much"


def starts_line(result: "Result") -> str | None:
    """value above heuristics: priced 11.18 (+3 %), sipam_loop 7.774 (+48 %); None where there is nothing to say."""
    if result.objective is None or not result.levels or result.levels[0].objective != "value":
        return None
    named = [
        f"{name} {number(start.value)} ({_above(result.objective / start.value - 1)})"
        for name, start in sorted(result.starts.items(), key=lambda entry: -entry[1].value)
        if 0 < start.value <= result.objective
    ]
    return f"value above heuristics: {', '.join(named)}" if named else None


def _quality(level: "Level") -> str:
    if level.status.value == "OPTIMAL":
        return "optimal"
    if level.bound is None:
        return "no bound"
    return f"bound {number(level.bound)}, gap {percent(level.gap)}"


def totals_line(instance: "Instance", plan: "Plan", result: "Result") -> str:
    """57 of 63 accelerators · checked: 0 violations · 1.9 s, of a plan that the check accepts."""
    used = sum(len(assignment.devices) for assignment in plan.assignments)
    ray_s = result.statistics.get("ray_s")
    took = seconds(result.wall_time_s)
    parts = [
        f"{used} of {instance.cluster.num_healthy} accelerators",
        "checked: 0 violations",
        took if ray_s is None else f"{took}, {seconds(ray_s)} of them until Ray had started and ended",
    ]
    return " · ".join(parts)


def no_plan_line(result: "Result", problem: "Problem", path: Path) -> str:
    """Why there is no plan."""
    after = seconds(result.wall_time_s)
    if result.status.value == "INFEASIBLE":
        from planner.candidates.unlisted import why_unlisted

        required = [options for options in problem.options if options.must_run]
        for job in (options.job for options in required if not len(options)):
            why = why_unlisted(problem.cluster, job)
            return f"no plan exists: {plain(job.name)} must run, and is impossible alone: {why}"
        return (
            f"no plan exists: proven in {after} that the required jobs and residents cannot all run; "
            f"`planner explain {shlex.quote(str(path))} {shlex.quote(required[0].job.name)}` says what is missing"
        )
    return f"no plan found in {after}; this proves nothing: raise --time-limit or choose another --policy"


def violation_line(violation: "Violation") -> str:
    """placement: s0.t1: two jobs share it (by 1)."""
    is_named = violation.message.startswith(violation.where)
    message = violation.message if is_named else f"{violation.where}: {violation.message}"
    return plain(f"{violation.rule}: {message} (by {violation.excess:g})")
