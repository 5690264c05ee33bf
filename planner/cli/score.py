"""planner score: what each configuration of a job costs, and why, without solving."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.inputs import AsJson, InstancePath, load_problem
from planner.cli.jobs_table import SHORT, bottleneck, collectives, mapping, unit_of_work
from planner.cli.output import console, number, plain, print_json, quantity, table
from planner.cli.summary import count

if TYPE_CHECKING:
    from planner.problem import JobOptions, Problem

ENERGIES = ("compute", "memory", "network", "static")


def score(
    instance: InstancePath,
    job: Annotated[str | None, typer.Argument(metavar="JOB", help="One job; all unless given.")] = None,
    top: Annotated[int, typer.Option(min=1, help="Candidates of each job, the most valuable first.")] = 10,
    as_json: AsJson = False,
) -> int:
    """Show the candidates of each job: where the time and the energy of a step go. Nothing is solved.

    Times are seconds of the busiest device in one step; energies are joules of the whole job per unit of work.
    """
    loaded, problem = load_problem(instance)
    chosen = loaded.job(job).name if job is not None else None
    options = [each for each in problem.options if chosen in (None, each.job.name)]
    if as_json:
        print_json({each.job.name: _document(problem, each, top) for each in options})
        return 0
    out = console()
    for number_of_job, each in enumerate(options):
        if number_of_job:
            out.print()
        _print_job(out, each, top)
    return 0


def _document(problem: "Problem", options: "JobOptions", top: int) -> dict[str, Any]:
    rows = options.rows_by_value()[:top]
    return {
        "listed": options.num_listed,
        "dominated": options.num_listed - len(options),
        "unit": options.job.workload.speed_unit,
        "candidates": [_record(options, row) for row in rows],
    }


def _record(options: "JobOptions", row: int) -> dict[str, Any]:
    """All that is known of one candidate."""
    scores = options.scores
    configuration = options.candidates.configuration(row)
    work = float(scores.work[row])
    return {
        "devices": configuration.num_devices,
        "configuration": configuration.model_dump(mode="json"),
        "collectives": collectives(options.candidates, row),
        "value": float(options.value[row]),
        "speed": float(scores.speed[row]),
        "step_s": float(scores.step_s[row]),
        "compute_s": float(scores.compute_s[row]),
        "memory_s": float(scores.memory_s[row]),
        "communication_s": {name: float(scores.communication_s[axis, row]) for axis, name in enumerate(SHORT)},
        "reconfiguration_s": float(scores.reconfiguration_s[row]),
        "bubble_s": float(scores.bubble_s[row]),
        "bottleneck": bottleneck(scores, row),
        "energy_per_work_j": float(scores.energy_per_work_j[row]),
        "energy_per_work_by_cause_j": {name: float(getattr(scores, f"{name}_j")[row]) / work for name in ENERGIES},
        "power_w": float(scores.power_w[row]),
        "footprint_bytes": float(scores.footprint_bytes[row]),
    }


def _print_job(out: Any, options: "JobOptions", top: int) -> None:
    dropped = options.num_listed - len(options)
    listed = f"{count(options.num_listed, 'candidate')} listed, {dropped:,} dominated"
    shown = f", the best {top} shown" if len(options) > top else ""
    out.print(f"{plain(options.job.name)}   {listed}{shown}", soft_wrap=True)
    if not len(options):
        out.print("  no configuration divides the workload and fits in memory")
        return
    records = [_record(options, row) for row in options.rows_by_value()[:top]]
    names = [mapping(options.candidates.configuration(row)) for row in options.rows_by_value()[:top]]
    out.print(_table("time of a step", _time_columns(options, records, names)))
    out.print(_table("energy and memory", _energy_columns(options, records, names)))


def _time_columns(options: "JobOptions", records: list[dict[str, Any]], names: list[str]) -> dict[str, list[str]]:
    """Columns by name; parts of the step that no candidate has are left out."""
    unit = options.job.workload.speed_unit
    parts = {
        "compute": [r["compute_s"] for r in records],
        "memory": [r["memory_s"] for r in records],
        **{f"{name} comm.": [r["communication_s"][name] for r in records] for name in SHORT},
        "switching": [r["reconfiguration_s"] for r in records],
        "bubble": [r["bubble_s"] for r in records],
    }
    return {
        "devices": [str(r["devices"]) for r in records],
        "mapping": names,
        "micro-batch": [str(r["configuration"]["micro_batch"]) for r in records],
        "block": [str(r["configuration"]["block"]) for r in records],
        "collectives": [r["collectives"] for r in records],
        **{name: [quantity(s, "s") for s in column] for name, column in parts.items() if any(column)},
        "step": [quantity(r["step_s"], "s") for r in records],
        unit: [number(float(f"{r['speed']:.4g}")) for r in records],
        "value": [number(r["value"]) for r in records],
    }


def _energy_columns(
    options: "JobOptions", records: list[dict[str, Any]], names: list[str]
) -> dict[str, list[str]]:
    unit = f"J/{unit_of_work(options.job)}"
    causes = {name: [r["energy_per_work_by_cause_j"][name] for r in records] for name in ENERGIES}
    return {
        "devices": [str(r["devices"]) for r in records],
        "mapping": names,
        **{name: [quantity(j, unit) for j in column] for name, column in causes.items()},
        "sum": [quantity(r["energy_per_work_j"], unit) for r in records],
        "power": [quantity(r["power_w"], "W") for r in records],
        "memory per device": [quantity(r["footprint_bytes"], "B") for r in records],
    }


def _table(title: str, columns: dict[str, list[str]]) -> Any:
    texts = ("mapping", "collectives")
    result = table(columns, zip(*columns.values(), strict=True), right=[c for c in columns if c not in texts])
    result.title = title
    result.title_justify = "left"
    return result
