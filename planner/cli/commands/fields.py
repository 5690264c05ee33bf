"""planner fields: every field of the files, for people to read."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from planner.cli.output import console, table
from planner.model.errors import InputError

if TYPE_CHECKING:
    from planner.reference.fields import Field, Object

Path = Annotated[
    str,
    typer.Argument(
        metavar="[PATH]",
        help="Keys joined by dots, such as `jobs.workload`; a kind may follow: `cluster.fabric.lightpath`.",
    ),
]
Of = Annotated[
    Literal[
        "instance",
        "plan",
        "pages",
        "page-plan",
        "topology",
        "prices",
        "failures",
        "settings",
        "slurm",
        "kubernetes",
        "switches",
    ],
    typer.Option("--of", help="The kind of file."),
]
Search = Annotated[str, typer.Option("--search", metavar="WORD", help="Only fields that name or mention it.")]
COLUMNS = ("field", "type", "default", "example", "meaning")


def fields(path: Path = "", of: Of = "instance", search: Search = "") -> int:
    """List the fields of a kind of file: type and unit, default, an example, what each means.

    `planner fields` lists the file's own keys, `planner fields cluster.fabric` each kind of fabric with its fields,
    `planner fields --search wavelength` every field that mentions wavelengths.
    """
    from planner.reference.fields import at_path, matching, objects_of
    from planner.reference.file_kinds import json_schema

    objects = objects_of(json_schema(of), of)
    if search:
        found = list(matching(objects, search))
        if not found:
            raise InputError("planner fields", "--search", f"no field mentions '{search}'; try another word")
        _print([(f"{each.kind or each.name}.{field.key}", field) for each, field in found])
        return 0
    for number, each in enumerate(at_path(objects, path)):
        if number:
            print()
        print(f"{each.kind or each.name}: {each.meaning}")
        _print([(field.key, field) for field in each.fields])
        _say_what_is_below(each, path, of)
    return 0


def _print(rows: "list[tuple[str, Field]]") -> None:
    cells = [(name, field.type, field.default, field.example, field.meaning) for name, field in rows]
    console().print(table(COLUMNS, cells, wrap=("type", "meaning")))


def _say_what_is_below(here: "Object", path: str, of: str) -> None:
    keys = [field.key for field in here.fields if field.objects]
    if keys:
        where = ".".join(part for part in (path, keys[0]) if part)
        which = "" if of == "instance" else f" --of {of}"
        print(f"below: {', '.join(keys)}; `planner fields {where}{which}` lists its fields")
