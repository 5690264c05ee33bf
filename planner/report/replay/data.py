"""A replayed study as plain data for its page; nothing is replayed here."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from costmodel.wording import counted
from planner.report.replay.caveats import caveats
from planner.report.replay.floors import floors, snapshots
from planner.report.replay.headline import headline
from planner.report.replay.sheet import Load, Sheet
from planner.report.replay.verdict import rule, verdict
from planner.report.study.figures import described, figures, rounded, standing
from planner.report.study.front import on_front
from planner.simulate.measures import Measure
from planner.simulate.prices import COST
from planner.simulate.rules import Rules
from planner.simulate.run_one import Outcome, SimulationRun, Study
from planner.simulate.trace import Trace

MOST_SERIES = 200
"""cells drawn over time; of more, fewer seeds"""
GAIN = "goodput"
EXPENSES = ("energy_wh_per_accelerator_h", COST)
GROUPS: Mapping[str, list[str]] = {
    "Main": [
        "goodput", "admitted", "utilization", "wait_s_mean", "wait_s_p95", "completion_s_mean",
        "energy_wh_per_accelerator_h", "cost_per_accelerator_h", "fairness",
    ],
    "Work and room": [
        "goodput", "goodput_h", "utilization", "admitted", "never_fit", "queue", "stranded", "fragmentation",
    ],
    "Energy, moves, fairness": [
        "energy_wh_per_accelerator_h", "power_w", "cost_per_accelerator_h", "fairness", "reconfigurations", "moves",
        "interruptions",
    ],
}  # fmt: skip
"""measures of the table by group"""
DISCIPLINES = {
    "easy": "EASY backfill",
    "fifo": "first come, first served",
    "loss": "none: what finds no room is refused",
}


def page_data(
    study: Study,
    outcomes: Mapping[SimulationRun, Outcome],
    measures: Mapping[str, Measure],
    *,
    command: str,
    versions: Mapping[str, str],
    inputs: Mapping[str, str],
) -> dict[str, Any]:
    """All that the page shows, fit for JSON."""
    sheet = Sheet(outcomes)
    verdicts = [verdict(sheet, load, measures, study.rules.discipline) for load in sheet.loads]
    run = {"command": command, "versions": versions, "inputs": inputs}
    return described(sheet, measures, sheet.seeds, **run) | {
        "name": f"{Path(study.demand.source.name).name} on {', '.join(study.grounds)}",
        "headline": headline(sheet, verdicts),
        "verdicts": rounded(verdicts),
        "rule": rule(measures, study.rules.discipline),
        "ground": "cluster",
        "condition": "Load",
        "conditions": [_condition(load) for load in sheet.loads],
        "gain": GAIN,
        "groups": _groups(measures),
        "table": [[figures(sheet, load, run, measures) for run in sheet.runs] for load in sheet.loads],
        "standings": [[standing(sheet, load, *measure) for measure in measures.items()] for load in sheet.loads],
        "is_paired": True,
        "front_title": "Work done over what it takes",
        "axes": [{"gain": GAIN, "cost": name} for name in EXPENSES if name in measures],
        "fronts": [_fronts(sheet, load, measures) for load in sheet.loads],
        "series": _series(sheet, study),
        "floors": floors(study),
        "snapshots": snapshots(sheet, study),
        "setting": setting(study, sheet),
        "caveats": caveats(study, sheet, measures),
    }


def _migration(rules: Rules, sheet: Sheet) -> str:
    """True if running jobs move, which some policies have them do by themselves."""
    pause = f"{rules.downtime_s:g} s pause"
    if rules.migrate:
        return f"on, {pause}"
    return f"on under {', '.join(sheet.moving)} alone, {pause}" if sheet.moving else "off"


def setting(study: Study, sheet: Sheet) -> list[tuple[str, str]]:
    """Summary of the demand and clusters that were replayed."""
    demand, rules = study.demand, study.rules
    source, ground = demand.source, next(iter(study.grounds.values()))
    of_all = f" of {len(source):,}" if isinstance(source, Trace) and demand.jobs is not None else ""
    counts = [
        counted(len(items), word) for items, word in ((sheet.runs, "run"), (sheet.loads, "load"), (sheet.seeds, "seed"))
    ]
    return [
        ("Demand", f"{len(demand.draw(sheet.seeds[0])):,} jobs{of_all} a seed"),
        ("Accelerators", f"{ground.capacity:,} in each cluster"),
        ("Replays", f"{len(sheet.outcomes)}: {', '.join(counts)}"),
        ("Queue", DISCIPLINES[rules.discipline]),
        ("Migration", _migration(rules, sheet)),
        ("Failures", _failures(study)),
    ]


def _failures(study: Study) -> str:
    kinds = [] if study.failures is None else ["sampled"]
    return " and ".join(kinds + ["from a log"] * (study.faults is not None and study.faults.log is not None)) or "off"


def _fronts(sheet: Sheet, load: Load, measures: Mapping[str, Measure]) -> list[list[bool]]:
    """Runs on the front of goodput and each measure of expense."""
    gains = [sheet.mean(load, run, GAIN)[0] for run in sheet.runs]
    return [
        on_front(list(zip(gains, (sheet.mean(load, run, name)[0] for run in sheet.runs), strict=True)))
        for name in EXPENSES
        if name in measures
    ]


def _condition(load: Load) -> dict[str, str]:
    """A load in words: on a chip, by itself, and after "measures"."""
    if load is None:
        return {"chip": "of the trace", "name": "arrivals of the trace", "at": "with the arrivals of the trace"}
    return {"chip": f"{load:g}", "name": f"load {load:g}", "at": f"at load {load:g}"}


def _groups(measures: Mapping[str, Measure]) -> list[dict[str, Any]]:
    """Columns of the table that stand together."""
    times = [name for name in measures if name.startswith(("wait_", "completion_", "slowdown_"))]
    return [{"title": title, "names": names} for title, names in (*GROUPS.items(), ("Times", times))]


def _series(sheet: Sheet, study: Study) -> dict[str, Any]:
    """Shares of the accelerators in ten-thousandths, and waiting jobs, by load, seed and run; None for no series."""
    seeds = sheet.seeds[: max(1, MOST_SERIES // (len(sheet.loads) * len(sheet.runs)))]
    columns = []
    for load in sheet.loads:
        by_seed = []
        for seed in seeds:
            lines = []
            for run in sheet.runs:
                outcome, capacity = sheet.outcome(load, run, seed), study.grounds[run[0]].capacity
                series = None if outcome is None else outcome.series
                lines.append(None if series is None else _line(series, capacity))
            by_seed.append(lines)
        columns.append(by_seed)
    return {"seeds": seeds, "lines": columns}


def _line(series: Mapping[str, Any], capacity: int) -> dict[str, Any]:
    return {
        "begin_s": series["begin_s"],
        "end_s": series["end_s"],
        "busy": [round(10_000 * value / capacity) for value in series["busy"]],
        "stranded": [round(10_000 * value / capacity) for value in series["stranded"]],
        "queue": [float(f"{value:.3g}") for value in series["queue"]],
    }
