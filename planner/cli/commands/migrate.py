"""planner migrate: files of an older version of the format become files of the newest."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from planner.cli.output import console
from planner.model.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from planner.model.schema_versions import Unsaid

FilePaths = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Instances, YAML or JSON.")]
OldDefaults = Annotated[
    bool,
    typer.Option(
        "--old-defaults",
        help="Write down what the old version took for fields that a file leaves out, where that has changed.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")]


class Migrated(NamedTuple):
    """A file as it will be."""

    path: Path
    text: str | None
    """None where it stays as it is"""
    said: str
    """what becomes of it"""


def migrate(files: FilePaths, old_defaults: OldDefaults = False, dry_run: DryRun = False) -> int:
    """Rewrite instances of an older schema_version in the newest one; comments and order stay.

    Both versions are read with the defaults of today; with --old-defaults each job keeps the choices that it had in
    photonplan 0.1. All files are read and checked before the first is written. Plans and files of pages have had one
    version so far; the journal of `planner serve` is migrated when it is opened.
    """
    from planner.studio.instance_file import KnownFiles

    known = KnownFiles()
    found = [_migrated(path, known.read(path), old_defaults) for path in files]
    for each in found:
        if each.text is not None and not dry_run:
            known.write(each.path, each.text)
        console().print(f"{each.path}: {each.said}", soft_wrap=True)
    return 0


def _migrated(path: Path, text: str, old_defaults: bool) -> Migrated:
    """What becomes of one file; InputError where it is no instance, or would be none afterwards."""
    from planner.model.files import parse_text
    from planner.model.instance import Instance
    from planner.model.schema_versions import KEY, NEWEST, Unsaid, is_old, unsaid
    from planner.studio.text_edits import with_value

    data = parse_text(text, str(path))
    if not is_old(data) or "cluster" not in data:
        return Migrated(path, None, _why_unchanged(path, data))
    pinned = unsaid(data) if old_defaults else []
    if old_defaults:
        _require_no_table(path, data)
    changed = text
    for field in (Unsaid((KEY,), NEWEST), *pinned):
        try:
            changed = with_value(changed, field.path, field.value)
        except InputError:
            problem = "is written in a way that cannot be changed in place, such as by an anchor; write it out"
            raise InputError(str(path), _place(data, field.path), problem) from None
    Instance.of_file(parse_text(changed, str(path)), path)
    return Migrated(path, changed, f"version 1 -> {NEWEST}{_told(data, pinned)}")


def _why_unchanged(path: Path, data: "Mapping[str, Any]") -> str:
    from planner.model.schema_versions import KEY, NEWEST

    version = data.get(KEY)
    if type(version) is not int or version > NEWEST:
        raise InputError(str(path), KEY, f"is {version!r}, not a version up to {NEWEST}; is it an instance?")
    return f"version {version}, the newest of its kind; unchanged"


def _require_no_table(path: Path, data: "Mapping[str, Any]") -> None:
    """InputError for jobs in a table: what their rows leave out is not written there."""
    from planner.model.job_table import names_table
    from planner.model.schema_versions import OLD_DEFAULTS

    if not names_table(data.get("jobs")):
        return
    by_kind = {kind: OLD_DEFAULTS[f"transformer_{kind}"].items() for kind in ("training", "inference")}
    shown = {kind: ", ".join(f"{name} {_shown(value)}" for name, value in each) for kind, each in by_kind.items()}
    old = "; ".join(f"{each} of {kind}" for kind, each in shown.items())
    remedy = f"give {data['jobs']} these columns where it lacks them ({old}), and leave out --old-defaults"
    raise InputError(str(path), "jobs", f"are in a table, which is not rewritten; {remedy}")


def _told(data: "Mapping[str, Any]", pinned: "Sequence[Unsaid]") -> str:
    """A line for each part that had fields written down."""
    fields: dict[str, list[str]] = {}
    for each in pinned:
        fields.setdefault(_place(data, each.path[:-1]), []).append(f"{each.path[-1]} {_shown(each.value)}")
    return "".join(f"\n  {place}: {', '.join(written)}" for place, written in fields.items())


def _place(data: "Mapping[str, Any]", path: "Sequence[str | int]") -> str:
    """A part of a file in words; jobs by name."""
    if path[0] not in ("jobs", "residents"):
        return ".".join(map(str, path))
    holder, number, *rest = path
    return f"{holder}[{data[str(holder)][number].get('name', number)}].{'.'.join(map(str, rest))}"


def _shown(value: Any) -> str:
    from planner.studio.text_edits import in_one_line

    return in_one_line(value)
