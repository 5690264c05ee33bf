"""planner replay: demand replayed against policies and fabrics."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from planner.cli import completions
from planner.cli.fault_inputs import SERVERS_HELP
from planner.cli.inputs import AsJson, require_writable
from planner.cli.outputs import CELLS_TABLE, WEB_PAGE

Source = Annotated[
    Path,
    typer.Argument(metavar="TRACE", help="Trace (.csv, .parquet), or a demand model (.yaml, .json) to draw from."),
]
POLICIES_HELP = (
    "Policies, by commas; the first is the baseline. first_fit, best_fit, server_aligned, random_fit, sipam_loop, "
    "torus_slices, bcube_slices; rfold: RFold on cubes of a torus; best_fit_wfp: best fit, the queue in the order of "
    "wait over runtime and size; best_fit_moving: best fit, and where a job finds no room running jobs change places, "
    "chosen by CP-SAT, with or without --migrate (formerly cpsat); solver: the solver itself, for one job at a time, "
    "which takes its time; those of other distributions."
)
Clusters = Annotated[
    list[Path], typer.Option("--cluster", metavar="FILE", help="A cluster, or an instance on one; may be given often.")
]
Policies = Annotated[str, typer.Option(metavar="A,B,C", autocompletion=completions.policies, help=POLICIES_HELP)]
Loads = Annotated[
    str | None,
    typer.Option(
        metavar="X,Y",
        help="Offered loads: what jobs would hold of the accelerators on average over the time that counts, did they "
        "take their recorded time and none wait. Times between arrivals are stretched to reach it; as the trace has "
        "them unless given.",
    ),
]
Seeds = Annotated[int, typer.Option(min=1, max=10_000, help="Replications; 2 or more give intervals.")]
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
FaultsPath = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Fault log: columns day, server, event (start, end), class. It starts again where the demand is longer.",
    ),
]
OnFault = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help="What becomes of jobs on what fails, compared: requeue, spare_server, repair, place_again; with --faults "
        "the first three unless given.",
    ),
]
RulesOfFaults = Annotated[
    str,
    typer.Option(
        metavar="KEY=VALUE,...",
        help=f"{SERVERS_HELP}; spares=N whole servers kept for spare_server and repair; checkpoint=1h: what a job did "
        "since its last one is lost (nothing unless given).",
    ),
]
Failures = Annotated[Path | None, typer.Option(metavar="FILE", help="Failure model, by kind of part.")]
WarmUp = Annotated[float, typer.Option(min=0.0, max=0.9, help="Share of the time that is left out at the start.")]
Processes = Annotated[int, typer.Option("--processes", min=1, max=512, help="Processes, a replay each at a time.")]
Ray = Annotated[
    str | None,
    typer.Option("--ray", metavar="ADDRESS", help="Cells on a Ray cluster instead: auto, local, or host:port."),
]
ResultsPath = Annotated[Path, typer.Option(metavar="DIR", help="Finished cells: an interrupted run resumes.")]
CsvPath = Annotated[Path | None, typer.Option(metavar="FILE", help="Write all measures as .csv or .parquet.")]
HtmlPath = Annotated[
    Path | None,
    typer.Option("--report", "--html", metavar="FILE", help="Write one HTML page for people: verdict, tables, plots."),
]
Moments = Annotated[
    str, typer.Option("--snapshots", metavar="X,Y", help="Shares of the time at which the page shows who holds what.")
]
PricesPath = Annotated[
    Path | None, typer.Option("--prices", metavar="FILE", help="Capital of the clusters and price of energy.")
]
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
    faults: FaultsPath = None,
    on_fault: OnFault = None,
    fault_rules: RulesOfFaults = "",
    warm_up: WarmUp = 0.1,
    processes: Processes = 1,
    ray: Ray = None,
    results: ResultsPath = Path("replay-cells"),
    csv: CsvPath = None,
    html: HtmlPath = None,
    snapshots: Moments = "0.25,0.5,0.9",
    prices: PricesPath = None,
    timings: Timings = False,
    as_json: AsJson = False,
) -> int:
    """Replay a demand against policies on one or more clusters, all on the same random numbers.

    Recorded durations are those of the reference of the mix; a job that gets a faster configuration ends sooner.
    """
    require_writable(csv, "--csv", CELLS_TABLE)
    require_writable(html, "--report", WEB_PAGE)
    from planner.cli.replay_inputs import prices_of, read_study, replayed
    from planner.cli.replay_output import deliver

    answered = faults, on_fault, fault_rules
    study = read_study(demand, cluster, jobs, mix, queue, migrate, downtime, failures, answered, warm_up, snapshots)
    found = replayed(study, policies, load, seeds, results, processes, ray)
    inputs = (demand, *cluster, mix, failures, faults, prices)
    return deliver(study, found, prices_of(prices, study), inputs, csv=csv, html=html, timings=timings, as_json=as_json)
