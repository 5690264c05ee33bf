"""planner ask: would this job start now, when, why not, and what would let it in?"""

import json
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Annotated, Any

import typer

from planner.cli import exits
from planner.cli.inputs import AsJson
from planner.cli.output import console, plain, print_json, seconds
from planner.model.errors import InputError

DEFAULT_URL = "http://127.0.0.1:8642"
GREEDY_S = 30.0
"""most time to wait for an answer without a proof: a new kind of job is expanded first"""


def ask(
    job: Annotated[Path, typer.Argument(metavar="JOB", help="The job as `POST /v1/jobs` takes it, JSON or YAML.")],
    url: Annotated[str, typer.Option(metavar="URL", help="A `planner serve`.")] = DEFAULT_URL,
    token_file: Annotated[Path | None, typer.Option(metavar="FILE", help="Its token.")] = None,
    proof: Annotated[
        float, typer.Option(min=0.0, max=30.0, metavar="S", help="Seconds to prove what would let it in.")
    ] = 0.0,
    as_json: AsJson = False,
) -> int:
    """Ask a running planner before a job is submitted; nothing is decided. Exit code 0 if it would start, 1 if not."""
    from planner.model import files

    body = files.parse_text(files.read_text(job), str(job))
    found = _answer(url, token_file, body, proof)
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


def _answer(url: str, token_file: Path | None, body: Any, proof_s: float) -> dict[str, Any]:
    from planner.model import files

    query = f"?{urllib.parse.urlencode({'proof': proof_s})}" if proof_s else ""
    headers = {"Content-Type": "application/json"}
    if token_file is not None:
        headers["Authorization"] = f"Bearer {files.read_text(token_file).strip()}"
    try:
        request = urllib.request.Request(f"{url.rstrip('/')}/v1/ask{query}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=GREEDY_S + proof_s) as response:
            found: dict[str, Any] = json.load(response)
    except urllib.error.HTTPError as error:
        said = _fault(error)
        raise InputError(url, said.get("field", str(error.code)), said.get("problem", error.reason)) from None
    except (urllib.error.URLError, ValueError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise InputError(
            "--url", url, f"does not answer ({reason}); start `planner serve`, or give its address"
        ) from None
    return found


def _fault(error: urllib.error.HTTPError) -> dict[str, str]:
    try:
        said = json.load(error)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
