"""planner defrag: moves of running jobs that would leave larger holes, with their price."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from planner.cli.exits import PLAN
from planner.cli.inputs import AsJson
from planner.cli.output import console, number, plain, print_json, seconds
from planner.cli.service_call import DEFAULT_URL, TokenFile, Url, call

PATIENCE_S = 30.0
MOST_NAMED = 8
"""accelerators of one place that are printed"""


def defrag(
    url: Url = DEFAULT_URL,
    token_file: TokenFile = None,
    budget: Annotated[float, typer.Option(min=0.0, max=5.0, metavar="S", help="Seconds of search.")] = 1.0,
    apply: Annotated[
        str | None, typer.Option(metavar="PROPOSAL", help="Carry out the proposal of this name, as it was printed.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Ask a running planner which jobs should move so that less of what is free is fragmented, and at what price.

    Nothing moves before --apply names the proposal, and nothing if anything has happened since it was made: ask again
    then. Jobs with `movable: false`, those over several servers and drained servers stay as they are.
    """
    if apply is not None:
        found = call("/v1/defrag", url, token_file, {"proposal": apply}, PATIENCE_S)
        moved = [each["job"] for each in found["decisions"] if each["d"] == "move"]
        if as_json:
            print_json(found)
        else:
            console().print(f"moved: {plain(', '.join(moved))}", soft_wrap=True)
        return PLAN
    found = call(f"/v1/defrag?budget={budget:g}", url, token_file, None, PATIENCE_S)
    if as_json:
        print_json(found)
    else:
        for line in _lines(found):
            console().print(plain(line), soft_wrap=True)
    return PLAN


def _lines(found: dict[str, Any]) -> Iterator[str]:
    """A proposal in words."""
    fragmented = f"{number(found['fragmented_before'])} of {found['free']} free accelerators are fragmented"
    if not found["moves"]:
        yield f"{fragmented}; no moves pay"
        return
    who = "this job moves" if len(found["moves"]) == 1 else "these jobs move"
    yield f"{fragmented}; {number(found['fragmented_after'])} once {who}:"
    for move in found["moves"]:
        yield f"- {move['job']}: {_named(move['before'])} to {_named(move['after'])}"
    yield f"costs {seconds(found['cost_s'])} and gains {seconds(found['gain_s'])} of one accelerator"
    yield f"accept it with --apply {found['proposal']}"


def _named(devices: list[str]) -> str:
    more = len(devices) - MOST_NAMED
    return ", ".join(devices[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
