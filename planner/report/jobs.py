"""Data of the page on each job: workload, configuration, shares of time and energy."""

from collections.abc import Mapping
from typing import Any

from costmodel.fabrics import racks_of
from costmodel.parallelism.configuration import Configuration
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.efficiency import efficiency_of
from costmodel.pricing.other_steps import with_steps
from costmodel.pricing.score import ENERGIES, Scores
from planner.candidates.kept_away import kept_away_in_words
from planner.candidates.phase_settings import gain_of_phases, settings_by_phase
from planner.candidates.priced_rows import PricedRow, PricedRows
from planner.candidates.serving_pools import pools_in_words
from planner.candidates.turns import turns_in_words
from planner.candidates.wider_links import wider_links_in_words
from planner.fabrics import plugin_of
from planner.fabrics.drawing import ranges
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Assignment
from planner.model.result import Result
from planner.report.floor import held_circuits
from planner.report.rack_links import rack_circuits
from planner.report.tiers import second_tier_data

COMMUNICATION = tuple(f"{dimension} communication" for dimension in DIMENSIONS)
CHOSEN = ("recompute", "offload")
"""choices of a configuration that are told where they are made"""


def job_rows(instance: Instance, result: Result, reasons: Mapping[str, str]) -> list[dict[str, Any]]:
    """One entry for each job of the instance, residents first."""
    assignments = {a.job: a for a in (result.plan.assignments if result.plan else ())}
    short = {left.job: left.reason for left in result.left_out}
    residents = {resident.name for resident in instance.residents}
    rows, priced = [], PricedRows(instance.cluster)
    for job in instance.all_jobs:
        row = _request(job) | {"is_resident": job.name in residents}
        assignment = assignments.get(job.name)
        if assignment is None:
            reason = reasons.get(job.name, short.get(job.name, ""))
            row |= {"state": "left out", "reason": reason, "plan": None}
        else:
            state = _state(assignment, job.name in residents)
            row |= {"state": state, "reason": "", "plan": _assigned(instance, job, assignment, priced)}
        rows.append(row)
    return rows


def _state(assignment: Assignment, is_resident: bool) -> str:
    if not is_resident:
        return "new"
    return "moved" if assignment.is_moved else "stays"


def _request(job: Job) -> dict[str, Any]:
    """Request of the tenant."""
    model, plain = job.workload.model, {"kind", "model"}
    written = job.workload.model_dump(exclude=plain, exclude_none=True, exclude_defaults=True, by_alias=True)
    fields = {"precision": job.workload.precision, **written}
    return {
        "name": job.name,
        "tenant": job.tenant,
        "kind": job.workload.kind.replace("_", " "),
        "model": model if isinstance(model, str) else model.label,
        "options": [f"{name.replace('_', ' ')} {_written(value)}" for name, value in fields.items()],
        "sizes": ranges(list(job.sizes)),
        "weight": job.weight,
        "utility": job.utility if job.utility != "step" else f"step at {job.step_at:g}",
        "is_required": job.required,
        "has_reference": job.reference is not None,
    }


def _written(value: Any) -> str:
    """A choice, those among which the planner chooses, or the parts of a field that has some."""
    if isinstance(value, dict):
        return ", ".join(f"{str(name).replace('_', ' ')} {_written(part)}" for name, part in value.items())
    if isinstance(value, float):
        return f"{value:g}"
    return " or ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _assigned(instance: Instance, job: Job, assignment: Assignment, priced: PricedRows) -> dict[str, Any]:
    """How and where the job runs; time and energy are None where the cost model rejects the configuration."""
    scores, roofline, problem = None, None, ""
    collectives = _collectives_of(assignment.configuration)
    cluster = instance.cluster
    try:
        found = priced.of(job, assignment.configuration)
        rows, scores = found.rows, _scored(instance, assignment, found.scores)
        roofline = _roofline(found, scores, cluster)
        collectives = [
            {"dimension": dimension, "name": rows.plans[rows.plan[axis, 0]].name}
            for axis, dimension in enumerate(DIMENSIONS)
            if rows.plans[rows.plan[axis, 0]].kind != "none" or racks_of(rows.plans[rows.plan[axis, 0]]) > 1
        ]
    except ValueError as error:
        problem = str(error)
    configuration = assignment.configuration
    return {
        "devices": list(assignment.devices),
        "mapping": {name: getattr(configuration, name) for name in (*DIMENSIONS, "micro_batch", "block")},
        "choices": [
            f"{name} {value}" for name in CHOSEN if (value := getattr(configuration, name)) not in (None, "none")
        ],
        "memory_units": configuration.memory_units,
        "memory_io": configuration.memory_io,
        "memory_text": plugin_of(cluster.fabric).drawing.memory_text(configuration),
        "memory": _memory_rows(assignment),
        "phases": _phases(instance, job, configuration) if not problem else None,
        "second_tier": second_tier_data(instance, assignment),
        "collectives": collectives,
        "circuits": [*held_circuits(instance, assignment), *rack_circuits(assignment)],
        "value": assignment.value,
        "speed_unit": job.workload.speed_unit,
        "problem": problem,
        "roofline": roofline,
        **_in_words(instance, job, assignment, scores),
        **_totals(assignment, scores),
        **_breakdown(scores),
    }


