"""The outcome of a comparison in a few sentences: who has the most value, by how much, and how sure that is."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from costmodel.wording import counted
from planner.report.compare.sheet import ComparisonSheet, Condition
from planner.report.study.figures import Run
from planner.simulate.summary import Interval

EQUAL = 5e-5
"""relative difference below which values are the same in what is shown"""


class Lead(NamedTuple):
    """Who has the most value on one instance under one condition."""

    condition: Condition
    instance: str
    best: Run
    ties: tuple[str, ...]
    """policies with the same value"""
    other: Run | None
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


def leads(sheet: ComparisonSheet) -> list[Lead]:
    """For each instance under each condition, where any policy has plans."""
    found = []
    for condition in sheet.conditions:
        for instance in sheet.instances:
            if ranked := sheet.leaders(condition, instance):
                found.append(_lead(sheet, condition, instance, ranked))
    return found


def _lead(sheet: ComparisonSheet, condition: Condition, instance: str, ranked: list[Run]) -> Lead:
    values = {run: sheet.mean(condition, run, "value")[0] or 0.0 for run in ranked}
    best = ranked[0]
    ties = [run for run in ranked[1:] if values[run] >= values[best] * (1 - EQUAL)]
    other = next((run for run in ranked[1:] if run not in ties), None)
    more = values[best] / values[other] - 1 if other is not None and values[other] > 0 else None
    less = (None, None) if other is None else sheet.less(condition, best, other, "value")
    gap = sheet.mean(condition, best, "gap")[0]
    return Lead(condition, instance, best, tuple(run[1] for run in ties), other, more, less, gap)


def headline(sheet: ComparisonSheet, found: list[Lead]) -> list[str]:
    """Sentences for the top of the page, the first of them what to take."""
    if not found:
        return ["No policy has a plan that the check accepts for every seed."]
    return [_advice(found), *_proofs(found), *_missing(sheet, found), _certainty(sheet)]


def _advice(found: list[Lead]) -> str:
    winners = list(dict.fromkeys(lead.best[1] for lead in found))
    everywhere = [policy for policy in winners if all(policy in (lead.best[1], *lead.ties) for lead in found)]
    if not everywhere:
        parts = [f"{policy} in {sum(lead.best[1] == policy for lead in found)}" for policy in winners]
        return f"Most value: {', '.join(parts)} of {counted(len(found), 'comparison')}."
    where = "" if len(found) == 1 else f" in all {len(found)} comparisons"
    ahead = [lead.more for lead in found if lead.more is not None and not lead.ties]
    if not ahead:
        return f"{everywhere[0]} has the most value{where}; no policy has less."
    least, most = min(ahead), max(ahead)
    span = _percent(most) if _percent(least) == _percent(most) else f"{_percent(least)} to {_percent(most)}"
    by_chance = sum(lead.is_unsure for lead in found)
    unsure = f", in {by_chance} of them perhaps by chance" if by_chance else ""
    return f"{everywhere[0]} has the most value{where}: {span} more than the best other policy{unsure}."


def _proofs(found: list[Lead]) -> Iterator[str]:
    """What is proven of the best plans."""
    gaps = [lead.gap for lead in found if lead.gap is not None]
    if not gaps:
        return
    optimal = sum(gap <= EQUAL for gap in gaps)
    whose = "Its value is" if len(found) == 1 else f"{optimal} of {len(found)} best values are"
    rest = [gap for gap in gaps if gap > EQUAL]
    if optimal:
        others = f", the others within {_percent(max(rest))} of the best that is possible" if rest else ""
        yield f"{whose} proven optimal{others}."
    else:
        yield f"No best value is proven optimal; they lie within {_percent(max(rest))} of the best that is possible."


def _missing(sheet: ComparisonSheet, found: list[Lead]) -> Iterator[str]:
    missing = len(sheet.conditions) * len(sheet.instances) - len(found)
    if missing:
        yield f"{counted(missing, 'comparison')} of {missing + len(found)} without any plan that the check accepts."


def _certainty(sheet: ComparisonSheet) -> str:
    if len(sheet.seeds) == 1:
        return "One seed: what heuristics and a time limit leave to chance is not measured; --seeds 5 measures it."
    return f"Means and 95 % intervals are of {len(sheet.seeds)} seeds; differences are paired by seed."


def lead_row(sheet: ComparisonSheet, lead: Lead) -> dict[str, Any]:
    """A row of the table of leads, by numbers of runs and conditions."""
    return {
        "condition": sheet.conditions.index(lead.condition),
        "best": sheet.runs.index(lead.best),
        "ties": list(lead.ties),
        "other": None if lead.other is None else sheet.runs.index(lead.other),
        "more": lead.more,
        "interval": lead.interval,
        "gap": lead.gap,
    }


def _percent(share: float) -> str:
    return f"{100 * share:.{0 if share >= 0.1 else 1}f} %"
