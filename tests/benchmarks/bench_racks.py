"""How fast racks are planned: `python -m tests.benchmarks.bench_racks --tiles 64 --seeds 20 --csv out.csv`.

Every seed runs in a fresh process, so that its peak of memory is its own. No test: nothing here has a limit
to pass, and times depend on the machine.
"""

import argparse
import csv
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from planner import Instance, Result, SolveOptions, Status, check, solve
from planner.candidates.expand import expand
from planner.model.edit import with_fabric
from planner.model.result import Incumbent
from tests.benchmarks.highs_step1 import solve_step1
from tests.benchmarks.memory import resident_peak_mb
from tests.benchmarks.random_racks import random_rack

NUM_JOBS = {64: 12, 256: 40}
"""jobs of a rack by its accelerators, as in the shipped racks"""
PLENTIFUL = 64
"""fibers for each ordered pair of servers, more than any plan uses"""
AGREE = 1e-5
"""relative difference of values that counts as none: coefficients of the models are rounded"""


@dataclass(frozen=True)
class Figures:
    """One rack; seconds are wall-clock times since candidates began to be listed, None where it never came.

    Variables, constraints and candidates in force are those of the last model that was built.
    """

    name: str
    status: str
    first_plan_s: float | None
    level1_optimal_s: float | None
    total_s: float
    value: float | None
    bound: float | None
    gap: float | None
    candidates: int
    in_force: int
    variables: int
    constraints: int
    refuted: int
    undecided: int
    peak_mb: float
    violations: int
    first_fit: float | None
    first_fit_s: float
    best_fit: float | None
    best_fit_s: float
    plentiful: float | None
    fibers_bind: str
    """yes, no, or open where neither is proven in time"""
    highs: float | None
    highs_bound: float | None
    highs_s: float
    highs_status: str


def measure(
    instance: Instance,
    *,
    time_limit_s: float,
    workers: int | None = None,
    deterministic_limit: float | None = None,
) -> Figures:
    """Plan one rack with CP-SAT, with the heuristics, with plentiful fibers, and its step 1 with HiGHS."""
    seen: list[tuple[float, Incumbent]] = []
    started = time.perf_counter()
    options = SolveOptions(
        time_limit_s=time_limit_s,
        workers=workers,
        deterministic_limit=deterministic_limit,
        on_incumbent=lambda incumbent: seen.append((time.perf_counter() - started, incumbent)),
    )
    result = solve(instance, options=options)
    total_s = time.perf_counter() - started
    peak_mb = resident_peak_mb()
    level = result.levels[0]
    proven = [s for s, i in seen if i.level == level.objective and i.source == "proven"]
    problem = expand(instance)
    quiet = SolveOptions(time_limit_s=time_limit_s, workers=workers, deterministic_limit=deterministic_limit)
    heuristics = {name: solve(problem, policy=name, options=quiet) for name in ("first_fit", "best_fit")}
    plentiful = solve(with_fabric(instance, fibers=PLENTIFUL), options=quiet)
    highs = solve_step1(problem, time_limit_s=time_limit_s)
    return Figures(
        name=instance.name,
        status=result.status.value,
        first_plan_s=next((s for s, incumbent in seen if incumbent.objective is not None), None),
        level1_optimal_s=proven[0] if proven and level.status is Status.OPTIMAL else None,
        total_s=total_s,
        value=result.objective,
        bound=result.bound,
        gap=result.gap,
        candidates=int(result.statistics["candidates"]),
        in_force=int(result.statistics["candidates_in_force"]),
        variables=int(result.statistics["variables"]),
        constraints=int(result.statistics["constraints"]),
        refuted=int(result.statistics["refuted"]),
        undecided=int(result.statistics["undecided"]),
        peak_mb=peak_mb,
        violations=0 if result.plan is None else len(check(instance, result.plan, starts=True)),
        first_fit=heuristics["first_fit"].objective,
        first_fit_s=heuristics["first_fit"].wall_time_s,
        best_fit=heuristics["best_fit"].objective,
        best_fit_s=heuristics["best_fit"].wall_time_s,
        plentiful=plentiful.objective,
        fibers_bind=_bind(result, plentiful),
        highs=highs.objective,
        highs_bound=highs.bound,
        highs_s=highs.seconds,
        highs_status="OPTIMAL" if highs.is_optimal else "LIMIT",
    )


def _bind(scarce: Result, plentiful: Result) -> str:
    """Whether the optimum grows with the fibers, from values and proven bounds alone."""
    if _exceeds(plentiful.objective, scarce.bound, 1 + AGREE):
        return "yes"
    return "no" if _exceeds(scarce.objective, plentiful.bound, 1 - AGREE) else "open"


def _exceeds(value: float | None, bound: float | None, share: float) -> bool:
    return value is not None and bound is not None and value > bound * share


