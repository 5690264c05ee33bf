"""planner shrink: a running job gives accelerators back."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from planner.cli.exits import PLAN
from planner.cli.inputs import AsJson
from planner.cli.resized_job import PATIENCE_S, print_resized
from planner.cli.service_call import DEFAULT_URL, TokenFile, Url, call
from planner.model.errors import InputError


def shrink(
    job: Annotated[
        Path, typer.Argument(metavar="JOB", help="The job as it was submitted, with fewer accelerators, JSON or YAML.")
    ],
    keep: Annotated[
        str, typer.Option(metavar="NAMES", help="Accelerators that it keeps, such as s0.t0,s0.t1; others are free.")
    ],
    url: Url = DEFAULT_URL,
    token_file: TokenFile = None,
    as_json: AsJson = False,
) -> int:
    """Take accelerators from a job of a running planner: its ranks go on where they are on those that it keeps.

    JOB differs from what was submitted in accelerators and constraints alone, and asks for as many as are kept.
    """
    from planner.model import files

    kept = _names(keep)
    smaller = files.parse_text(files.read_text(job), str(job))
    found = call("/v1/shrink", url, token_file, {"job": smaller, "kept": kept}, PATIENCE_S, job)
    print_resized(smaller["name"], found, as_json=as_json)
    return PLAN


def _names(text: str) -> list[str]:
    """Accelerators of the option, each once."""
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise InputError("--keep", f"'{text}'", "has an empty name; give names such as s0.t0,s0.t1")
    if doubled := sorted(name for name, count in Counter(names).items() if count > 1):
        raise InputError("--keep", f"'{text}'", f"names {', '.join(doubled)} more than once; name each once")
    return names
