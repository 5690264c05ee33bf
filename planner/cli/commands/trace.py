"""planner trace: demand drawn from few numbers."""

from pathlib import Path
from typing import Annotated

import typer

from planner.cli import exits
from planner.cli.inputs import Seed, require_writable, write_text
from planner.cli.outputs import TRACE


def trace(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="CSV file to write.")],
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Demand model; that of a public trace unless given.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=2, max=10_000_000, help="Number of jobs.")] = 5000,
    seed: Seed = 0,
) -> int:
    """Draw a trace of jobs for `planner replay`: sizes, durations, bursts of arrivals and tenants."""
    require_writable(output, "--output", TRACE)
    from planner.simulate.demand import load_demand
    from planner.simulate.trace import to_csv

    write_text(output, to_csv(load_demand(model).draw(jobs, seed)))
    return exits.PLAN
