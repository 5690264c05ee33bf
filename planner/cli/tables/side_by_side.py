"""The best plan of each instance in one table, and which instance leads in what."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from planner.cli.output import BEST, console, percent, plain, table
from planner.cli.tables.comparison import COLUMNS, WHERE_KNOWN, cell

if TYPE_CHECKING:
    from rich.table import Table

    from planner.studies.compare.rows import PolicyRow
    from planner.studies.compare.summary import PolicySummary

SHOWN = (
    "value", "gap", "admitted", "devices_used", "tokens_per_s", "joules_per_token", "samples_per_s",
    "joules_per_sample", "power_w", "cost_per_h", "cost_per_million_tokens", "cost_per_million_samples",
)  # fmt: skip
MOST_IS_BEST = ("value", "tokens_per_s", "samples_per_s")
LEADS = {
    "value": "value", "tokens_per_s": "tokens/s", "joules_per_token": "energy/token", "samples_per_s": "samples/s",
    "joules_per_sample": "energy/sample", "cost_per_h": "cost/h",
}  # fmt: skip
"""figure -> how the last line calls it"""


def print_side_by_side(rows: "Sequence[PolicyRow]") -> None:
    """The table, where there are several instances; they have the same jobs, so that their figures compare."""
    lines = best_of_each(rows)
    if len(lines) < 2:
        return
    out = console()
    out.print()
    out.print(side_by_side(lines))
    for text in (leads_line(lines), left_out_line(lines)):
        if text:
            out.print(text, soft_wrap=True)


def best_of_each(rows: "Sequence[PolicyRow]") -> "list[PolicySummary]":
    """Of each instance the policy and the variant with the most value, the first of several.

    Only policies whose plans all hold, and which always found one, count; an instance without such is left out.
    """
    from planner.studies.compare.summary import summarize

    found = []
    for _, group in groupby(summarize(rows), key=lambda line: line.first.instance):
        lines = [line for line in group if line.plans == line.seeds and not line.figures["violations"].mean]
        if lines:
            found.append(max(lines, key=lambda line: line.figures["value"].mean))
    return found


def side_by_side(lines: "Sequence[PolicySummary]") -> "Table":
    """A row for each instance."""
    known = {name for line in lines for name in line.figures}
    shown = [name for name in SHOWN if name in known or name not in WHERE_KNOWN]
    leads = {name: _leaders(lines, name) for name in LEADS if name in known}
    cells = []
    for place, line in enumerate(lines):
        figures = [(BEST if place in leads.get(name, ()) else "") + cell(line, name) for name in shown]
        cells.append([plain(line.first.instance), _how(line), *figures])
    names = [COLUMNS[name][0] for name in shown]
    return table(["best of each", "by", *names], cells, right=names)


def leads_line(lines: "Sequence[PolicySummary]") -> str:
    """most value: torus (11.03, 0.3 % from lightpath); least cost/h: lightpath (32.76, 0.7 % from fat_tree)."""
    return "; ".join(text for name in LEADS if (text := _lead(lines, name)))


def left_out_line(lines: "Sequence[PolicySummary]") -> str:
    """compared in value alone, as others run more jobs: sipac0 runs 2 of 4 jobs."""
    from planner.studies.compare.comparable import runs_fewer

    full = _with_most_jobs(lines)
    fewer = [
        runs_fewer(line.first.instance, line.figures["admitted"].mean, line.first.jobs)
        for place, line in enumerate(lines)
        if place not in full
    ]
    return plain(f"compared in value alone, as others run more jobs: {', '.join(fewer)}") if fewer else ""


def _with_most_jobs(lines: "Sequence[PolicySummary]") -> list[int]:
    from planner.studies.compare.comparable import with_most_jobs

    return with_most_jobs({place: line.figures["admitted"].mean for place, line in enumerate(lines)})


def _compared(lines: "Sequence[PolicySummary]", name: str) -> list[int]:
    """Places of the lines that compare in a figure."""
    from planner.studies.compare.comparable import AMONG_MOST_JOBS

    return _with_most_jobs(lines) if name in AMONG_MOST_JOBS else list(range(len(lines)))


def _how(line: "PolicySummary") -> str:
    given = "".join(f" {path.rsplit('.', 1)[-1]}={value}" for path, value in line.first.parameters.items())
    return plain(f"{line.first.policy}{given}")


def _leaders(lines: "Sequence[PolicySummary]", name: str) -> list[int]:
    """Places of the best mean of those that compare; all of those that are the same."""
    from planner.studies.compare.comparable import SAME

    sign = 1 if name in MOST_IS_BEST else -1
    known = [place for place in _compared(lines, name) if name in lines[place].figures]
    means = {place: sign * lines[place].figures[name].mean for place in known}
    most = max(means.values(), default=0.0)
    return [place for place, mean in means.items() if mean >= most - SAME * abs(most)]


def _lead(lines: "Sequence[PolicySummary]", name: str) -> str:
    """The one that leads in a figure and by how much; "" where not all that compare have it, or none leads alone."""
    leaders, compared = _leaders(lines, name), [lines[place] for place in _compared(lines, name)]
    if len(leaders) != 1 or len(compared) < 2 or any(name not in line.figures for line in compared):
        return ""
    ahead = lines[leaders[0]]
    second = min(
        (line for line in compared if line is not ahead),
        key=lambda line: abs(line.figures[name].mean - ahead.figures[name].mean),
    )
    mean, other = ahead.figures[name].mean, second.figures[name].mean
    by = f", {percent(abs(mean - other) / abs(other))} from {second.first.instance}" if other else ""
    most = "most" if name in MOST_IS_BEST else "least"
    return plain(f"{most} {LEADS[name]}: {ahead.first.instance} ({COLUMNS[name][1](mean)}{by})")
