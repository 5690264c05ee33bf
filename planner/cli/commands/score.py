"""planner score: what each configuration of a job costs, and why, without solving."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from costmodel.wording import counted
from planner.cli.commands.mappings import Question, show_mappings
from planner.cli.inputs import AsJson, MaybeInstancePath, load_problem, refuse_given, require_job
from planner.cli.output import console, number, plain, print_json, quantity, table
from planner.cli.tables.collectives_table import collective_records, collectives_table
from planner.cli.tables.fit_lines import JobFits
from planner.cli.tables.jitter import steps_told
from planner.cli.tables.jobs_table import SHORT, bottleneck, chosen, collectives, energy_header, mapping
from planner.cli.tables.phase_columns import OWN, block_column, phase_columns
from planner.cli.tables.serving_columns import how_served, serving_columns, serving_record
from planner.cli.workload_options import (
    OF_SERVING,
    OF_TRAINING,
    Backend,
    Concurrency,
    ContextDegree,
    DataDegree,
    DeviceName,
    ExpertDegree,
    GlobalBatch,
    InputTokens,
    ModelName,
    NumDevices,
    OutputTokens,
    PhaseOption,
    PipelineDegree,
    PlotPath,
    PrecisionOption,
    SequenceTokens,
    SystemName,
    TensorDegree,
)
from planner.model.errors import InputError

if TYPE_CHECKING:
    from planner.fabrics.problem import JobOptions
    from planner.model.cluster import Cluster

OF_INSTANCES = frozenset(("instance", "job", "top", "as_json", "watch"))
"""parameters that have a meaning with an instance; all others describe a model by itself"""


def score(
    context: typer.Context,
    instance: MaybeInstancePath = None,
    job: Annotated[str | None, typer.Argument(metavar="JOB", help="One job; all unless given.")] = None,
    top: Annotated[int, typer.Option(min=1, help="Candidates of each job, the most valuable first.")] = 10,
    as_json: AsJson = False,
    workload: ModelName = None,
    phase: PhaseOption = "training",
    device: DeviceName = "h100-sxm",
    devices: NumDevices = 64,
    batch: GlobalBatch = 2048,
    sequence: SequenceTokens = 4096,
    concurrency: Concurrency = 64,
    input_tokens: InputTokens = 1024,
    output_tokens: OutputTokens = 1024,
    precision: PrecisionOption = "bf16",
    backend: Backend = "generic",
    system: SystemName = None,
    plot: PlotPath = None,
    tp: TensorDegree = None,
    pp: PipelineDegree = None,
    dp: DataDegree = None,
    cp: ContextDegree = None,
    ep: ExpertDegree = None,
) -> int:
    """Show where the time and the energy of a step go: for each job of an INSTANCE, or for a --workload alone.

    With --workload the whole space of mappings is priced, and the best are shown: tp, pp, dp, cp and ep are degrees
    of tensor, pipeline, data, context and expert parallelism, mb sequences of a micro-batch, v chunks of layers
    of a stage, sp sequence parallelism. Times are seconds of the busiest device in one step, memory the time that
    memory binds; energies joules of the whole job and its share of servers per unit of work, by cause.
    """
    _require_fitting(context, instance, workload, phase)
    if workload is not None:
        sizes = (batch, sequence, concurrency, input_tokens, output_tokens)
        others = (precision, backend, system, _pinned(tp, pp, dp, cp, ep))
        return show_mappings(Question(workload, phase, device, devices, *sizes, *others), top, as_json, plot)
    assert instance is not None
    return _score_instance(instance, job, top, as_json=as_json)


def _require_fitting(context: typer.Context, instance: Path | None, workload: str | None, phase: str) -> None:
    """An instance or a workload, and no option that means nothing there."""
    if workload is not None and instance is not None:
        raise InputError("--workload", "", "give an instance or a workload, not both")
    if workload is not None and phase == "training":
        refuse_given(context, OF_SERVING, "is of --phase inference; this is training")
    elif workload is not None:
        refuse_given(context, OF_TRAINING, "is of --phase training; this is inference")
    if workload is None and instance is None:
        raise InputError("planner score", "INSTANCE", "missing; give an instance file, or --workload MODEL")
    if workload is None:
        of_models = frozenset(each.name or "" for each in context.command.params) - OF_INSTANCES
        refuse_given(context, of_models, "is of --workload; an instance says it itself")


def _pinned(*degrees: int | None) -> dict[str, int]:
    """Degrees that are given, by the name of their dimension."""
    return {name: degree for name, degree in zip(SHORT, degrees, strict=True) if degree is not None}


def _score_instance(instance: Path, job: str | None, top: int, *, as_json: bool) -> int:
    loaded, problem = load_problem(instance)
    chosen = require_job(instance, loaded, job) if job is not None else None
    options = [each for each in problem.options if chosen in (None, each.job.name)]
    if as_json:
        print_json({each.job.name: _document(problem.cluster, each, top) for each in options})
        return 0
    out = console()
    for number_of_job, each in enumerate(options):
        if number_of_job:
            out.print()
        _print_job(out, problem.cluster, each, top)
    return 0


def _document(cluster: "Cluster", options: "JobOptions", top: int) -> dict[str, Any]:
    rows = options.rows_by_value()[:top]
    return {
        "listed": options.num_listed,
        "dominated": options.num_listed - len(options),
        "unit": options.job.workload.speed_unit,
        "candidates": [
            {**_record(options, row), "messages": collective_records(cluster, options, row)} for row in rows
        ],
    }


def _record(options: "JobOptions", row: int) -> dict[str, Any]:
    """All that is known of one candidate."""
    from costmodel.pricing.score import ENERGIES

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
        "offload_s": float(scores.offload_s[row]),
        "bubble_s": float(scores.bubble_s[row]),
        "engine_s": float(scores.engine_s[row]),
        **serving_record(scores, row),
        "bottleneck": bottleneck(scores, row),
        "energy_per_work_j": float(scores.energy_per_work_j[row]),
        "energy_per_work_by_cause_j": {name: float(getattr(scores, f"{name}_j")[row]) / work for name in ENERGIES},
        "power_w": float(scores.power_w[row]),
        "footprint_bytes": float(scores.footprint_bytes[row]),
    }


def _print_job(out: Any, cluster: "Cluster", options: "JobOptions", top: int) -> None:
    import numpy as np

    from planner.candidates.unlisted import why_unlisted

    dropped = options.num_listed - len(options)
    listed = f"{counted(options.num_listed, 'candidate')} listed, {dropped:,} pruned as dominated"
    shown = f", the best {top} shown" if len(options) > top else ""
    out.print(f"{plain(options.job.name)}   {listed}{shown}", soft_wrap=True)
    if not len(options):
        out.print(plain(f"  {why_unlisted(cluster, options.job)}"), soft_wrap=True)
        return
    rows = options.rows_by_value()[:top]
    records = [_record(options, row) for row in rows]
    names = [_mapping(options, row) for row in rows]
    for line in JobFits.of(options.candidates.take(np.array(rows)), cluster.device).lines:
        out.print(f"  {line}", soft_wrap=True)
    if told := how_served(options.job.workload, cluster.device, options.candidates.has_phases[rows].tolist()):
        out.print(f"  first and next token: {told}", soft_wrap=True)
    if told := steps_told(options.job.workload, records[0]["step_s"]):
        out.print(f"  {told}", soft_wrap=True)
    out.print(
        _table(
            "time of a step; tensor, pipeline and data are communication",
            _time_columns(options, rows, records, names),
        )
    )
    out.print(_table(energy_header([options.job]).replace("/", " per "), _energy_columns(records, names)))
    if over_circuits := collective_records(cluster, options, rows[0]):
        out.print(collectives_table(over_circuits))


def _mapping(options: "JobOptions", row: int) -> str:
    """tp2 dp4 mb16 v2: degrees, sequences of a micro-batch, and what was chosen."""
    configuration = options.candidates.configuration(row)
    sequences = [f"mb{configuration.micro_batch}"] if hasattr(options.job.workload, "micro_batch") else []
    return " ".join((mapping(configuration), *sequences, *chosen(configuration)))


def _time_columns(
    options: "JobOptions", rows: Sequence[int], records: list[dict[str, Any]], names: list[str]
) -> dict[str, list[str]]:
    """Columns by name; parts of the step that no candidate has are left out."""
    laid = {
        "devices": [str(r["devices"]) for r in records],
        "mapping": names,
        "collectives": [r["collectives"] for r in records],
        **phase_columns(options, rows),
    }
    parts = {
        "compute": [r["compute_s"] for r in records],
        "memory": [r["memory_s"] for r in records],
        **{name: [r["communication_s"][name] for r in records] for name in SHORT},
        "switching": [r["reconfiguration_s"] for r in records],
        "offload": [r["offload_s"] for r in records],
        "bubble": [r["bubble_s"] for r in records],
        "engine": [r["engine_s"] for r in records],
    }
    times = {name: [quantity(s or None, "s") for s in column] for name, column in parts.items() if any(column)}
    return {
        **laid,
        **block_column(options, rows, laid),
        **times,
        "step": [quantity(r["step_s"], "s") for r in records],
        options.job.workload.speed_unit: [quantity(r["speed"], "").strip() for r in records],
        **serving_columns(records),
        "value": [number(r["value"]) for r in records],
    }


def _energy_columns(records: list[dict[str, Any]], names: list[str]) -> dict[str, list[str]]:
    from costmodel.pricing.score import ENERGIES

    causes = {told: [r["energy_per_work_by_cause_j"][name] for r in records] for name, told in ENERGIES.items()}
    return {
        "devices": [str(r["devices"]) for r in records],
        "mapping": names,
        **{name: [quantity(j or None, "J") for j in column] for name, column in causes.items()},
        "sum": [quantity(r["energy_per_work_j"], "J") for r in records],
        "power": [quantity(r["power_w"], "W") for r in records],
        "memory/accelerator": [quantity(r["footprint_bytes"], "B") for r in records],
    }


def _table(title: str, columns: dict[str, list[str]]) -> Any:
    texts = [name for name in columns if name in ("mapping", "collectives") or name.startswith(OWN)]
    numbers = [name for name in columns if name not in texts]
    result = table(columns, zip(*columns.values(), strict=True), right=numbers, wrap=texts[1:])
    result.title = title
    result.title_justify = "left"
    return result
