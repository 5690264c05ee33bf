"""Instance, result and violations as plain data for the page; nothing is solved here."""

from collections.abc import Mapping, Sequence
from typing import Any

from planner.fabrics import plugin_of
from planner.fabrics.switch_ports import End
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import Result, Status
from planner.model.violation import Violation
from planner.report.floor import fabric_facts, floor, owners_of
from planner.report.jobs import job_rows
from planner.report.outcome import at_most, outcome_of
from planner.report.port_maps import port_maps
from planner.report.rack_links import rack_links

MEANING = {
    "value": "weight × utility of speed, summed over the jobs that run; more is better",
    "moves": "cost of the running jobs that must move; less is better",
    "energy": "energy per unit of work over the least possible, or a reference, weighted and summed; less is better",
    "fragmentation": "share of future jobs that free accelerators would serve, lost to scatter; less is better",
}


def page_data(
    instance: Instance,
    result: Result,
    violations: Sequence[Violation],
    *,
    command: str,
    versions: Mapping[str, str],
    reasons: Mapping[str, str],
    port_of: Mapping[End, str] | None = None,
    best_fit: Plan | None = None,
) -> dict[str, Any]:
    """All that the page shows, fit for JSON; `port_of`: ports of optical switches, where there is a wiring;
    `best_fit`: what that policy would run."""
    drawing = plugin_of(instance.cluster.fabric).drawing
    index_of_job = {job.name: index for index, job in enumerate(instance.all_jobs)}
    jobs = job_rows(instance, result, reasons)
    breaches = [f"{v.where}: {v.message} ({v.rule})" for v in violations]
    totals = _totals(instance, result, jobs)
    return {
        "name": instance.name,
        "description": instance.description,
        "status": result.status.value,
        "outcome": None if (outcome := outcome_of(instance, result, best_fit)) is None else outcome.data,
        "headline": headline(result, totals, len(breaches)),
        "totals": totals,
        "levels": _levels(instance, result),
        "violations": breaches if result.plan else None,
        "fabric": {**fabric_facts(instance.cluster), **_failed(instance)},
        "floor": floor(instance.cluster),
        "view": drawing.own_view(instance.cluster),
        "matrices": drawing.fiber_matrices(instance, result.plan, index_of_job),
        "rack_links": rack_links(instance, result.plan, index_of_job),
        "port_maps": port_maps(instance, result.plan, index_of_job, port_of),
        "jobs": jobs,
        "pool": drawing.pool_gains(instance, result, jobs),
        "left_out": _left_out(result, jobs),
        "convergence": _convergence(instance, result),
        "run": _run(result, command, versions),
    }


def headline(result: Result, totals: Mapping[str, Any], num_violations: int) -> list[str]:
    """The outcome in a few sentences."""
    if result.plan is None:
        if result.status is Status.INFEASIBLE:
            return ["There is no plan.", "It is proven that the jobs that must run cannot all run."]
        return ["No plan was found before a limit was reached.", "This proves nothing about the instance."]
    sentences = [f"{totals['used']} of {totals['healthy']} healthy accelerators are in use."]
    if num_violations:
        rules = "a rule" if num_violations == 1 else f"rules in {num_violations} places"
        sentences.append(f"The plan breaks {rules}: do not deploy it.")
    elif result.levels and result.levels[0].value is not None:
        sentences.append(_quality(result))
    return sentences


def _quality(result: Result) -> str:
    """How good the plan is by the first objective."""
    first = result.levels[0]
    name, value = first.objective, f"{first.value:.4g}"
    if first.status is Status.OPTIMAL:
        return f"Its {name} of {value} is proven to be the best possible."
    if first.bound is None or first.gap is None:
        return f"Its {name} is {value}; how far that is from the best is not known."
    if (bound := f"{first.bound:.4g}") == value:
        return f"Its {name} of {value} is {at_most(first.gap)} from the best possible."
    return f"Its {name} is {value}; no plan can do better than {bound}."


def _totals(instance: Instance, result: Result, jobs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    admitted = [job for job in jobs if job["plan"] is not None]
    return {
        "jobs": len(jobs),
        "admitted": len(admitted),
        "devices": instance.cluster.fabric.num_devices,
        "healthy": instance.cluster.num_healthy,
        "used": len(owners_of(instance, result.plan)),
        "power_w": sum(job["plan"]["power_w"] for job in admitted),
        "moved": sum(job["state"] == "moved" for job in jobs),
    }


def _levels(instance: Instance, result: Result) -> list[dict[str, Any]]:
    tolerances = {objective.name: objective.tolerance for objective in instance.objectives}
    return [
        {
            "objective": level.objective,
            "meaning": MEANING.get(level.objective, ""),
            "value": level.value,
            "bound": level.bound,
            "gap": level.gap,
            "status": level.status.value,
            "tolerance": next((t for name, t in tolerances.items() if name == level.objective), 0.0),
        }
        for level in result.levels
    ]


def _failed(instance: Instance) -> dict[str, Any]:
    """Failed parts by name."""
    health = instance.cluster.health
    return {
        "failed_devices": [*health.failed_tiles],
        "failed_ports": [*health.failed_ports],
        "failed_fibers": [f"{f.source}>{f.destination}#{f.index}" for f in health.failed_fibers],
        "failed_switches": [*health.failed_switches, *health.failed_upper],
        "failed_memory": [
            *health.failed_memory_units,
            *health.failed_tray_ports,
            *health.failed_uplinks,
            *health.failed_memory_nodes,
        ],
        "failed_wavelengths": [part.name for part in (*health.failed_lasers, *health.failed_receivers)],
    }


def _left_out(result: Result, jobs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Jobs without an assignment, then reasons that name no job of the instance."""
    out = [
        {"job": index, "name": job["name"], "reason": job["reason"]}
        for index, job in enumerate(jobs)
        if job["plan"] is None
    ]
    known = {job["name"] for job in jobs}
    return out + [
        {"job": None, "name": left.job, "reason": left.reason} for left in result.left_out if left.job not in known
    ]


def _convergence(instance: Instance, result: Result) -> dict[str, Any]:
    """Incumbents and bounds of the first objective over time."""
    first = result.levels[0].objective if result.levels else instance.objectives[0].name
    points = [
        {"time_s": i.wall_time_s, "objective": i.objective, "bound": i.bound, "source": i.source}
        for i in sorted(result.trace, key=lambda incumbent: incumbent.wall_time_s)
        if i.level == first
    ]
    return {"objective": first, "points": points, "wall_time_s": result.wall_time_s}


def _run(result: Result, command: str, versions: Mapping[str, str]) -> dict[str, Any]:
    return {
        "command": command,
        "policy": result.policy,
        "versions": [[name, version] for name, version in versions.items()],
        "seed": result.seed,
        "wall_time_s": result.wall_time_s,
        "statistics": [
            *([name.replace("_", " "), value] for name, value in result.statistics.items()),
            *([f"start {name}", start.value] for name, start in result.starts.items()),
        ],
    }
