"""Recommendation at each load: the run that no other beats, and its differences from the baseline."""

from collections.abc import Mapping, Sequence
from typing import Any

from planner.report.replay.sheet import Load, Sheet, name_of
from planner.report.study.figures import MARGIN, Run, finding, ranking
from planner.simulate.measures import Measure
from planner.simulate.prices import COST

SHOWN = ("goodput", "completion_s_mean", "wait_s_p95", "energy_wh_per_accelerator_h", COST, "admitted")
"""measures of the verdict"""
GROWING = 1.5
"""the queue grows where the last quarter of the time has so many times the waiting jobs of the second"""


def steps_of(measures: Mapping[str, Measure], discipline: str) -> list[str]:
    """Measures by which runs are sorted out, one after the other."""
    last = COST if COST in measures else "energy_wh_per_accelerator_h"
    wanted = ([] if discipline == "loss" else ["admitted"]) + ["goodput", "completion_s_mean", last]
    return [name for name in wanted if name in measures]


def rule(measures: Mapping[str, Measure], discipline: str) -> str:
    """How `choose` works, for people."""
    names = [measures[name].title for name in steps_of(measures, discipline)]
    return (
        f"How it is chosen: by {', then by '.join(names)}, runs drop out that are worse than the best one beyond their "
        f"paired interval and by {100 * MARGIN:g} % or more. If the baseline is left it stays, else the best by the "
        "last measure is taken."
    )


def choose(
    sheet: Sheet, load: Load, steps: Sequence[str], measures: Mapping[str, Measure]
) -> tuple[Run, dict[Run, str]]:
    """The run to take, and the measure by which each other dropped out that did.

    Each step keeps the runs that are not worse than its best one. The baseline is taken where it is left, else the best
    of those left by the last step that tells.
    """
    kept, best, dropped = sheet.runs, sheet.baseline, dict[Run, str]()
    for name in steps:
        better = measures[name].better
        ranked = ranking(sheet, load, kept, name, better)
        if not ranked:
            continue
        best = ranked[0]
        scale = sheet.mean(load, best, name)[0]
        worse = {run for run in ranked if finding(sheet.less(load, run, best, name), scale, better) == "worse"}
        dropped |= dict.fromkeys(worse, name)
        kept = [run for run in ranked if run not in worse]
    return sheet.baseline if sheet.baseline in kept else best, dropped


def verdict(sheet: Sheet, load: Load, measures: Mapping[str, Measure], discipline: str) -> dict[str, Any]:
    """Choice, what it is compared with, and a line for each measure that counts.

    Another choice is compared with the baseline; the baseline, where it is the choice, with the best other run.
    """
    steps = steps_of(measures, discipline)
    choice, dropped = choose(sheet, load, steps, measures)
    shown = [name for name in SHOWN if name in measures]
    lines = [_line(sheet, load, choice, name, measures[name]) for name in shown]
    return {
        "load": load,
        "choice": sheet.runs.index(choice),
        "stays": choice == sheet.baseline,
        "dropped": {sheet.runs.index(run): name for run, name in dropped.items()},
        "seeds": len(sheet.values(load, choice, "goodput")),
        "lines": [line for line in lines if line is not None],
        "warnings": warnings(sheet, load, choice),
    }


def _line(sheet: Sheet, load: Load, choice: Run, name: str, measure: Measure) -> dict[str, Any] | None:
    ranked = ranking(sheet, load, sheet.runs, name, measure.better)
    if choice not in ranked:
        return None
    others = [run for run in ranked if run != choice]
    other = sheet.baseline if choice != sheet.baseline else (others[0] if others else None)
    if other not in ranked:
        other = None
    less = sheet.less(load, choice, other, name) if other is not None else (None, None)
    scale = sheet.mean(load, other, name)[0] if other is not None else None
    return {
        "measure": name,
        "value": sheet.mean(load, choice, name),
        "other": None if other is None else sheet.runs.index(other),
        "other_value": None if other is None else sheet.mean(load, other, name),
        "less": less,
        "finding": "unknown" if other is None else finding(less, scale, measure.better),
        "best": sheet.runs.index(ranked[0]),
    }


def warnings(sheet: Sheet, load: Load, choice: Run) -> list[str]:
    """Caveats of the figures at a load."""
    told = []
    refused = sheet.mean(load, choice, "never_fit")[0]
    if refused:
        told.append(f"{name_of(choice)} has no place for {refused:,.4g} jobs a seed, even when empty: they never run.")
    growing = [run for run in sheet.runs if _grows(sheet, load, run)]
    if growing:
        who = "all runs" if len(growing) == len(sheet.runs) else ", ".join(map(name_of, growing))
        told.append(
            f"The queue still grows at the end in {who}: waits there say how long the replay is, not how long users "
            "wait."
        )
    return told


def _grows(sheet: Sheet, load: Load, run: Run) -> bool:
    """True if the last quarter has many more waiting jobs than the second one, over all seeds."""
    early = late = 0.0
    for seed in sheet.seeds:
        outcome = sheet.outcome(load, run, seed)
        if outcome is not None and outcome.series is not None:
            queue = outcome.series["queue"]
            quarter = len(queue) // 4
            early += sum(queue[quarter : 2 * quarter]) / max(quarter, 1)
            late += sum(queue[-quarter:]) / max(quarter, 1)
    return late > GROWING * early + len(sheet.seeds)
