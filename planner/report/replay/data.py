"""A replayed study as plain data for its page; nothing is replayed here."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from costmodel.wording import counted
from planner.report.replay.caveats import caveats
from planner.report.replay.floors import floors, snapshots
from planner.report.replay.front import on_front
from planner.report.replay.headline import headline
from planner.report.replay.sheet import Load, Sheet
from planner.report.replay.verdict import finding, ranking, rule, verdict
from planner.simulate.measures import Measure
from planner.simulate.placers import MOVING
from planner.simulate.prices import COST
from planner.simulate.rules import Rules
from planner.simulate.run_one import Outcome, SimulationRun, Study
from planner.simulate.summary import Interval
from planner.simulate.trace import Trace

MOST_SERIES = 200
"""cells drawn over time; of more, fewer seeds"""
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
    return {
        "name": f"{Path(study.demand.source.name).name} on {', '.join(study.grounds)}",
        "headline": headline(sheet, verdicts),
        "verdicts": _rounded(verdicts),
        "rule": rule(measures, study.rules.discipline),
        "runs": [{"cluster": cluster, "policy": policy} for cluster, policy in sheet.runs],
        "loads": sheet.loads,
        "seeds": len(sheet.seeds),
        "measures": [{"name": name, **measure._asdict()} for name, measure in measures.items()],
        "table": [
            [_figures(sheet, load, number, measures) for number in range(len(sheet.runs))] for load in sheet.loads
        ],
        "standings": [[_standing(sheet, load, *measure) for measure in measures.items()] for load in sheet.loads],
        "fronts": [_fronts(sheet, load, measures) for load in sheet.loads],
        "series": _series(sheet, study),
        "floors": floors(study),
        "snapshots": snapshots(sheet, study),
        "setting": setting(study, sheet),
        "caveats": caveats(study, sheet, measures),
        "run": {
            "command": command,
            "versions": list(versions.items()),
            "inputs": list(inputs.items()),
            "seeds": sheet.seeds,
        },
    }


def _migration(rules: Rules, sheet: Sheet) -> str:
    """True if running jobs move, which some policies have them do by themselves."""
    pause = f"{rules.downtime_s:g} s pause"
    if rules.migrate:
        return f"on, {pause}"
    moving = sorted(MOVING & {policy for _, policy in sheet.runs})
    return f"on under {', '.join(moving)} alone, {pause}" if moving else "off"


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


def _figures(sheet: Sheet, load: Load, number: int, measures: Mapping[str, Measure]) -> list[Any]:
    """For each measure: mean, seeds, and differences to the first policy, the first cluster and the baseline."""
    run, (first_cluster, first_policy) = sheet.runs[number], sheet.baseline
    others = (run[0], first_policy), (first_cluster, run[1]), sheet.baseline
    return [
        [
            *_short(sheet.mean(load, run, name)),
            len(sheet.values(load, run, name)),
            *(value for other in others for value in _short(_less(sheet, load, run, other, name))),
        ]
        for name in measures
    ]


def _less(sheet: Sheet, load: Load, run: tuple[str, str], other: tuple[str, str], name: str) -> Interval:
    return (None, None) if run == other else sheet.less(load, run, other, name)


def _standing(sheet: Sheet, load: Load, name: str, measure: Measure) -> list[str] | None:
    """How each run differs from the best one, paired; None for a measure that is neither better nor worse."""
    ranked = ranking(sheet, load, sheet.runs, name, measure.better) if measure.better else []
    if not ranked:
        return None
    best = ranked[0]
    scale = sheet.mean(load, best, name)[0]
    return [
        "best" if run == best else finding(sheet.less(load, run, best, name), scale, measure.better)
        for run in sheet.runs
    ]


def _fronts(sheet: Sheet, load: Load, measures: Mapping[str, Measure]) -> dict[str, list[bool]]:
    """Runs on the front of goodput and each measure of expense."""
    gains = [sheet.mean(load, run, "goodput")[0] for run in sheet.runs]
    return {
        name: on_front(list(zip(gains, (sheet.mean(load, run, name)[0] for run in sheet.runs), strict=True)))
        for name in ("energy_j_per_s", COST)
        if name in measures
    }


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


def _short(found: Interval) -> Interval:
    mean, half_width = (None if value is None else float(f"{value:.6g}") for value in found)
    return mean, half_width


def _rounded(value: Any) -> Any:
    """Floats with six digits, in anything that is fit for JSON."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value
