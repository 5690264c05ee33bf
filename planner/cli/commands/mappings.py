"""planner score --workload: the best ways to run one model on so many devices, over the whole space."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from costmodel.wording import counted
from planner.cli.output import console, percent, print_json, quantity, table
from planner.cli.outputs import PICTURE
from planner.cli.tables.fit_lines import JobFits
from planner.cli.tables.jitter import steps_told
from planner.cli.tables.jobs_table import SHORT, chosen, mapping
from planner.cli.tables.serving_columns import how_served, serving_columns, serving_record
from planner.cli.workload_inputs import device_of, option_named, workload_of
from planner.cli.workload_options import Phase, PrecisionName
from planner.model.errors import InputError

if TYPE_CHECKING:
    from costmodel.fabrics import FabricBase
    from costmodel.hardware.device import Device
    from costmodel.parallelism.configuration import Configuration
    from costmodel.pricing.search import Option, SearchResult
    from costmodel.pricing.search_counts import SearchCounts
    from costmodel.workloads import Workload

LESS = {
    "transformer_training": "a shorter --sequence",
    "transformer_inference": "a smaller --concurrency, a shorter --input or --output",
}
"""options that ask for less memory, by the kind of workload; of others a smaller --batch"""


@dataclass(frozen=True)
class Question:
    """Search space by the options of the command line."""

    model: str
    phase: Phase
    device: str
    num_devices: int
    batch: int
    sequence: int
    concurrency: int
    input_tokens: int
    output_tokens: int
    precision: PrecisionName
    backend: str
    system: str | None
    pinned: dict[str, int]
    """degrees of parallelism by name, where a user asks for one"""


def show_mappings(question: Question, top: int, as_json: bool, plot: str | None) -> int:
    """Search, print, and draw where asked."""
    from costmodel.pricing.candidates import candidates_of
    from costmodel.pricing.search import search
    from planner.cli.inputs import require_writable

    require_writable(Path(plot) if plot else None, "--plot", PICTURE)
    workload, device, fabric, is_fitted = _read(question)
    found = search(workload, [question.num_devices], device, fabric, top=top, pinned=question.pinned)
    if not found.best:
        raise _nothing_found(question, workload, device, fabric)
    rows = candidates_of([option.configuration for option in found.best], workload, device, fabric)
    fits = JobFits.of(rows, device)
    if as_json:
        print_json(_document(question, workload, found, fits, is_fitted=is_fitted) | _served(workload, device))
    else:
        _print(question, found, workload, device, [_how_sure(question, workload, device, is_fitted), *fits.lines])
    if plot:
        _draw(Path(plot), found, workload, device)
    return 0


def _read(question: Question) -> "tuple[Workload, Device, FabricBase, bool]":
    """Workload with every choice open, device, its servers; and whether efficiencies were fitted on the device."""
    from costmodel.fabrics import fat_tree_of
    from costmodel.hardware.systems import load_system, nearest_system
    from costmodel.parallelism.search_space import opened
    from costmodel.pricing.efficiency import efficiency_of
    from costmodel.serving.backends import require_backend

    device = device_of(question.device)
    with option_named("--system"):
        system = load_system(question.system) if question.system else nearest_system(device)
    with option_named("--backend"):
        require_backend(question.backend)
    with option_named("--precision"):
        device.matrix_flops_per_s(question.precision)
    workload = opened(_asked_workload(question), device)
    asked = {name: degree for name, degree in question.pinned.items() if name in workload.menus()}
    workload = workload.model_copy(update=asked)
    is_fitted = efficiency_of(device, question.phase, question.precision)[1]
    return workload, device, fat_tree_of(system, question.num_devices), is_fitted


def _asked_workload(question: Question) -> "Workload":
    from costmodel.workloads.from_model import WorkloadChoices

    choices = WorkloadChoices(**{field.name: getattr(question, field.name) for field in fields(WorkloadChoices)})
    return workload_of(question.model, choices)


def _nothing_found(question: Question, workload: "Workload", device: "Device", fabric: "FabricBase") -> InputError:
    from costmodel.parallelism.search_space import opened
    from costmodel.pricing.unlisted import lack_of

    size = question.num_devices
    if not question.pinned:
        return InputError("--devices", str(size), _why_none(workload, device, fabric, size))
    options = " ".join(f"--{SHORT[name]} {degree}" for name, degree in question.pinned.items())
    lack = lack_of(workload, size, device, fabric, pinned=question.pinned)
    if lack is not None and lack.kind == "division":
        lack = lack_of(opened(_asked_workload(question), device), size, device, fabric, pinned=question.pinned) or lack
    return InputError(options, "", "nothing was found" if lack is None else lack.text)


def _why_none(workload: "Workload", device: "Device", fabric: "FabricBase", num_devices: int) -> str:
    """Why nothing was found, and which options would help."""
    from costmodel.pricing.remedies import remedies
    from costmodel.pricing.unlisted import lack_of

    asked = (workload, num_devices, device, fabric)
    lack, found = lack_of(*asked), remedies(*asked)
    reason = "nothing was found" if lack is None else lack.text
    if lack is not None and lack.kind != "memory":
        other = "--concurrency" if workload.kind == "transformer_inference" else "--batch"
        return f"{reason}; another {other} would help"
    less = LESS.get(workload.kind, "a smaller --batch")
    more = f"more --devices, a smaller --precision, {less} or an accelerator with more memory"
    sure = f"{' or '.join(found)} would help, and " if found else ""
    return f"{reason}; {sure}{more} may help"


def _record(option: "Option") -> dict[str, Any]:
    from costmodel.pricing.score import ENERGIES

    scores, configuration = option.scores, option.configuration
    communication = {name: float(scores.communication_s[axis, 0]) for axis, name in enumerate(SHORT)}
    return {
        "configuration": configuration.model_dump(mode="json", exclude_none=True),
        "step_s": float(scores.step_s[0]),
        "speed": float(scores.speed[0]),
        "mfu": option.mfu,
        "compute_s": float(scores.compute_s[0]),
        "memory_s": float(scores.memory_s[0]),
        "communication_s": communication,
        "offload_s": float(scores.offload_s[0]),
        "bubble_s": float(scores.bubble_s[0]),
        "engine_s": float(scores.engine_s[0]),
        **serving_record(scores, 0),
        "footprint_bytes": float(scores.footprint_bytes[0]),
        "energy_per_work_j": float(scores.energy_per_work_j[0]),
        "energy_per_work_by_cause_j": {
            name: float(getattr(scores, f"{name}_j")[0] / scores.work[0]) for name in ENERGIES
        },
        "power_w": float(scores.power_w[0]),
    }


def _document(
    question: Question,
    searched: "Workload",
    found: "SearchResult",
    fits: JobFits,
    *,
    is_fitted: bool,
) -> dict[str, Any]:
    """All that was found; `workload` is the job with its choices open, as an instance would have it."""

    return {
        "question": vars(question),
        "workload": searched.model_dump(mode="json", exclude_defaults=True) | {"kind": searched.kind},
        "configurations": found.counts.listed,
        "fitting": found.counts.fitting,
        "as_calculon": found.counts.as_calculon,
        "priced": found.counts.priced,
        "calibrated": is_fitted,
        "outside_fit": fits.outside,
        "kernels_outside_fit": fits.kernels,
        "carried_over": fits.carried_over,
        "best": [_record(option) for option in found.best],
        "front": [_record(option) for option in found.front],
    }


def _served(searched: "Workload", device: "Device") -> dict[str, Any]:
    return {"serving": how_served(searched, device) or None}


def _print(
    question: Question, found: "SearchResult", workload: "Workload", device: "Device", sources: list[str]
) -> None:
    out = console()
    out.print(
        f"{_asked(question, workload)} on {question.num_devices} x {device.name}, fat tree of its servers",
        soft_wrap=True,
    )
    front = f"{len(found.front)} on the front of time, energy and memory"
    out.print(f"{_looked_at(found.counts)}; {front}", soft_wrap=True)
    if names := _opened_beyond_an_instance(question, workload):
        out.print(f"an instance fixes {', '.join(names)} where its workload does not list more; --json writes it so")
    for line in sources:
        out.print(line, soft_wrap=True)
    if found.best and (told := steps_told(workload, float(found.best[0].scores.step_s[0]))):
        out.print(told, soft_wrap=True)
    records = [_record(option) for option in found.best]
    columns = _columns(
        [option.configuration for option in found.best], records, workload.speed_unit.removesuffix("s/s")
    )
    if told := how_served(workload, device):
        out.print(f"first and next token: {told}", soft_wrap=True)
    out.print(
        table(columns, zip(*columns.values(), strict=True), right=[name for name in columns if name != "mapping"])
    )


def _looked_at(counts: "SearchCounts") -> str:
    """All mappings, those that fit, and those that another program's search would count."""
    too = f" ({counts.as_calculon:,} of them valid in Calculon too)" if counts.as_calculon else ""
    fit = f"{counts.fitting:,} fit{'s' if counts.fitting == 1 else ''} in memory{too}"
    return f"{counted(counts.listed, 'mapping')}; {fit}, {counts.priced:,} priced with their collectives"


