"""How much better joint plans of pools are than the SiPAM loop: `python -m tests.benchmarks.bench_pools --seeds 50`.

No test: nothing here has a limit to pass, and times depend on the machine.
"""

import argparse
import csv
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import numpy as np

from planner import Instance, SolveOptions, check, solve
from planner.candidates.expand import expand
from planner.fabrics.problem import JobOptions, Problem
from tests.benchmarks.random_pools import random_pool

NUM_JOBS = {64: 12, 256: 40, 1024: 120}
"""jobs of a pool by its accelerators"""
ZONES = {64: 1, 256: 1, 1024: 4}


@dataclass(frozen=True)
class Figures:
    """One pool; gains are of the joint plan, as fractions of what they are compared with."""

    name: str
    units: int
    """for each accelerator"""
    utility: str
    reading: str
    status: str
    listed_s: float
    first_plan_s: float
    """from the start of listing to the first plan, checked"""
    solve_s: float
    loop: float
    """value of the loop's choices, placed in arrival order"""
    loop_units: float
    """value where only the loop's memory units are kept, and all else is chosen jointly"""
    joint: float
    bound: float
    gap: float
    gain_over_loop: float
    gain_over_loop_units: float
    violations: int


def measure(instance: Instance, units: int, utility: str, reading: str, time_limit_s: float) -> Figures:
    """Plan one pool three ways."""
    started = time.perf_counter()
    problem = expand(instance)
    listed_s = time.perf_counter() - started
    loop = solve(problem, policy="sipam_loop")
    assert loop.plan is not None
    violations = len(check(instance, loop.plan, starts=True))
    first_plan_s = time.perf_counter() - started
    options = SolveOptions(time_limit_s=time_limit_s, workers=2)
    joint = solve(problem, options=options)
    kept = solve(_with_units_of_the_loop(instance), options=options)
    assert joint.plan is not None
    violations += len(check(instance, joint.plan, starts=True))
    values = [float(result.objective or 0.0) for result in (loop, kept, joint)]
    return Figures(
        name=instance.name,
        units=units,
        utility=utility,
        reading=reading,
        status=joint.status.value,
        listed_s=listed_s,
        first_plan_s=first_plan_s,
        solve_s=joint.wall_time_s,
        loop=values[0],
        loop_units=values[1],
        joint=values[2],
        bound=float(joint.bound or np.inf),
        gap=float(joint.gap or 0.0),
        gain_over_loop=values[2] / values[0] - 1 if values[0] else 0.0,
        gain_over_loop_units=values[2] / values[1] - 1 if values[1] else 0.0,
        violations=violations,
    )


def _with_units_of_the_loop(instance: Instance) -> Problem:
    """Only candidates with the memory units that the loop gives their job."""
    problem = expand(instance, prune=False)
    return replace(problem, options=tuple(_of_loop(problem, options) for options in problem.options))


def _of_loop(problem: Problem, options: JobOptions) -> JobOptions:
    units = problem.cluster.fabric.loop_units(problem.cluster.device, options.job.workload)  # type: ignore[union-attr]
    splits = [number for number, split in enumerate(options.candidates.splits) if split.memory_units == units]
    rows = np.flatnonzero(np.isin(options.candidates.split, splits))
    best: dict[tuple[int, int, tuple[int, ...]], int] = {}
    for row in rows[np.argsort(-options.value[rows], kind="stable")].tolist():
        whole = options.candidates.block[row] == options.candidates.num_devices[row]
        plans = () if whole else tuple(options.candidates.plan[:3, row].tolist())
        key = int(options.candidates.num_devices[row]), int(options.candidates.block[row]), plans
        best.setdefault(key, row)
    return options.take(np.array(sorted(best.values()), dtype=np.int64))


COLUMNS = {
    "units": "d", "utility": "", "reading": "", "status": "", "listed_s": ".2f", "first_plan_s": ".2f",
    "solve_s": ".1f",
    "loop": ".3f", "loop_units": ".3f", "joint": ".3f", "gap": ".3%", "gain_over_loop": ".1%",
    "gain_over_loop_units": ".1%", "violations": "d",
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line per pool as it comes, then the gains of each kind of pool."""
    parser = argparse.ArgumentParser(prog="bench_pools", description="Plan random pools, print gains over the loop.")
    parser.add_argument("--accelerators", type=int, choices=sorted(NUM_JOBS), default=64)
    parser.add_argument("--seeds", type=int, default=10, help="seeds 0 to this less one, of each kind of pool")
    parser.add_argument("--units", type=int, nargs="+", default=[3, 6, 12, 24], help="memory units per accelerator")
    parser.add_argument("--utilities", nargs="+", default=["sqrt"], choices=["sqrt", "linear"])
    parser.add_argument("--readings", nargs="+", default=["plain"], choices=["plain", "normalized"])
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds, of each solve")
    parser.add_argument("--csv", type=Path, help="write all figures here")
    options = parser.parse_args(arguments)
    rows: list[Figures] = []
    print(f"{'pool':<12}", *(f"{name:>13}"[:13] for name in COLUMNS))
    for reading in options.readings:
        for utility in options.utilities:
            for units in options.units:
                for seed in range(options.seeds):
                    size = options.accelerators
                    pool = random_pool(
                        size, NUM_JOBS[size], seed, units=units, utility=utility, reading=reading, zones=ZONES[size]
                    )
                    rows.append(measure(pool, units, utility, reading, options.time_limit))
                    cells = (f"{getattr(rows[-1], name):>13{form}}" for name, form in COLUMNS.items())
                    print(f"{pool.name:<12}", *cells, flush=True)
                print(_summary([r for r in rows if (r.reading, r.utility, r.units) == (reading, utility, units)]))
    if options.csv is not None:
        _write(options.csv, rows)
    return 0


def _summary(rows: Sequence[Figures]) -> str:
    """Gains of one kind of pool, and what is proven."""
    over_loop = [row.gain_over_loop for row in rows]
    over_units = [row.gain_over_loop_units for row in rows]
    proven = sum(row.status == "OPTIMAL" for row in rows)
    return (
        f"  {rows[0].reading}, {rows[0].utility}, {rows[0].units} units: over the loop "
        f"{statistics.median(over_loop):.1%} (median), {max(over_loop):.1%} (best), {min(over_loop):.1%} (least); "
        f"over its units alone {statistics.median(over_units):.1%}, {max(over_units):.1%}, {min(over_units):.1%}; "
        f"{proven} of {len(rows)} "
        f"proven, largest gap {max(row.gap for row in rows):.3%}, {sum(row.violations for row in rows)} violations"
    )


def _write(path: Path, rows: Sequence[Figures]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Figures)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


if __name__ == "__main__":
    sys.exit(main())
