"""planner front: what serving a model may offer, tokens/s of an accelerator against tokens/s of a user."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli import completions
from planner.cli.inputs import AsJson, refuse_given, require_writable
from planner.cli.output import console, plain, print_json, quantity, table
from planner.cli.outputs import FRONT_TABLE, PICTURE
from planner.cli.tables.jobs_table import mapping
from planner.cli.workload_inputs import device_of, option_named, workload_of
from planner.cli.workload_options import (
    Backend,
    InputTokens,
    ModelName,
    NumDevices,
    OutputTokens,
    PrecisionOption,
)
from planner.model.errors import InputError

if TYPE_CHECKING:
    from costmodel.serving.front import ServingFront

COLUMNS = (
    "name", "devices", "mapping", "users", "tokens_per_s_of_a_user", "tokens_per_s_of_a_device", "ttft_s", "tpot_s",
    "energy_per_token_j",
)  # fmt: skip


Instances = Annotated[
    list[Path] | None, typer.Argument(metavar="INSTANCE...", help="Instance files; their serving jobs are drawn.")
]
Devices = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        autocompletion=completions.devices,
        help="A device of the catalog, or a file; may be given several times.",
    ),
]


OF_MODELS = frozenset(("device", "devices", "input_tokens", "output_tokens", "precision", "backend"))
"""parameters that describe a model by itself"""
OF_INSTANCES = frozenset(("job",))


@dataclass(frozen=True)
class FrontQuestion:
    """Models of the command line, where there is no instance."""

    model: str
    devices: tuple[str, ...]
    num_devices: int
    input_tokens: int
    output_tokens: int
    precision: Any
    backend: str


def front(
    context: typer.Context,
    instances: Instances = None,
    job: Annotated[str | None, typer.Option("--job", metavar="JOB", help="This job of each instance alone.")] = None,
    workload: ModelName = None,
    device: Devices = None,
    devices: NumDevices = 8,
    input_tokens: InputTokens = 1024,
    output_tokens: OutputTokens = 1024,
    precision: PrecisionOption = "bf16",
    backend: Backend = "generic",
    users: Annotated[
        str | None,
        typer.Option(metavar="N,N,...", help="Users served at once; 1, 2, 4, ... 4096 unless given."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw all fronts, .png or .svg.")] = None,
    table_out: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the table as CSV.")] = None,
    as_json: AsJson = False,
) -> int:
    """Show the front of tokens/s of an accelerator against tokens/s of a user: no candidate beats these in both.

    Each serving job of INSTANCE files, on their fabrics, or a --workload on servers of each --device. A user's
    tokens/s are 1 / time per output token. Candidates that miss the limits of a job are left out.
    """
    require_writable(plot, "--plot", PICTURE)
    require_writable(table_out, "--csv", FRONT_TABLE)
    numbers, sizes = _numbers(users), (devices, input_tokens, output_tokens)
    _require_fitting(context, instances, workload)
    if workload is not None:
        fronts = _of_model(FrontQuestion(workload, tuple(device or ("h100-sxm",)), *sizes, precision, backend), numbers)
    else:
        fronts = _of_instances(instances or [], job, numbers)
    _show([record for name, found in fronts.items() for record in _records(name, found)], table_out, as_json=as_json)
    if plot is not None:
        _draw(plot, fronts)
    return 0


def _require_fitting(context: typer.Context, instances: list[Path] | None, workload: str | None) -> None:
    """Instances or a workload, and no option that means nothing there."""
    if (workload is None) == (not instances):
        raise InputError("planner front", "INSTANCE", "give instance files, or --workload MODEL, one of the two")
    if workload is not None:
        refuse_given(context, OF_INSTANCES, "is of instances; a workload is one job")
    else:
        refuse_given(context, OF_MODELS, "is of --workload; an instance says it itself")


def _show(records: list[dict[str, Any]], path: Path | None, *, as_json: bool) -> None:
    if as_json:
        print_json({"front": records})
    else:
        _print(records)
    if path is not None:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(records)


def _numbers(users: str | None) -> tuple[int, ...]:
    from costmodel.serving.front import USERS

    if users is None:
        return USERS
    try:
        numbers = tuple(int(each) for each in users.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 1 or max(numbers) > 2**30:
        raise InputError("--users", f"'{users}'", "is no list of numbers of users; give such as 1,8,64")
    return numbers


def _of_model(question: FrontQuestion, users: tuple[int, ...]) -> "dict[str, ServingFront]":
    """By device."""
    from costmodel.fabrics import fat_tree_of
    from costmodel.hardware.systems import nearest_system
    from costmodel.serving.front import require_tokens, serving_front
    from costmodel.workloads import TransformerInference
    from costmodel.workloads.from_model import WorkloadChoices

    asked = question.input_tokens, question.output_tokens
    choices = WorkloadChoices("inference", question.precision, 1, 1, 1, *asked, question.backend)
    with option_named("--backend"):
        served = workload_of(question.model, choices)
    if not isinstance(served, TransformerInference):
        raise InputError("--workload", question.model, "writes no tokens; give a model that does")
    with option_named("--output"):
        require_tokens(served)
    fronts = {}
    for name in question.devices:
        part = device_of(name)
        with option_named("--device"):
            fabric = fat_tree_of(nearest_system(part), question.num_devices)
            found = serving_front(served, [question.num_devices], part, fabric, users=users)
        fronts[part.name] = _require_some(found, "--devices", str(question.num_devices), part.name)
    return fronts


def _of_instances(paths: list[Path], job: str | None, users: tuple[int, ...]) -> "dict[str, ServingFront]":
    """By job, with the instance where there are several."""
    from costmodel.pricing.limits import Limits
    from costmodel.serving.front import serving_front
    from costmodel.workloads import TransformerInference
    from planner.model.instance import Instance

    fronts = {}
    for path in paths:
        instance = Instance.load(path)
        chosen = instance.all_jobs if job is None else (instance.job(job),)
        served = [(each, each.workload) for each in chosen if isinstance(each.workload, TransformerInference)]
        if not served:
            raise InputError(str(path), "jobs", "none serves users; name an instance with a transformer_inference job")
        for each, workload in served:
            limits, most = Limits.of(each.constraints), instance.cluster.fabric.most_devices_of_a_job
            place = [size for size in each.sizes if size <= most], instance.cluster.device, instance.cluster.fabric
            with option_named(f"{path}: jobs[{each.name}].workload"):
                found = serving_front(workload, *place, users=users, limits=limits)
            name = each.name if len(paths) == 1 else f"{instance.name} {each.name}"
            fronts[name] = _require_some(found, str(path), f"jobs[{each.name}]", each.name)
    return fronts


def _require_some(found: "ServingFront", where: str, field: str, name: str) -> "ServingFront":
    if not len(found.candidates):
        problem = f"no candidate of {name} serves so many users; `planner score` says what stands in the way"
        raise InputError(where, field, problem)
    return found


def _records(name: str, found: "ServingFront") -> list[dict[str, Any]]:
    scores = found.scores
    return [
        {
            "name": name,
            "devices": int(found.candidates.num_devices[row]),
            "mapping": mapping(found.candidates.configuration(row)),
            "users": int(scores.work[row]),
            "tokens_per_s_of_a_user": float(found.per_user[row]),
            "tokens_per_s_of_a_device": float(found.per_device[row]),
            "ttft_s": float(scores.ttft_s[row]),
            "tpot_s": float(scores.tpot_s[row]),
            "energy_per_token_j": float(scores.energy_per_work_j[row]),
        }
        for row in found.rows.tolist()
    ]


def _print(records: list[dict[str, Any]]) -> None:
    columns = {
        "": [plain(r["name"]) for r in records],
        "accelerators": [str(r["devices"]) for r in records],
        "mapping": [r["mapping"] for r in records],
        "users": [f"{r['users']:,}" for r in records],
        "tokens/s of a user": [f"{r['tokens_per_s_of_a_user']:.4g}" for r in records],
        "of an accelerator": [f"{r['tokens_per_s_of_a_device']:.4g}" for r in records],
        "TTFT": [quantity(r["ttft_s"], "s") for r in records],
        "TPOT": [quantity(r["tpot_s"], "s") for r in records],
        "energy/token": [quantity(r["energy_per_token_j"], "J") for r in records],
    }
    right = [name for name in columns if name not in ("", "mapping")]
    console().print(table(columns, zip(*columns.values(), strict=True), right=right, keys=4))


def _draw(path: Path, fronts: "dict[str, ServingFront]") -> None:
    from planner.plotting import require_matplotlib
    from planner.plotting.serving_front import draw_serving_front

    require_matplotlib()
    labels = {
        name: [mapping(found.candidates.configuration(row)) for row in found.rows.tolist()]
        for name, found in fronts.items()
    }
    draw_serving_front(path, fronts, labels)
