"""A comparison as plain data for its page; nothing is solved here."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner.report.compare.headline import headline, title
from planner.report.compare.leads import lead_row, leads
from planner.report.compare.sheet import COSTS, ComparisonSheet, Condition, measures_of
from planner.report.study.figures import described, figures, rounded, standing
from planner.report.study.front import on_front
from planner.simulate.measures import Measure
from planner.studies.compare.comparable import AMONG_MOST_JOBS, RULE, runs_fewer
from planner.studies.compare.rows import PolicyRow

GAIN = "value"
PLOTS = ("value", "tokens_per_s", "samples_per_s", "joules_per_token", "joules_per_sample", "power_w", "cost_per_h")
"""measures that are drawn at once"""
FRONTS = (("value", "power_w"), ("value", "cost_per_h"), ("tokens_per_s", "power_w"), ("samples_per_s", "power_w"))
"""what more is better of, over what less is better of"""
GROUPS: Mapping[str, Sequence[str]] = {
    "Main": ("value", "gap", "admitted", "tokens_per_s", "samples_per_s", "power_w", "cost_per_h"),
    "Energy and cost": ("power_w", "joules_per_token", "joules_per_sample", "energy", *COSTS),
    "Solving": ("value", "bound", "gap", "fragmentation", "wall_time_s"),
}


def page_data(
    rows: Sequence[PolicyRow],
    currency: str | None,
    notes: Sequence[str],
    *,
    are_same_jobs: bool,
    with_timings: bool,
    command: str,
    versions: Mapping[str, str],
    inputs: Mapping[str, str],
) -> dict[str, Any]:
    """All that the page shows, fit for JSON; `are_same_jobs`: of all instances."""
    sheet = ComparisonSheet(rows)
    measures = measures_of(sheet, currency, with_timings=with_timings)
    pairs = [(gain, cost) for gain, cost in FRONTS if gain in measures and cost in measures]
    found = leads(sheet)
    run = {"command": command, "versions": versions, "inputs": inputs}
    return described(sheet, measures, sheet.seeds, **run) | {
        "name": title(sheet),
        "headline": headline(sheet, are_same_jobs=are_same_jobs),
        "leads": rounded([lead_row(sheet, each) for each in found]),
        "ground": "instance",
        "condition": "Variant",
        "conditions": [_condition(each) for each in sheet.conditions],
        "gain": GAIN,
        "limits": {GAIN: "bound"} if rows[0].objective == GAIN and "bound" in measures else {},
        "groups": [{"title": title, "names": list(names)} for title, names in GROUPS.items()],
        "plots": [name for name in PLOTS if name in measures],
        "table": [[figures(sheet, each, run, measures) for run in sheet.runs] for each in sheet.conditions],
        "standings": [_standings(sheet, each, measures, are_same_jobs=are_same_jobs) for each in sheet.conditions],
        "is_paired": False,
        "front_title": "What is gained over what it takes",
        "axes": [{"gain": gain, "cost": cost} for gain, cost in pairs],
        "fronts": [[_front(sheet, each, *pair) for pair in pairs] for each in sheet.conditions],
        "verdicts": [{"choice": sheet.runs.index(each.best.run)} for each in found],
        "setting": _setting(sheet),
        "caveats": [*notes, *_caveats(sheet, are_same_jobs=are_same_jobs)],
    }


def _condition(condition: Condition) -> dict[str, str]:
    name = condition or "as written"
    return {"chip": name, "name": name, "at": f"with {name}" if condition else "of the instances as written"}


def _standings(
    sheet: ComparisonSheet, condition: Condition, measures: Mapping[str, Measure], *, are_same_jobs: bool
) -> list[Any]:
    """Of each measure how runs stand to the best one of those that they compare with."""
    sound = sheet.groups(condition, are_same_jobs=are_same_jobs)
    full = [sheet.with_most_jobs(condition, group) for group in sound]
    return [
        standing(sheet, condition, name, measure, full if name in AMONG_MOST_JOBS else sound)
        for name, measure in measures.items()
    ]


def _front(sheet: ComparisonSheet, condition: Condition, gain: str, cost: str) -> list[bool]:
    """Runs on a front; a plan that the check refuses is on none."""
    points = [
        (sheet.mean(condition, run, gain)[0], sheet.mean(condition, run, cost)[0])
        if sheet.is_sound(condition, run)
        else (None, None)
        for run in sheet.runs
    ]
    return on_front(points)


def _setting(sheet: ComparisonSheet) -> list[tuple[str, str]]:
    """What was compared."""
    instances = {row.instance: row for row in sheet.rows}.values()
    return [
        ("Jobs", ", ".join(dict.fromkeys(f"{row.jobs:,}" for row in instances))),
        ("Healthy accelerators", ", ".join(dict.fromkeys(f"{row.devices_healthy:,}" for row in instances))),
        ("Runs", f"{len(sheet.rows):,}"),
        ("Seeds", str(len(sheet.seeds))),
    ]


def _left_out(sheet: ComparisonSheet, *, are_same_jobs: bool) -> Iterator[str]:
    """Runs whose figures are shown and not compared, each with the conditions under which that is so."""
    jobs = {(row.instance, row.policy): row.jobs for row in sheet.rows}
    policies = {policy for _, policy in sheet.runs}
    found: dict[str, list[Condition]] = {}
    for condition in sheet.conditions:
        for group in sheet.groups(condition, are_same_jobs=are_same_jobs):
            full = sheet.with_most_jobs(condition, group)
            for run in (run for run in group if run not in full):
                name = run[0] if len(policies) == 1 else " by ".join(run)
                found.setdefault(runs_fewer(name, sheet.admitted(condition, run), jobs[run]), []).append(condition)
    if found:
        told = (text + (f" with {' or '.join(where)}" if any(where) else "") for text, where in found.items())
        yield f"Not compared in these: {'; '.join(told)}."


def _caveats(sheet: ComparisonSheet, *, are_same_jobs: bool) -> list[str]:
    """What figures do not say."""
    told = [
        "Speeds, energies and power are predictions of the cost model; its errors are in the manual.",
        "Each plan is one moment: nobody arrives or leaves. planner replay shows policies over time.",
        f"{RULE}: a plan that runs less takes less.",
        *_left_out(sheet, are_same_jobs=are_same_jobs),
    ]
    told += dict.fromkeys(f"{row.instance} has no place for {row.impossible}." for row in sheet.rows if row.impossible)
    if refused := sorted({f"{row.instance} by {row.policy}" for row in sheet.rows if row.violations}):
        told.append(f"The check refuses the plan of {', '.join(refused)}, which is an error of the program.")
    return told
