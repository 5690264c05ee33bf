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
ALIKE = 1e-9
"""fraction of a figure within which two are the same"""


def print_side_by_side(rows: "Sequence[PolicyRow]") -> None:
    """The table, where there are several instances; they have the same jobs, so that their figures compare."""
    lines = best_of_each(rows)
    if len(lines) < 2:
        return
    out = console()
    out.print()
    out.print(side_by_side(lines))
    if leads := leads_line(lines):
        out.print(leads, soft_wrap=True)


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


def _how(line: "PolicySummary") -> str:
    given = "".join(f" {path.rsplit('.', 1)[-1]}={value}" for path, value in line.first.parameters.items())
    return plain(f"{line.first.policy}{given}")


def _leaders(lines: "Sequence[PolicySummary]", name: str) -> list[int]:
    """Places of the best mean; all of those that are the same."""
    sign = 1 if name in MOST_IS_BEST else -1
    means = {place: sign * line.figures[name].mean for place, line in enumerate(lines) if name in line.figures}
    most = max(means.values(), default=0.0)
    return [place for place, mean in means.items() if mean >= most - ALIKE * abs(most)]


def _lead(lines: "Sequence[PolicySummary]", name: str) -> str:
    """The one that leads in a figure and by how much; "" where not all have it, or none leads alone."""
    leaders = _leaders(lines, name)
    if len(leaders) != 1 or any(name not in line.figures for line in lines):
        return ""
    ahead = lines[leaders[0]]
    second = min(
        (line for line in lines if line is not ahead),
        key=lambda line: abs(line.figures[name].mean - ahead.figures[name].mean),
    )
    mean, other = ahead.figures[name].mean, second.figures[name].mean
    by = f", {percent(abs(mean - other) / abs(other))} from {second.first.instance}" if other else ""
    most = "most" if name in MOST_IS_BEST else "least"
    return plain(f"{most} {LEADS[name]}: {ahead.first.instance} ({COLUMNS[name][1](mean)}{by})")
