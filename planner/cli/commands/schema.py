"""planner schema: the JSON Schema that editors complete files from."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from planner.cli.output import print_json
from planner.model.errors import InputError

if TYPE_CHECKING:
    from planner.reference.file_kinds import FileKind

File = Annotated[
    Literal["instance", "topology", "prices", "failures", "settings", "slurm", "kubernetes", "switches"],
    typer.Argument(
        metavar="[instance|topology|prices|failures|settings|slurm|kubernetes|switches]",
        help="Of an instance; a topology of `planner synthesize`; of `--prices` and `--failures`; of `--settings` of "
        "`planner serve`; of slurm.yaml, kubernetes.yaml or switches.yaml.",
    ),
]


def schema(
    of: File = "instance",
    plan: Annotated[bool, typer.Option("--plan", help="The schema of plans instead.")] = False,
    pages: Annotated[bool, typer.Option("--pages", help="Of what `planner pages` reads and writes.")] = False,
) -> int:
    """Print the JSON Schema of a kind of file: every field as it is written, its unit, default and meaning."""
    from planner.reference.file_kinds import json_schema

    if of != "instance" and (plan or pages):
        raise InputError("planner schema", of, "has neither --plan nor --pages; leave them out")
    kinds: dict[tuple[bool, bool], FileKind] = {
        (False, False): of,
        (True, False): "plan",
        (False, True): "pages",
        (True, True): "page-plan",
    }
    print_json(json_schema(kinds[plan, pages]))
    return 0
