"""Outputs of a replay: tables on the terminal, a file of all measures, and one page for people."""

import hashlib
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from costmodel.wording import counted
from planner.cli import exits
from planner.cli.inputs import write_records, write_text
from planner.cli.output import console, money, number, percent, plain, print_json, quantity, table

if TYPE_CHECKING:
    from planner.prices import Prices
    from planner.simulate.measures import Measure
    from planner.simulate.run_one import Outcome, SimulationRun, Study
    from planner.simulate.summary import SummaryRow

SHOWN = (
    "admitted", "goodput", "utilization", "wait_s_mean", "wait_s_p99", "completion_s_mean", "slowdown_mean",
    "stranded", "evictions", "restarts", "moved_accelerators", "wasted_h", "used_h", "idle_h", "spare_h", "down_h",
    "fragmentation", "energy_wh_per_accelerator_h", "fairness", "reconfigurations", "moves", "cost_per_accelerator_h",
    "decision_s_p50", "decision_s_p99", "events_per_s",
)  # fmt: skip
"""measures of the tables, those that are known"""
SPANS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"))


def deliver(
    study: "Study",
    outcomes: "Mapping[SimulationRun, Outcome]",
    prices: "Prices | None",
    inputs: Sequence[Path | None],
    *,
    csv: Path | None,
    html: Path | None,
    timings: bool,
    as_json: bool,
) -> int:
    """Print what came out, and write the files that were asked for: an exit code; `inputs` are the files read."""
    from planner.simulate.fault_measures import FAULT_MEASURES
    from planner.simulate.measures import MEASURES, TIMINGS
    from planner.simulate.prices import COST, measure_of, priced
    from planner.simulate.summary import summarize, to_records

    answered = FAULT_MEASURES if study.faults is not None else {}
    measures = {**MEASURES, **answered, **(TIMINGS if timings else {})}
    if prices is not None:
        outcomes, measures[COST] = priced(outcomes, prices), measure_of(prices)
    rows = summarize(outcomes, measures)
    records = to_records(rows)
    if as_json:
        print_json(records)
    else:
        _print_tables(rows, measures)
        _print_caveats(study, outcomes, measures)
    if csv is not None:
        write_records(csv, records)
    if html is not None:
        _write_page(html, study, outcomes, measures, [path for path in inputs if path is not None])
    return exits.PLAN


def _write_page(
    path: Path,
    study: "Study",
    outcomes: "Mapping[SimulationRun, Outcome]",
    measures: "Mapping[str, Measure]",
    inputs: Sequence[Path],
) -> None:
    """The report as one HTML file."""
    from planner.cli.versions import versions
    from planner.report.replay import replay_html

    digests = {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in inputs}
    command = shlex.join(["planner", *sys.argv[1:]])
    write_text(path, replay_html(study, outcomes, measures, command=command, versions=versions(), inputs=digests))


def _print_tables(rows: "Sequence[SummaryRow]", measures: "Mapping[str, Measure]") -> None:
    """For each load a line for each policy on each cluster, with half the 95 % interval."""
    columns = [name for name in SHOWN if name in measures]
    out = console()
    for place, load in enumerate(dict.fromkeys(row.load for row in rows)):
        of_load = [row for row in rows if row.load == load]
        seeds = max(row.seeds for row in of_load)
        if place:
            out.print()
        title = "as the trace has it" if load is None else f"{load:g}"
        out.print(f"load {title}   {counted(seeds, 'seed')}", soft_wrap=True)
        _print_table(of_load, {name: measures[name] for name in columns})


def _print_caveats(
    study: "Study", outcomes: "Mapping[SimulationRun, Outcome]", measures: "Mapping[str, Measure]"
) -> None:
    """Caveats of the figures at each load and of the study, as on the page."""
    from planner.report.replay.caveats import caveats
    from planner.report.replay.sheet import Sheet
    from planner.report.replay.verdict import verdict

    sheet, out = Sheet(outcomes), console()
    for load in sheet.loads:
        at = "" if load is None else f"Load {load:g}: "
        for text in verdict(sheet, load, measures, study.rules.discipline)["warnings"]:
            out.print(f"{at}{plain(text)}", soft_wrap=True)
    out.print("\nWhat this does not show", soft_wrap=True)
    for text in caveats(study, sheet, measures):
        out.print(f"- {plain(text)}", soft_wrap=True)


def _print_table(rows: "Sequence[SummaryRow]", columns: "Mapping[str, Measure]") -> None:
    """Some measures at one load."""
    lines = []
    for cluster, policy in dict.fromkeys((row.cluster, row.policy) for row in rows):
        found = {row.measure: row for row in rows if (row.cluster, row.policy) == (cluster, policy)}
        cells = [_cell(found[name], measure) for name, measure in columns.items()]
        lines.append([plain(cluster), policy, *cells])
    names = ["cluster", "policy", *(measure.title for measure in columns.values())]
    console().print(table(names, lines, right=names[2:]))


def _cell(row: "SummaryRow", measure: "Measure") -> str:
    """A mean, and half its interval where there is one."""
    if row.mean is None:
        return "-"
    if measure.unit == "s" and row.mean >= SPANS[-1][0]:
        scale, unit = next((scale, unit) for scale, unit in SPANS if row.mean >= scale)
        around = "" if row.half_width is None else f" ± {row.half_width / scale:.3g}"
        return f"{row.mean / scale:.3g}{around} {unit}"
    around = "" if row.half_width is None else f" ± {_shown(measure, row.half_width)}"
    return _shown(measure, row.mean) + around


def _shown(measure: "Measure", value: float) -> str:
    if measure.is_share:
        return percent(value)
    if measure.is_money:
        return money(value, measure.unit)
    return quantity(value, measure.unit) if measure.unit else number(value)
