"""Options of `planner solve` that other commands lack."""

from pathlib import Path
from typing import Annotated

import typer

from planner.cli import completions
from planner.cli.inputs import POLICY_NAMES

PolicyName = Annotated[
    str, typer.Option(autocompletion=completions.policies, help=f"{POLICY_NAMES}, or one of another distribution.")
]
Ray = Annotated[
    str | None,
    typer.Option("--ray", metavar="ADDRESS", help="Plan racks anew on a Ray cluster: auto, local, or host:port."),
]
Hint = Annotated[Path | None, typer.Option(metavar="PLAN", help="Plan to start from.")]
Survive = Annotated[
    int,
    typer.Option("--survive", min=0, max=1, help="1: a plan that can be repaired after the loss of any one part."),
]
PagesTimeLimit = Annotated[
    float,
    typer.Option("--pages-time-limit", min=0.0, metavar="S", help="Seconds for tensors of jobs that offload."),
]
Report = Annotated[
    Path | None, typer.Option("--report", "--html", metavar="FILE", help="Write one HTML page for people.")
]
WiringPath = Annotated[
    Path | None,
    typer.Option("--wiring", metavar="FILE", help="Cables of optical switches: --report shows ports."),
]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the floor plan, .png or .svg.")]
Deterministic = Annotated[
    float | None,
    typer.Option(
        "--deterministic",
        min=0.0,
        metavar="UNITS",
        help="Limit searches by work, in units of about a second, not by time, on one thread unless --threads says "
        "otherwise: one seed, one plan on any machine.",
    ),
]
OF_SEARCH = frozenset(("gap", "deterministic", "ray", "hint"))
"""parameters of `solve` that a greedy policy has not"""
