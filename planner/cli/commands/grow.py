"""planner grow: a running job gets more accelerators."""

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.exits import PLAN
from planner.cli.inputs import AsJson
from planner.cli.resized_job import PATIENCE_S, print_resized
from planner.cli.service_call import DEFAULT_URL, TokenFile, Url, call


def grow(
    job: Annotated[
        Path, typer.Argument(metavar="JOB", help="The job as it was submitted, with more accelerators, JSON or YAML.")
    ],
    url: Url = DEFAULT_URL,
    token_file: TokenFile = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait in the queue of the planner where it cannot be at once.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Give a job of a running planner more accelerators beside its own: no rank moves, and nothing pauses.

    JOB differs from what was submitted in accelerators and constraints alone. The job gets all that it asks for, or
    goes on as it is; what stands in the way is told then. With --wait it has a place in the queue, and grows in its
    turn. Give the job as it runs to have it wait no longer.
    """
    from planner.model import files

    body = files.parse_text(files.read_text(job), str(job))
    path = "/v1/grow?wait=true" if wait else "/v1/grow"
    found = call(path, url, token_file, body, PATIENCE_S, job)
    print_resized(body["name"], found, as_json=as_json)
    return PLAN
