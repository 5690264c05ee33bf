"""planner compare: policies side by side, on instances and on variants of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli import completions, exits
from planner.cli.compare_output import CompareOutputs, show_comparison, show_plain, tell_refused
from planner.cli.inputs import (
    POLICY_NAMES,
    AsJson,
    Seed,
    TimeLimit,
    require_policy,
)
from planner.cli.option_names import naming_options
from planner.cli.output import console
from planner.model.errors import InputError

if TYPE_CHECKING:
    from planner.prices import Prices
    from planner.studies.compare import Comparison
    from planner.studies.compare.freedom import Freedom
    from planner.studies.compare.grid import Variant

DEFAULT_POLICIES = "cpsat,first_fit,best_fit,server_aligned,random_fit"

TABLES_ONLY = ("--grid", "--prices", "--report", "--seeds", "--policies")
"""options that mean nothing beside --plain"""

Instances = Annotated[list[Path], typer.Argument(metavar="INSTANCE...", help="Instance files.")]
Policies = Annotated[
    str,
    typer.Option(metavar="A,B,C", autocompletion=completions.policies, help=f"Policies, by commas: {POLICY_NAMES}."),
]
Axes = Annotated[
    list[str] | None,
    typer.Option(
        "--grid",
        metavar="FIELD=X,Y",
        help="Vary a field of the instances, such as cluster.fabric.fibers=1,2 or jobs[chat].weight=1,5; may be given "
        "often: all combinations.",
    ),
]
Seeds = Annotated[int, typer.Option("--seeds", min=1, max=10_000, help="Runs of each; 2 or more give intervals.")]
Processes = Annotated[int, typer.Option("--processes", min=1, max=512, help="Processes, each with a run of its own.")]
Threads = Annotated[
    int | None,
    typer.Option(min=1, max=512, help="Threads of the solver in each run; all cores over --processes unless given."),
]
Ray = Annotated[
    str | None,
    typer.Option("--ray", metavar="ADDRESS", help="Runs on a Ray cluster instead: auto, local, or host:port."),
]
ResultsPath = Annotated[Path, typer.Option(metavar="DIR", help="Finished runs: an interrupted command resumes.")]
CsvPath = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the rows as .csv or .parquet.")]
JsonPath = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the rows as JSON.")]
Report = Annotated[
    Path | None,
    typer.Option("--report", "--html", metavar="FILE", help="Write one HTML page: who is best where, plots, fronts."),
]
PricesPath = Annotated[
    Path | None, typer.Option("--prices", metavar="FILE", help="Prices of parts and of energy: adds what plans cost.")
]
Plain = Annotated[
    bool,
    typer.Option(
        "--plain",
        help="One table of all instances instead, each beside FILE_plain, the same jobs without what it is about: what "
        "that is worth, by cpsat.",
    ),
]
Timings = Annotated[
    bool, typer.Option("--timings/--no-timings", help="Wall times in the rows, which differ from run to run.")
]


def compare(
    instances: Instances,
    policies: Policies = DEFAULT_POLICIES,
    grid: Axes = None,
    seeds: Seeds = 1,
    time_limit: TimeLimit = 60.0,
    seed: Seed = 0,
    processes: Processes = 1,
    threads: Threads = None,
    ray: Ray = None,
    results: ResultsPath = Path("compare-runs"),
    csv: CsvPath = None,
    out_json: JsonPath = None,
    html: Report = None,
    prices: PricesPath = None,
    plain: Plain = False,
    timings: Timings = True,
    as_json: AsJson = False,
) -> int:
    """Run several policies on each instance, or on each of its variants, and print one table for each instance.

    Value, bound and energy compare over variants and instances: a job is measured against its fastest and its most
    frugal candidate in the first file that lists it, as written. Tokens, samples, joules and costs are absolute.
    The gap is to the best bound that any run on the same variant proved; heuristics prove none. The best figures of
    a variant are bold. Throughput, energy, power, fragmentation and cost compare only among plans that run as many jobs
    as any beside them; others show their figure, never as the best. Each run has the time limit; finished ones are
    kept: the same command resumes. With `--plain` one table has all instances beside their plain alternatives.
    """
    asked = CompareOutputs(timings, as_json, csv, out_json, html)
    asked.require_writable()
    machines = processes, ray, threads or _cores(processes, ray)
    if plain:
        _require_plain_alone(grid, prices, html, seeds > 1, policies != DEFAULT_POLICIES)
        rows = _beside_plain(instances, results, machines, time_limit_s=time_limit, seed=seed)
        return show_plain(rows, len(instances), asked)
    names, variants = _policies(policies), _variants(instances, grid or [])
    known = _prices(prices, variants)
    found = _run(variants, names, seeds, results, machines, time_limit_s=time_limit, seed=seed)
    show_comparison(found.rows, variants, known, [path for path in (*instances, prices) if path], asked)
    return exits.INTERRUPTED if len(found.rows) < found.runs else tell_refused(found.rows)


def _require_plain_alone(*given: object) -> None:
    """InputError where --plain stands beside an option that its table has no place for."""
    if options := [option for option, value in zip(TABLES_ONLY, given, strict=True) if value]:
        raise InputError(options[0], "", "--plain compares each file with its plain twin by cpsat alone; leave it out")


def _beside_plain(
    instances: Sequence[Path], results: Path, machines: tuple[int, str | None, int], **limits: Any
) -> "list[Freedom]":
    """Each instance beside its plain alternative; after Ctrl-C those that are done."""
    from planner.studies.compare.freedom import Freedom, plain_alike, twins

    found: list[Freedom] = []
    for own, plain in [twins(path) for path in instances]:
        rows = _run((own, plain_alike(own, plain)), ["cpsat"], 1, results, machines, **limits).rows
        if len(rows) < 2:
            break
        found.append(Freedom(*rows))
    return found


def _run(
    variants: "Sequence[Variant]",
    policies: Sequence[str],
    seeds: int,
    results: Path,
    machines: tuple[int, str | None, int],
    **limits: Any,
) -> "Comparison":
    """All runs on processes or on Ray, `machines` being what `Where` has, with what is done by now told."""
    from planner.cli.progress import telling
    from planner.model.result import SolveOptions
    from planner.studies.compare import compare as run
    from planner.sweep.run import Where
    from planner.sweep.store import Store

    options, where, store = SolveOptions(workers=machines[2], **limits), Where(*machines), Store(results)
    with naming_options():
        found = run(variants, policies, seeds=seeds, options=options, store=store, where=where, on_cell=telling("runs"))
    _tell_stopped(found)
    return found


def _prices(path: Path | None, variants: "Sequence[Variant]") -> "Prices | None":
    """Prices of a file, if one is named; InputError where a variant has no price."""
    from planner.model.files import load
    from planner.prices import Prices
    from planner.studies.compare.costs import capital_of

    if path is None:
        return None
    prices = load(Prices, path)
    capital_of(variants, prices, str(path))
    return prices


def _tell_stopped(found: "Comparison") -> None:
    """Number of runs done before Ctrl-C, below the line of progress."""
    out = console(stderr=True)
    if len(found.rows) < found.runs:
        text = f"stopped: {len(found.rows)} of {found.runs} runs are done; the same command resumes"
        out.print(f"\n{text}" if out.is_terminal else text, soft_wrap=True)


def _cores(processes: int, ray: str | None) -> int:
    """Threads of one run: one on Ray, whose machines differ; else what the cores of this one allow."""
    import os

    return 1 if ray is not None else max(1, (os.cpu_count() or 1) // processes)


def _policies(text: str) -> list[str]:
    """Known policies, each once."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise InputError("--policies", "", f"names no policy; give some, such as {DEFAULT_POLICIES}")
    return [require_policy(name, "--policies") for name in names]


def _variants(paths: Sequence[Path], axes: Sequence[str]) -> "list[Variant]":
    """All variants of all files, each valid."""
    from planner.studies.compare.grid import parse_axis, require_few, variants

    parsed = [parse_axis(text) for text in axes]
    require_few(parsed)
    found: list[Variant] = []
    for path in paths:
        of_file = variants(path, parsed)
        name = of_file[0].instance.name
        if any(variant.instance.name == name for variant in found):
            raise InputError(str(path), "name", f"'{name}' is the name of two instances; rename one")
        found += of_file
    return found
