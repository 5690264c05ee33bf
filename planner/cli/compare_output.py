"""What planner compare leaves behind: tables or JSON on stdout, files, a page."""

import hashlib
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.cli import exits
from planner.cli.inputs import require_writable, write_records, write_text
from planner.cli.output import console, print_json
from planner.cli.outputs import RUNS, RUNS_TABLE, WEB_PAGE

if TYPE_CHECKING:
    from planner.prices import Prices
    from planner.studies.compare.freedom import Freedom
    from planner.studies.compare.grid import Variant
    from planner.studies.compare.rows import PolicyRow


@dataclass(frozen=True)
class CompareOutputs:
    """What is asked for."""

    timings: bool
    """wall times too"""
    as_json: bool
    csv: Path | None
    out_json: Path | None
    html: Path | None

    def require_writable(self) -> None:
        """InputError, before anything is computed, for a file that cannot be written."""
        require_writable(self.csv, "--csv", RUNS_TABLE)
        require_writable(self.out_json, "--out-json", RUNS)
        require_writable(self.html, "--report", WEB_PAGE)

    def write(self, records: list[dict[str, Any]]) -> None:
        """The rows as files."""
        if self.csv is not None:
            write_records(self.csv, records)
        if self.out_json is not None:
            write_text(self.out_json, json.dumps(records, indent=1, allow_nan=False) + "\n")


def show_comparison(
    rows: "Sequence[PolicyRow]",
    variants: "Sequence[Variant]",
    prices: "Prices | None",
    inputs: Sequence[Path],
    asked: CompareOutputs,
) -> None:
    """Tables or JSON on stdout, and the files asked for; `inputs` are files that the figures rest on."""
    from planner.cli.tables.comparison import print_tables, references
    from planner.cli.tables.side_by_side import print_side_by_side
    from planner.studies.compare.costs import with_costs
    from planner.studies.compare.reference import differing_jobs
    from planner.studies.compare.rows import to_records

    rows = rows if prices is None else with_costs(rows, variants, prices)
    currency = None if prices is None else prices.currency
    records: list[dict[str, Any]] = to_records(rows, with_timings=asked.timings)
    notes = references(variants, rows)
    are_same_jobs = not differing_jobs(list({variant.base.name: variant.base for variant in variants}.values()))
    if asked.as_json:
        print_json(records)
    else:
        print_tables(rows, asked.timings, currency)
        if are_same_jobs:
            print_side_by_side(rows)
        for text in notes:
            console().print(text, soft_wrap=True)
    asked.write(records)
    if asked.html is not None and rows:
        switches = {"are_same_jobs": are_same_jobs, "with_timings": asked.timings}
        write_text(asked.html, _page(rows, currency, notes, inputs, **switches))


def show_plain(rows: "Sequence[Freedom]", asked_for: int, asked: CompareOutputs) -> int:
    """One table or JSON on stdout, and the files asked for; the exit code."""
    from planner.cli.tables.freedom import print_freedoms

    records = [row.record(with_timings=asked.timings) for row in rows]
    print_json(records) if asked.as_json else print_freedoms(rows)
    asked.write(records)
    if len(rows) < asked_for:
        return exits.INTERRUPTED
    return tell_refused([each for row in rows for each in (row.with_it, row.plain)])


def tell_refused(rows: "Sequence[PolicyRow]") -> int:
    """The exit code; a plan that the check refuses is an error of the program, and is never the best."""
    refused = sorted({f"{row.instance} by {row.policy}" for row in rows if row.violations})
    for each in refused:
        text = f"internal error: the check refuses the plan of {each}; `planner solve` writes a report"
        console(stderr=True).print(text, soft_wrap=True)
    return exits.REFUSED if refused else exits.PLAN


def _page(
    rows: "Sequence[PolicyRow]", currency: str | None, notes: Sequence[str], inputs: Sequence[Path], **asked: bool
) -> str:
    """The comparison as one HTML file; `asked` has the switches of `compare_html`."""
    from planner.cli.versions import versions
    from planner.report.compare import compare_html

    digests = {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in inputs}
    command = shlex.join(["planner", *sys.argv[1:]])
    return compare_html(
        rows, currency=currency, notes=notes, command=command, versions=versions(), inputs=digests, **asked
    )