COLUMNS: dict[str, tuple[str, str]] = {
    "status": ("status", ""),
    "first_plan_s": ("first s", ".2f"),
    "level1_optimal_s": ("opt s", ".2f"),
    "total_s": ("total s", ".1f"),
    "value": ("value", ".4f"),
    "gap": ("gap", ".2%"),
    "candidates": ("cands", "d"),
    "in_force": ("in force", "d"),
    "variables": ("vars", "d"),
    "constraints": ("cons", "d"),
    "refuted": ("refuted", "d"),
    "undecided": ("undec", "d"),
    "peak_mb": ("MB", ".0f"),
    "first_fit": ("first_fit", ".3f"),
    "first_fit_s": ("s", ".2f"),
    "best_fit": ("best_fit", ".3f"),
    "best_fit_s": ("s", ".2f"),
    "fibers_bind": ("bind", ""),
    "highs": ("HiGHS", ".4f"),
    "highs_bound": ("bound", ".4f"),
    "highs_s": ("s", ".1f"),
    "highs_status": ("", ""),
}
"""field -> heading and format of the printed table"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line per seed as it comes, then the median and the worst of each column."""
    parser = argparse.ArgumentParser(prog="bench_racks", description="Plan random racks, print figures.")
    parser.add_argument("--tiles", type=int, choices=sorted(NUM_JOBS), default=64)
    parser.add_argument("--seeds", type=int, default=20, help="seeds 0 to this less one")
    parser.add_argument("--time-limit", type=float, default=30.0, help="seconds, of each solve")
    parser.add_argument("--csv", type=Path, help="write all figures here")
    parser.add_argument("--only", type=int, metavar="SEED", help="this seed here, as JSON")
    options = parser.parse_args(arguments)
    if options.only is not None:
        rack = random_rack(options.tiles, NUM_JOBS[options.tiles], options.only)
        print(json.dumps(asdict(measure(rack, time_limit_s=options.time_limit))))
        return 0
    rows: list[Figures] = []
    print(_line("rack", [heading for heading, _ in COLUMNS.values()]))
    for seed in range(options.seeds):
        rows.append(_in_fresh_process(options.tiles, seed, options.time_limit))
        print(_line(rows[-1].name, _cells(rows[-1])), flush=True)
    print("\n".join(_summary(rows)))
    if options.csv is not None:
        _write(options.csv, rows)
    return 0


def _in_fresh_process(tiles: int, seed: int, time_limit_s: float) -> Figures:
    limits = ["--tiles", str(tiles), "--only", str(seed), "--time-limit", str(time_limit_s)]
    command = [sys.executable, "-m", "tests.benchmarks.bench_racks", *limits]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Figures(**json.loads(done.stdout.splitlines()[-1]))


def _cells(row: Figures) -> list[str]:
    return [_cell(getattr(row, name), form) for name, (_, form) in COLUMNS.items()]


def _cell(value: float | str | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _line(name: str, cells: Sequence[str]) -> str:
    return " ".join([f"{name:<12}", *(f"{cell:>9}" for cell in cells)])


def _summary(rows: Sequence[Figures]) -> Iterable[str]:
    """Median and worst of each number, and how often what happened."""
    if not rows:
        return
    for name, pick in (("median", statistics.median), ("worst", max)):
        cells = []
        for field_name, (_, form) in COLUMNS.items():
            values = [getattr(row, field_name) for row in rows]
            numbers = [value for value in values if isinstance(value, (int, float))]
            is_value = field_name in ("value", "first_fit", "best_fit", "highs", "highs_bound")
            if is_value or not numbers:
                cells.append("")
            else:
                cells.append(_cell(pick(numbers), ".0f" if form == "d" else form))
        yield _line(name, cells)
    total = len(rows)
    yield f"level 1 proven: {sum(row.level1_optimal_s is not None for row in rows)} of {total}"
    yield f"step 2 refuted a pattern: {sum(row.refuted > 0 for row in rows)} of {total}"
    yield f"step 2 left a pattern undecided: {sum(row.undecided > 0 for row in rows)} of {total}"
    binds = {state: sum(row.fibers_bind == state for row in rows) for state in ("yes", "no", "open")}
    yield f"fibers bind: {binds['yes']} of {total} proven, {binds['no']} proven not, {binds['open']} open"
    yield f"HiGHS proves step 1: {sum(row.highs_status == 'OPTIMAL' for row in rows)} of {total}"
    yield f"plans with a violation: {sum(row.violations > 0 for row in rows)} of {total}"
    for name in ("first_fit", "best_fit"):
        found = [(getattr(row, name), row.value) for row in rows]
        shares = [mine / best for mine, best in found if mine is not None and best]
        if shares:
            yield f"{name}: {statistics.median(shares):.1%} of the value (median), {min(shares):.1%} (worst)"


def _write(path: Path, rows: Sequence[Figures]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Figures)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


if __name__ == "__main__":
    sys.exit(main())
