"""The page of a comparison: which policy, on which instance, under which values of the grid, as one HTML file."""

from collections.abc import Mapping, Sequence

from planner.report.compare.data import page_data
from planner.report.shell import render
from planner.studies.compare.rows import PolicyRow

STYLES = ("page.css", "floor.css", "study/study.css", "print.css")
SCRIPTS = (
    "core.js", "header.js", "charts.js", "study/words.js", "study/runs.js", "study/caveats.js", "compare/leads.js",
    "study/tables.js", "study/intervals.js", "study/front.js", "compare/page.js",
)  # fmt: skip


def compare_html(
    rows: Sequence[PolicyRow],
    *,
    currency: str | None,
    notes: Sequence[str],
    are_same_jobs: bool,
    with_timings: bool,
    command: str,
    versions: Mapping[str, str],
    inputs: Mapping[str, str],
) -> str:
    """The page as the text of one HTML file, the same bytes for the same rows; at least one row.

    `currency` of costs; `notes` on what compares with what; `are_same_jobs`: of all instances; `command` is what was
    typed, `versions` maps programs to their versions and `inputs` files to the SHA-256 of their bytes, so that it can
    be done again.
    """
    data = page_data(
        rows, currency, notes, are_same_jobs=are_same_jobs, with_timings=with_timings, command=command,
        versions=versions, inputs=inputs,
    )  # fmt: skip
    return render(data["name"], "compare/body.html", STYLES, SCRIPTS, data)