def _opened_beyond_an_instance(question: Question, searched: "Workload") -> list[str]:
    """Fields whose choices are searched here, and of which a workload that leaves them out has fewer."""
    menus, wide = _asked_workload(question).menus(), searched.menus()
    return [name for name in type(searched).model_fields if name in menus and set(wide[name]) - set(menus[name])]


def _asked(question: Question, workload: "Workload") -> str:
    """The model and what it is asked to do."""
    if workload.speed_unit == "samples/s":
        step = f"{question.batch:,} samples a step"
    elif question.phase == "training":
        step = f"{question.batch:,} sequences of {question.sequence:,} tokens a step"
    else:
        step = f"{question.concurrency:,} users, {question.input_tokens:,} tokens in and {question.output_tokens:,} out"
    return f"{question.model} {question.phase} in {question.precision}, {step},"


def _how_sure(question: Question, workload: "Workload", device: "Device", is_fitted: bool) -> str:
    """Sources of the efficiencies."""
    from costmodel.pricing.efficiency import fitted_with

    if is_fitted:
        return fitted_with(device, question.phase, question.precision)
    if question.phase == "inference" and (origin := workload.fitted_on(device, question.num_devices)[0]):
        return f"efficiencies fitted on serving of {device.name}: {origin.software}, {origin.date}"
    if question.phase == "inference":
        return f"no serving was fitted on {device.name}"
    return (
        f"efficiencies typical of the part: no training was fitted on {device.name}; those fitted on others differ "
        "from their parts' by up to a third, so compare mappings rather than accelerators"
    )


