"""Who has the most value: among the policies of each instance, and among whatever the comparison varies."""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from planner.report.compare.sheet import ComparisonSheet, Condition
from planner.report.study.figures import Run
from planner.simulate.summary import Interval, difference

EQUAL = 5e-5
"""relative difference below which values are the same in what is shown"""
Contenders = Literal["policy", "instance", "variant"]


class Contender(NamedTuple):
    """A run under one condition."""

    condition: Condition
    run: Run


class Lead(NamedTuple):
    """Who has the most value of some that compare."""

    best: Contender
    ties: tuple[Contender, ...]
    """those with the same value"""
    other: Contender | None
    """the best of those with less"""
    more: float | None
    """than the other has, a fraction of it"""
    interval: Interval
    """of the difference in value, paired by seed"""
    gap: float | None
    """of the best run, to the bound"""

    @property
    def is_unsure(self) -> bool:
        """Whether the interval of the difference holds 0."""
        mean, half_width = self.interval
        return mean is not None and half_width is not None and abs(mean) <= half_width


def contenders(sheet: ComparisonSheet, *, are_same_jobs: bool) -> Contenders:
    """What the comparison is about: instances where there are several with the same jobs, else variants of the cluster
    where only they vary, else policies."""
    if len(sheet.instances) > 1 and are_same_jobs:
        return "instance"
    is_of_cluster = all(path.startswith("cluster") for row in sheet.rows for path in row.parameters)
    return "variant" if len(sheet.runs) == 1 and len(sheet.conditions) > 1 and is_of_cluster else "policy"


def leads(sheet: ComparisonSheet) -> list[Lead]:
    """Of policies, for each instance under each condition where any has plans."""
    places = [(condition, instance) for condition in sheet.conditions for instance in sheet.instances]
    ranked = [
        [Contender(condition, run) for run in sheet.leaders(condition, instance)] for condition, instance in places
    ]
    return [_lead(sheet, each) for each in ranked if each]


def leads_among(sheet: ComparisonSheet, what: Contenders, of_policies: Iterable[Lead]) -> list[Lead]:
    """Of instances, each by its best policy, for each condition; or of all variants."""
    entries = [lead.best for lead in of_policies]
    if what == "variant":
        return [_lead(sheet, _by_value(sheet, entries))] if entries else []
    groups = ([entry for entry in entries if entry.condition == condition] for condition in sheet.conditions)
    return [_lead(sheet, _by_value(sheet, group)) for group in groups if group]


def lead_row(sheet: ComparisonSheet, lead: Lead) -> dict[str, Any]:
    """A row of the table of leads, by numbers of runs and conditions."""
    return {
        "condition": sheet.conditions.index(lead.best.condition),
        "best": sheet.runs.index(lead.best.run),
        "ties": [entry.run[1] for entry in lead.ties],
        "other": None if lead.other is None else sheet.runs.index(lead.other.run),
        "more": lead.more,
        "interval": lead.interval,
        "gap": lead.gap,
    }


def _value(sheet: ComparisonSheet, entry: Contender) -> float:
    return sheet.mean(entry.condition, entry.run, "value")[0] or 0.0


def _by_value(sheet: ComparisonSheet, entries: Iterable[Contender]) -> list[Contender]:
    return sorted(entries, key=lambda entry: -_value(sheet, entry))


def _lead(sheet: ComparisonSheet, ranked: list[Contender]) -> Lead:
    """Of entries with the most value first."""
    best, *rest = ranked
    most = _value(sheet, best)
    ties = [entry for entry in rest if _value(sheet, entry) >= most * (1 - EQUAL)]
    other = next((entry for entry in rest if entry not in ties), None)
    gap = sheet.mean(best.condition, best.run, "gap")[0]
    if other is None:
        return Lead(best, tuple(ties), None, None, (None, None), gap)
    less = _value(sheet, other)
    interval = difference(sheet.values(*best, "value"), sheet.values(*other, "value"))
    return Lead(best, tuple(ties), other, most / less - 1 if less > 0 else None, interval, gap)