def _memory_rows(assignment: Assignment) -> list[list[str]]:
    """Memory circuits of a job: device, rail, port of the tray, units behind it, and the phase in which it is on."""
    return [
        [each.device, str(each.rail), each.port, ", ".join(each.units), each.phase or "all"]
        for each in assignment.memory
    ]


def _phases(instance: Instance, job: Job, configuration: Configuration) -> dict[str, Any] | None:
    """Settings of a job that changes between phases, and what that gains."""
    settings = settings_by_phase(instance.cluster, job, configuration)
    if not settings:
        return None
    return {"settings": list(settings), "gain": gain_of_phases(instance.cluster, job, configuration)}


def _in_words(instance: Instance, job: Job, assignment: Assignment, scores: Scores | None) -> dict[str, Any]:
    """Pools of a job that serves from two, what it keeps in a second tier, turns of its circuits, and links that boards
    make wider, where the cost model knows it."""
    if scores is None:
        return {}
    pools = pools_in_words(instance.cluster, job, assignment)
    kept = kept_away_in_words(instance.cluster, job, assignment)
    turns = turns_in_words(instance.cluster, job, assignment)
    links = wider_links_in_words(instance.cluster, job, assignment)
    told = {"pools": list(pools), "kept_away": kept, "turns": turns, "links": links}
    return {name: text for name, text in told.items() if text}


def _collectives_of(configuration: Configuration) -> list[dict[str, str]]:
    """Kinds alone, as the plan writes them."""
    kinds = {name: getattr(configuration, f"{name}_collective").kind for name in DIMENSIONS}
    return [{"dimension": name, "name": kind} for name, kind in kinds.items() if kind != "none"]


def _scored(instance: Instance, assignment: Assignment, found: Scores) -> Scores:
    """Of the only row, by its placed step where the instance asks for that."""
    is_placed = instance.placed_steps and assignment.second_tier is not None
    return with_steps(found, assignment.step_s) if is_placed else found


def _totals(assignment: Assignment, scores: Scores | None) -> dict[str, float]:
    """Headline numbers by the cost model, or as the plan claims them."""
    if scores is None:
        return {
            "speed": assignment.speed,
            "step_s": assignment.step_s,
            "power_w": assignment.power_w,
            "energy_per_work_j": assignment.energy_per_work,
        }
    return {
        "speed": float(scores.speed[0]),
        "step_s": float(scores.step_s[0]),
        "power_w": float(scores.power_w[0]),
        "energy_per_work_j": float(scores.energy_per_work_j[0]),
    }


def _breakdown(scores: Scores | None) -> dict[str, Any]:
    """Parts of a step by name: seconds of the busiest device, joules of the whole job."""
    if scores is None:
        return {"time_s": None, "energy_j": None}
    time_s = {"compute": scores.compute_s[0], "memory": scores.memory_s[0]}
    rare = dict(zip(COMMUNICATION[3:], scores.communication_s[3:, 0], strict=True)) | {"offload": scores.offload_s[0]}
    time_s |= dict(zip(COMMUNICATION[:3], scores.communication_s[:3, 0], strict=True))
    rare |= {"serving software and waiting": scores.engine_s[0]}
    time_s |= {"reconfiguration": scores.reconfiguration_s[0], "pipeline bubble": scores.bubble_s[0]}
    time_s |= {name: seconds for name, seconds in rare.items() if seconds}
    energy_j = {told: getattr(scores, f"{name}_j")[0] for name, told in ENERGIES.items()}
    return {
        "time_s": [[name, float(seconds)] for name, seconds in time_s.items()],
        "energy_j": [[name, float(joules)] for name, joules in energy_j.items()],
    }


def _roofline(priced: PricedRow, scores: Scores, cluster: Cluster) -> dict[str, float]:
    """Operational intensity of the busiest device, FLOP for each byte of memory traffic over a whole step, below
    its roof, with the memory that the row has and with that of the device alone."""
    graph, device = priced.graph, priced.device
    efficiency, _ = efficiency_of(device, graph.regime, graph.precision)
    return {
        "intensity": priced.flops / priced.memory_bytes,
        "flops_per_s": priced.flops / float(scores.step_s[0]),
        "peak_flops_per_s": efficiency.matrix * device.matrix_flops_per_s(graph.precision),
        "peak_bytes_per_s": efficiency.memory * device.memory_bytes_per_s,
        "own_peak_bytes_per_s": efficiency.memory * cluster.device.memory_bytes_per_s,
    }
