"""How well racks with shared waveguides are planned: `python -m tests.benchmarks.bench_shared --jobs 40 --seeds 11`.

Every rack runs in a fresh process, so that its peak of memory is its own. The time of the first plan counts from the
reading of the instance on, by the clock and in seconds of the processors; the last plan is checked. No test: times
depend on the machine.
"""

import argparse
import csv
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from planner import Instance, SolveOptions, check, solve
from planner.model.result import Incumbent
from tests.benchmarks.memory import resident_peak_mb
from tests.benchmarks.shared_racks import shared_rack

NUM_JOBS = (16, 40)


@dataclass(frozen=True)
class Figures:
    """One rack: servers, rows of tiles, fibers and fan-out; seconds since the instance was read."""

    name: str
    servers: int
    rows: int
    fibers: int
    peers: int
    status: str
    first_plan_s: float
    first_plan_cpu_s: float
    first_value: float
    value: float
    bound: float
    gap: float
    total_s: float
    candidates: int
    refuted: int
    undecided: int
    levels: str
    """status of each level"""
    peak_mb: float
    violations: int


def measure(instance: Instance, options: SolveOptions) -> Figures:
    """Plan a rack and check the plan; the options' callback is this function's own."""
    seen: list[tuple[float, float, Incumbent]] = []
    started, cpu_started = time.perf_counter(), time.process_time()

    def note(incumbent: Incumbent) -> None:
        seen.append((time.perf_counter() - started, time.process_time() - cpu_started, incumbent))

    result = solve(instance, options=SolveOptions(**(vars(options) | {"on_incumbent": note})))
    total_s, fabric = time.perf_counter() - started, instance.cluster.fabric
    assert result.plan is not None
    assert result.objective is not None
    first_s, first_cpu_s, first = next(each for each in seen if each[2].objective is not None)
    return Figures(
        name=instance.name,
        servers=fabric.servers,
        rows=getattr(fabric, "tile_rows", 0),
        fibers=getattr(fabric, "fibers", 0),
        peers=getattr(fabric, "max_peers", 0),
        status=result.levels[0].status.value,
        first_plan_s=first_s,
        first_plan_cpu_s=first_cpu_s,
        first_value=first.objective or 0.0,
        value=result.objective,
        bound=float("inf") if result.bound is None else result.bound,
        gap=float("inf") if result.gap is None else result.gap,
        total_s=total_s,
        candidates=int(result.statistics["candidates"]),
        refuted=int(result.statistics["refuted"]),
        undecided=int(result.statistics["undecided"]),
        levels=" ".join(level.status.value[0] for level in result.levels),
        peak_mb=resident_peak_mb(),
        violations=len(check(instance, result.plan, starts=True)),
    )


FORMATS = {
    "name": "", "servers": "d", "rows": "d", "fibers": "d", "peers": "d", "status": "", "first_plan_s": ".2f",
    "first_plan_cpu_s": ".2f", "first_value": ".3f", "value": ".4f", "bound": ".4f", "gap": ".2%", "total_s": ".1f",
    "candidates": "d", "refuted": "d", "undecided": "d", "levels": "", "peak_mb": ".0f", "violations": "d",
}  # fmt: skip
WORST = ("first_plan_s", "first_plan_cpu_s", "gap", "total_s", "peak_mb", "violations")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line per rack as it comes, then the worst of what must be small."""
    parser = argparse.ArgumentParser(prog="bench_shared", description="Plan racks with shared waveguides.")
    parser.add_argument("--jobs", type=int, choices=NUM_JOBS, help="default: both")
    parser.add_argument("--seeds", type=int, default=11, help="seeds 0 to this less one, of each number of jobs")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--csv", type=Path, help="write all figures here")
    parser.add_argument("--only", type=int, metavar="SEED", help="this seed of --jobs here, as JSON")
    given = parser.parse_args(arguments)
    if given.only is not None:
        limits = SolveOptions(time_limit_s=given.time_limit, workers=given.workers)
        print(json.dumps(asdict(measure(shared_rack(given.jobs or NUM_JOBS[0], given.only), limits))))
        return 0
    rows: list[Figures] = []
    print(" ".join(f"{name:>16}" for name in FORMATS))
    for seed in range(given.seeds):
        for jobs in (given.jobs,) if given.jobs else NUM_JOBS:
            rows.append(_in_fresh_process(jobs, seed, given.time_limit, given.workers))
            print(
                " ".join(f"{format(getattr(rows[-1], name), form):>16}" for name, form in FORMATS.items()), flush=True
            )
    for name in WORST if rows else ():
        worst = max(rows, key=lambda row: float(getattr(row, name)))
        print(f"worst {name}: {format(getattr(worst, name), FORMATS[name])} ({worst.name})")
    print(f"level 1 proven: {sum(row.status == 'OPTIMAL' for row in rows)} of {len(rows)}")
    if given.csv is not None:
        with given.csv.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [field.name for field in fields(Figures)])
            writer.writeheader()
            writer.writerows(asdict(row) for row in rows)
    return 0


def _in_fresh_process(jobs: int, seed: int, time_limit_s: float, workers: int) -> Figures:
    limits = ["--jobs", str(jobs), "--only", str(seed), "--time-limit", str(time_limit_s), "--workers", str(workers)]
    command = [sys.executable, "-m", "tests.benchmarks.bench_shared", *limits]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Figures(**json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    sys.exit(main())