def _columns(configurations: "list[Configuration]", records: list[dict[str, Any]], work: str) -> dict[str, list[str]]:
    """Columns by name; parts of the step that no mapping has are left out."""
    parts = {
        "compute": [r["compute_s"] for r in records],
        "memory": [r["memory_s"] for r in records],
        **{short: [r["communication_s"][name] for r in records] for name, short in SHORT.items()},
        "offload": [r["offload_s"] for r in records],
        "bubble": [r["bubble_s"] for r in records],
        "engine": [r["engine_s"] for r in records],
    }
    return {
        "mapping": [describe(configuration) for configuration in configurations],
        "step": [quantity(r["step_s"], "s") for r in records],
        f"{work}s/s": [quantity(r["speed"], "").strip() for r in records],
        **serving_columns(records),
        "MFU": [percent(r["mfu"]) for r in records],
        **{name: [quantity(s or None, "s") for s in column] for name, column in parts.items() if any(column)},
        "memory/accelerator": [quantity(r["footprint_bytes"], "B") for r in records],
        f"energy/{work}": [quantity(r["energy_per_work_j"], "J") for r in records],
    }


def describe(configuration: "Configuration") -> str:
    """tp8 pp4 dp16 mb1 v2 recompute full zero2 sp: degrees above one, micro-batch, and what was chosen."""
    return " ".join((mapping(configuration), f"mb{configuration.micro_batch}", *chosen(configuration)))


def _draw(path: Path, found: "SearchResult", workload: "Workload", device: "Device") -> None:
    from planner.plotting import require_matplotlib
    from planner.plotting.search import draw_search

    require_matplotlib()
    draw_search(path, found, workload, device)
