"""planner ask: would this job start now, when, why not, and what would let it in?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from planner.cli import exits
from planner.cli.inputs import AsJson
from planner.cli.output import console, plain, print_json, seconds
from planner.cli.service_call import DEFAULT_URL, TokenFile, Url, call

GREEDY_S = 30.0
"""most time to wait for an answer without a proof: a new kind of job is expanded first"""


def ask(
    job: Annotated[Path, typer.Argument(metavar="JOB", help="The job as `POST /v1/jobs` takes it, JSON or YAML.")],
    url: Url = DEFAULT_URL,
    token_file: TokenFile = None,
    proof: Annotated[
        float, typer.Option(min=0.0, max=30.0, metavar="S", help="Seconds to prove what would let it in.")
    ] = 0.0,
    as_json: AsJson = False,
) -> int:
    """Ask a running planner before a job is submitted; nothing is decided. Exit code 0 if it would start, 1 if not, or
    if that is not known."""
    from planner.model import files

    body = files.parse_text(files.read_text(job), str(job))
    query = f"?proof={proof:g}" if proof else ""
    found = call(f"/v1/ask{query}", url, token_file, body, GREEDY_S + proof, job)
    if as_json:
        print_json(found)
    else:
        for line in lines_of(found):
            console().print(plain(line), soft_wrap=True)
    return exits.PLAN if found["starts"] else exits.VIOLATIONS


def lines_of(found: dict[str, Any]) -> list[str]:
    """An answer in words."""
    if found["starts"]:
        lines = [f"starts now on {', '.join(found['devices'])}"]
    elif found["waits_for"]["tag"] == "time":
        lines = [f"not known yet: {found['waits_for']['because']}; ask again, or submit it"]
    else:
        lines = [f"waits ({found['waits_for']['tag']}): {found['waits_for']['because']}"]
        if found["earliest_s"] is not None:
            lines.append(f"could start in {seconds(found['earliest_s'])}, if all who run keep their limits")
    if found["ahead"]:
        lines.append(f"{found['ahead']} waiting {'job is' if found['ahead'] == 1 else 'jobs are'} before it")
    lines.append(f"{found['most_together']} accelerators are free for one job")
    proof = found["proof"]
    return (
        lines if proof is None else [*lines, proof["headline"], *(f"- {said['text']}" for said in proof["statements"])]
    )
