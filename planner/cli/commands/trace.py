"""planner trace: demand drawn from few numbers, or read from the table of another program."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from planner.cli import exits
from planner.cli.inputs import Seed, require_writable, write_text
from planner.cli.outputs import TRACE
from planner.model.errors import InputError

JOBS = 5000


Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="CSV file to write.")]
Model = Annotated[Path | None, typer.Option(metavar="FILE", help="Demand model; that of a public trace unless given.")]
Jobs = Annotated[int | None, typer.Option(min=2, max=10_000_000, help=f"Number of jobs; {JOBS} unless given.")]
Table = Annotated[
    Path | None, typer.Option("--from", metavar="TABLE", help="A .csv or .parquet whose jobs are read instead.")
]
Mapping = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="COLUMN=EXPRESSION",
        help="What arrival_s, duration_s, num_gpus or tenant is there, such as 'duration_s=end - start'.",
    ),
]


def trace(
    output: Output,
    model: Model = None,
    jobs: Jobs = None,
    seed: Seed = 0,
    table: Table = None,
    mapping: Mapping = None,
) -> int:
    """Draw a trace of jobs for `planner replay`, or read one from the table of another program.

    Drawn are sizes, durations, bursts of arrivals and tenants. Of a table, `--map` says which column is what; times of
    day count in seconds, shares of accelerators are rounded up, and rows that are no jobs are left out, with a notice.
    """
    require_writable(output, "--output", TRACE)
    from planner.simulate.trace import to_csv

    if table is None:
        if mapping:
            raise InputError("--map", mapping[0], "maps columns of --from TABLE; give both")
        from planner.simulate.demand import load_demand

        write_text(output, to_csv(load_demand(model).draw(JOBS if jobs is None else jobs, seed)))
        return exits.PLAN
    if model is not None or jobs is not None:
        raise InputError("--from", str(table), "has its own jobs; leave out --model and --jobs")
    from planner.simulate.trace_import import import_trace, mapping_of

    found, notes = import_trace(table, mapping_of(mapping or ()))
    for note in notes:
        print(note, file=sys.stderr)
    write_text(output, to_csv(found))
    return exits.PLAN
