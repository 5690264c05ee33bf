"""planner export: a plan for programs that run or simulate its collectives."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from costmodel.wording import counted
from planner.cli.inputs import InstancePath, load_checked_plan, load_plan, refuse_given, require_not_given
from planner.cli.sizes import bytes_of
from planner.model.errors import InputError

if TYPE_CHECKING:
    from planner.integrations.exports import Source
    from planner.integrations.exports.files import File

MOST_NAMED = 8
"""files of earlier exports"""
OF_FORMAT = {
    "chakra": frozenset(("message",)),
    "crossconnects": frozenset(("wiring", "before")),
    "slices": frozenset(("partitions", "kubernetes", "nodes")),
}
"""parameters that say something of one format alone"""
Partitions = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Names of cubes under `partitions` (slices); else those of the plan."),
]
Message = Annotated[str, typer.Option(metavar="SIZE", help="Bytes of a traced collective (chakra).")]
Cables = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Cables of the switches (crossconnects); else numbered in order.")
]
Before = Annotated[
    Path | None, typer.Option("--from", metavar="PLAN", help="Plan whose circuits are on (crossconnects).")
]
Kubernetes = Annotated[
    Path | None, typer.Option(metavar="FILE", help="kubernetes.yaml with the nodes of cubes; with --nodes (slices).")
]
Nodes = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="`kubectl get nodes -o json`: partitions inside cubes by labels (slices)."),
]


def export(
    context: typer.Context,
    instance: InstancePath,
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="Plan, or the JSON of `planner solve`.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write into.")],
    format_name: Annotated[
        Literal["msccl", "chakra", "tuner", "circuits", "graphml", "crossconnects", "slices"],
        typer.Option("--format", help="What to write."),
    ],
    message: Message = "1 MiB",
    wiring: Cables = None,
    before: Before = None,
    partitions: Partitions = None,
    kubernetes: Kubernetes = None,
    nodes: Nodes = None,
) -> int:
    """Write the all-reduces and all-to-alls of a plan, or all circuits, one set of files for each job and dimension.

    msccl: both as algorithms in XML, with the circuits beside them. chakra: their execution traces, with files
    of ASTRA-sim. tuner: crossovers by size for the tuner plugin of NCCL. circuits: all that is held, pipelines, whole
    slices and memory as well, with the rounds of collectives, as JSON. graphml: all circuits as graphs. crossconnects:
    what each optical switch deletes and adds, by its ports. slices: Slice resources of GKE for jobs of whole cubes,
    with --kubernetes and --nodes inside cubes, too. Of an all-reduce over several racks it is the part in each.
    """
    from planner.integrations.exports import Source, warnings_of
    from planner.model.instance import Instance

    for other, parameters in OF_FORMAT.items():
        if other != format_name:
            refuse_given(context, parameters, f"is for --format {other}; leave it out")
    problem = Instance.load(instance)
    given, earlier = load_checked_plan(plan, problem), load_plan(before, problem) if before is not None else None
    named = partitions, _hosts(kubernetes, nodes)
    size = round(bytes_of(message, "--message", "give the size of a call, such as '1 MiB'"))
    source = Source(problem, given, str(plan), size, wiring, earlier, *named, tell=_warn)
    files = _files(format_name, source)
    _write(output, files, instance, plan)
    for warning in (*warnings_of(files), *_told_left(output, format_name, source, files)):
        _warn(warning)
    return 0


def _told_left(folder: Path, format_name: str, source: "Source", files: "list[File]") -> list[str]:
    """A line about files of other plans in the folder, if there are any."""
    from planner.integrations.exports import leftovers

    names = leftovers(folder, format_name, source, [name for name, _ in files])
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    said = f"{folder}: not of this plan, but of an earlier export: {', '.join(names[:MOST_NAMED])}{more}"
    return [said] if names else []


def _warn(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr)


def _hosts(kubernetes: Path | None, nodes: Path | None) -> tuple[Path, Path] | None:
    """Both files or neither."""
    if kubernetes is not None and nodes is not None:
        return kubernetes, nodes
    if kubernetes is not None or nodes is not None:
        given, lacking = ("--kubernetes", "--nodes") if nodes is None else ("--nodes", "--kubernetes")
        raise InputError(given, "", f"is of use with {lacking} alone; give both, or neither")
    return None


def _files(format_name: str, source: "Source") -> "list[File]":
    from planner.integrations.exports import export_files

    try:
        return list(export_files(format_name, source))
    except InputError:
        raise
    except ValueError as error:
        raise InputError(source.where, f"--format {format_name}", str(error)) from None


def _write(folder: Path, files: "list[File]", *given: Path) -> None:
    """Into a folder, over none of the given files."""
    for name, _ in files:
        require_not_given(folder / name, "--output", *given)
    if folder.is_file():
        raise InputError(str(folder), "--output", "is a file; name a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files:
            data = content.encode() if isinstance(content, str) else content
            (folder / name).write_bytes(data)
    except OSError as error:
        raise InputError(str(folder), "--output", f"cannot be written: {error.strerror}") from None
    print(f"wrote {counted(len(files), 'file')} into {folder}", file=sys.stderr)
