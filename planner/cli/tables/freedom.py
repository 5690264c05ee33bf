"""The table of planner compare --plain."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner.cli.output import console, number, percent, plain, quantity, table

if TYPE_CHECKING:
    from planner.studies.compare.freedom import Freedom
    from planner.studies.compare.rows import PolicyRow

RIGHT = ("value", "gap", "plain value", "worth", "tokens/s", "plain tokens/s", "samples/s", "plain samples/s")
"""columns of figures, jobs apart"""


def print_freedoms(rows: "Sequence[Freedom]") -> None:
    """One line for each instance; rates of work that none does are left out."""
    names = ["instance", "jobs", "value", "gap", "plain jobs", "plain value", "plain gap", "worth"]
    rates = [rate for rate in ("tokens_per_s", "samples_per_s") if any(_has(row, rate) for row in rows)]
    for rate in rates:
        label = rate.replace("_per_s", "/s")
        names += [label, f"plain {label}"]
    lines = [
        [*_figures(row), *(_rate(each, rate) for rate in rates for each in (row.with_it, row.plain))] for row in rows
    ]
    out = console()
    out.print(table(names, lines, right=[*RIGHT, "plain gap"]))
    text = (
        "worth: value beyond the plain alternative's, each job of both measured against its fastest and its most frugal"
    )
    out.print(f"{text} candidate in the first; at least so much where both gaps are 0 %", soft_wrap=True)


def _has(row: "Freedom", rate: str) -> bool:
    return any(getattr(each, rate) is not None for each in (row.with_it, row.plain))


def _figures(row: "Freedom") -> list[str]:
    own, other = row.with_it, row.plain
    worth = "-" if row.worth is None else f"{'+' if row.worth >= 0 else ''}{percent(row.worth)}"
    return [plain(own.instance), *_reached(own), *_reached(other), worth]


def _reached(row: "PolicyRow") -> list[str]:
    value = row.status if row.value is None else number(row.value)
    return [f"{row.admitted} of {row.jobs}", value, "-" if row.gap is None else percent(row.gap)]


def _rate(row: "PolicyRow", rate: str) -> str:
    value = getattr(row, rate)
    return "-" if value is None else quantity(value, "").strip()
