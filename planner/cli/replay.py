"""planner replay: demand replayed against policies and fabrics."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from planner.cli import exits
from planner.cli.inputs import AsJson, require_writable, write_text
from planner.cli.output import console, number, percent, plain, print_json, quantity, table

if TYPE_CHECKING:
    from planner.cluster import Cluster
    from planner.replay.cell import Study
    from planner.replay.demand import DemandModel
    from planner.replay.events import Rules
    from planner.replay.summary import Row
    from planner.replay.trace import Trace

DRAWN_JOBS = 5000
"""of one replication, where a demand model draws them"""
SHOWN = {
    "admitted": "admitted", "goodput": "goodput", "utilization": "utilization", "wait_s_mean": "wait",
    "wait_s_p99": "wait p99", "completion_s_mean": "completion", "slowdown_mean": "slowdown", "stranded": "stranded",
    "fragmentation": "fragmentation", "energy_j_per_s": "energy", "fairness": "fairness",
    "reconfigurations": "circuits set", "moves": "moves",
}  # fmt: skip
"""measure -> column; shares are shown in per cent"""
TIMINGS = {"decision_s_p50": "decision", "decision_s_p99": "decision p99", "events_per_s": "events"}
SHARES = {"admitted", "goodput", "utilization", "stranded"}


Source = Annotated[
    Path,
    typer.Argument(metavar="TRACE", help="Trace (.csv, .parquet), or a demand model (.yaml, .json) to draw from."),
]
Clusters = Annotated[
    list[Path], typer.Option("--cluster", metavar="FILE", help="A cluster, or an instance on one; may be given often.")
]
Policies = Annotated[str, typer.Option(metavar="A,B,C", help="Policies, by commas; the first is the baseline.")]
Loads = Annotated[
    str | None,
    typer.Option(metavar="X,Y", help="Accelerators asked for at once over all; as the trace has it unless given."),
]
Seeds = Annotated[int, typer.Option(min=1, max=10_000, help="Replications; 5 or more give intervals.")]
NumJobs = Annotated[
    int | None,
    typer.Option(min=2, help="Jobs of one replication: a stretch of the trace at random, or so many drawn ones."),
]
MixPath = Annotated[
    Path | None, typer.Option(metavar="FILE", help="What the jobs run; a mix of language models unless given.")
]
Queueing = Annotated[
    Literal["easy", "fifo", "loss"],
    typer.Option("--queue", help="EASY backfill, first come first served, or no queue: what finds no room is refused."),
]
Migrate = Annotated[bool, typer.Option("--migrate", help="Running jobs move where a job finds no room.")]
Downtime = Annotated[
    float, typer.Option(min=0.0, max=1e9, metavar="S", help="Pause of a job that moves or comes back after a failure.")
]
Failures = Annotated[Path | None, typer.Option(metavar="FILE", help="Failure model, by kind of part.")]
WarmUp = Annotated[float, typer.Option(min=0.0, max=0.9, help="Share of the time that is left out at the start.")]
Processes = Annotated[int, typer.Option("--workers", min=1, max=512, help="Processes.")]
ResultsPath = Annotated[Path, typer.Option(metavar="DIR", help="Finished cells: a run that was stopped goes on.")]
CsvPath = Annotated[Path | None, typer.Option(metavar="FILE", help="Write all measures as .csv or .parquet.")]
Timings = Annotated[bool, typer.Option("--timings", help="Decision times too, which differ from run to run.")]


def replay(
    demand: Source,
    cluster: Clusters,
    policies: Policies = "first_fit,best_fit",
    load: Loads = None,
    seeds: Seeds = 5,
    jobs: NumJobs = None,
    mix: MixPath = None,
    queue: Queueing = "easy",
    migrate: Migrate = False,
    downtime: Downtime = 60.0,
    failures: Failures = None,
    warm_up: WarmUp = 0.1,
    workers: Processes = 1,
    results: ResultsPath = Path("replay-cells"),
    csv: CsvPath = None,
    timings: Timings = False,
    as_json: AsJson = False,
) -> int:
    """Replay a demand against policies on one or more clusters, all on the same random numbers.

    Recorded durations are those of the reference of the mix; a job that gets a faster configuration ends sooner.
    """
    require_writable(csv, "--csv")
    from planner.replay.events import Rules
    from planner.replay.study import cells_of, run_study
    from planner.replay.summary import summarize, to_records

    rules = Rules(queue, migrate=migrate, downtime_s=downtime)
    study = _study(demand, cluster, jobs, mix, rules, failures, warm_up)
    cells = cells_of(study, _names(policies), _loads(load), seeds)
    rows = summarize(run_study(study, cells, results, workers=workers, on_cell=_tell), with_timings=timings)
    print_json(to_records(rows)) if as_json else _print_tables(rows, timings)
    if csv is not None:
        _write(csv, rows)
    return exits.PLAN


def _study(
    demand: Path,
    clusters: Sequence[Path],
    jobs: int | None,
    mix: Path | None,
    rules: "Rules",
    failures: Path | None,
    warm_up: float,
) -> "Study":
    """All files read, every kind of job expanded."""
    from planner.failures import FailureModel
    from planner.files import load
    from planner.replay.demand import DemandModel
    from planner.replay.mix import load_mix
    from planner.replay.study import prepare_study

    source = _source(demand)
    return prepare_study(
        source,
        load_mix(mix),
        _clusters(clusters),
        jobs=DRAWN_JOBS if jobs is None and isinstance(source, DemandModel) else jobs,
        rules=rules,
        failures=load(FailureModel, failures) if failures is not None else None,
        warm_up=warm_up,
    )


def _source(path: Path) -> "Trace | DemandModel":
    from planner.replay.demand import load_demand
    from planner.replay.trace import read_trace

    return load_demand(path) if path.suffix in (".yaml", ".yml", ".json") else read_trace(path)


def _clusters(paths: Sequence[Path]) -> "dict[str, Cluster]":
    """Clusters by the name of their file, which may be an instance too."""
    from planner import files
    from planner.cluster import Cluster
    from planner.errors import InputError

    found: dict[str, Cluster] = {}
    for path in paths:
        data = files.parse_text(files.read_text(path), str(path))
        if path.stem in found:
            raise InputError(str(path), "--cluster", f"'{path.stem}' is the name of two files; rename one")
        found[path.stem] = files.validate(Cluster, data.get("cluster", data), str(path))
    return found


def _names(text: str) -> list[str]:
    from planner.errors import InputError

    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise InputError("--policies", "", "names no policy; give some, such as first_fit,best_fit")
    return names


def _loads(text: str | None) -> list[float | None]:
    """Loads by commas; None alone for the arrivals of the trace."""
    from planner.errors import InputError

    if text is None:
        return [None]
    loads: list[float | None] = []
    for part in text.split(","):
        try:
            value = float(part)
        except ValueError:
            value = 0.0
        if not 0 < value <= 100:
            raise InputError("--load", f"'{part.strip()}'", "is no load; give numbers above 0, such as 0.7,0.9,1.1")
        loads.append(value)
    return list(dict.fromkeys(loads))


def _tell(done: int, total: int, left_s: float | None) -> None:
    """Say on a terminal how far it is."""
    out = console(stderr=True)
    if out.is_terminal:
        left = "" if left_s is None else f", about {left_s:,.0f} s left"
        out.print(f"{done} of {total} replays{left}", style="dim", end="\n" if done == total else "\r")


def _write(path: Path, rows: "Sequence[Row]") -> None:
    from planner.replay.summary import to_csv, to_records
    from planner.tables import write_parquet

    if path.suffix == ".parquet":
        write_parquet(path, to_records(rows))
    else:
        write_text(path, to_csv(rows))


def _print_tables(rows: "Sequence[Row]", with_timings: bool) -> None:
    """One table for each load: a line for each policy on each cluster, with half the 95 % interval."""
    columns = SHOWN | (TIMINGS if with_timings else {})
    out = console()
    for place, load in enumerate(dict.fromkeys(row.load for row in rows)):
        of_load = [row for row in rows if row.load == load]
        seeds = max(row.seeds for row in of_load)
        if place:
            out.print()
        title = "as the trace has it" if load is None else f"{load:g}"
        out.print(f"load {title}   {seeds} seed{'' if seeds == 1 else 's'}", soft_wrap=True)
        lines = []
        for cluster, policy in dict.fromkeys((row.cluster, row.policy) for row in of_load):
            found = {row.measure: row for row in of_load if (row.cluster, row.policy) == (cluster, policy)}
            lines.append([plain(cluster), policy, *(_cell(found[name]) for name in columns)])
        names = ["cluster", "policy", *columns.values()]
        out.print(table(names, lines, right=names[2:]))


def _cell(row: "Row") -> str:
    """A mean, and half its interval where there is one."""
    if row.mean is None:
        return "-"
    around = "" if row.half_width is None else f" ± {_shown(row.measure, row.unit, row.half_width)}"
    return _shown(row.measure, row.unit, row.mean) + around


def _shown(measure: str, unit: str, value: float) -> str:
    if measure in SHARES:
        return percent(value)
    return quantity(value, unit) if unit else number(value)
