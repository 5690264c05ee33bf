"""Whether limits hold: `python -m tests.benchmarks.bench_limits --fabrics fat_tree --sizes 1024 --jobs 1,100`.

Every case is the command `planner solve INSTANCE --time-limit S --json` in a process of its own, whose wall-clock time,
CPU time and peak of resident memory are those of that process. No test: times depend on the machine. `--policies` takes
other policies; what a start of Python and its imports cost is printed first.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from planner.cli.new_instance import instance_text
from planner.studies.random_instances import random_workload

PER_SERVER = {"lightpath": 32, "torus": 64, "sipac": 64}
"""accelerators of a server by fabric, else 8"""
FABRICS = ("fat_tree", "lightpath", "ocs_rail", "torus", "sipac", "sipam", "divided_ports", "memory_ring")
LOAD = 1.2
"""preferred accelerators of all jobs over those of the cluster"""
MOST_OVER = (0.1, 1.0)
"""of a limit, as a share and in seconds, besides imports"""
MOST_MB = 4096
COMMAND = "from planner.cli import main; raise SystemExit(main())"


class Usage(NamedTuple):
    """What a process took."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    code: int
    output: str


def cluster_text(fabric: str, accelerators: int, num_jobs: int, seed: int = 0) -> str:
    """YAML of a cluster under load: half the jobs take a range of sizes."""
    draw = random.Random(seed)
    tiles = PER_SERVER.get(fabric, 8)
    mean = max(1, int(LOAD * accelerators / num_jobs))
    jobs = []
    for number in range(num_jobs):
        size = min(max(1, 2 ** round(draw.gauss(mean.bit_length() - 1, 1))), accelerators // 2)
        jobs.append(
            {
                "name": f"job{number}",
                "workload": random_workload(draw, size),
                "accelerators": {"min": max(1, size // 2), "max": size} if number % 2 and size <= 64 else size,
                "weight": float(draw.choice((1, 1, 2, 3, 5))),
            }
        )
    return instance_text(
        f"{fabric}{accelerators}", fabric=fabric, servers=accelerators // tiles, tiles=tiles,
        fibers=2, device="h100-sxm", jobs=jobs,
    )  # fmt: skip


def run(command: Sequence[str]) -> Usage:
    """Run a command to its end."""
    with tempfile.TemporaryFile() as out:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - started
        out.seek(0)
        output = out.read().decode("utf-8", "replace")
    process.returncode = os.waitstatus_to_exitcode(status)
    return Usage(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, process.returncode, output)


def imports() -> Usage:
    """A start of Python with all that a solve imports."""
    return run(
        [sys.executable, "-c", "import planner.pipeline, planner.cli.commands.solve, planner.checks, rich.table"]
    )


def verdict(used: Usage, base: Usage, limit_s: float) -> str:
    """What the limits that were passed are called."""
    allowed = limit_s * (1 + MOST_OVER[0]) + MOST_OVER[1] + base.wall_s
    late = [f"late by {used.wall_s - allowed:.1f} s"] if used.wall_s > allowed else []
    return ", ".join([*late, *(["memory"] if used.peak_mb > MOST_MB else [])]) or "held"


def told(output: str) -> dict[str, Any]:
    """What a command printed as JSON; {} where it printed none."""
    try:
        found: dict[str, Any] = json.loads(output[output.index("{") :])
    except ValueError:
        return {}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fabrics", default=",".join(FABRICS))
    parser.add_argument("--sizes", default="1024,4096")
    parser.add_argument("--jobs", default="1,20,400")
    parser.add_argument("--limits", default="1,10")
    parser.add_argument("--policies", default="cpsat")
    given = parser.parse_args()
    base = imports()
    print(f"imports: {base.wall_s:.1f} s, CPU {base.cpu_s:.1f} s, {base.peak_mb:.0f} MB", flush=True)
    lists = (getattr(given, name).split(",") for name in ("fabrics", "sizes", "jobs", "policies", "limits"))
    for fabric, size, num_jobs, policy, limit in product(*lists):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "instance.yaml"
            path.write_text(cluster_text(fabric, int(size), int(num_jobs)), encoding="utf-8")
            options = ["--time-limit", limit, "--policy", policy, "--json"]
            used = run([sys.executable, "-c", COMMAND, "solve", str(path), *options])
        found = told(used.output)
        plan, value = found.get("plan") or {}, found.get("objective")
        print(
            f"{fabric:13} {size:>5} x {num_jobs:>3} {policy:14} {limit:>3} s: {used.wall_s:6.1f} s, "
            f"CPU {used.cpu_s:6.1f} s, {used.peak_mb:6.0f} MB, exit {used.code}, {found.get('status', '-'):8} "
            f"value {value if value is None else round(value, 3)} of {num_jobs} jobs "
            f"{len(plan.get('assignments', ()))}: {verdict(used, base, float(limit))}",
            flush=True,
        )
        if not found:
            print(used.output[-600:])


if __name__ == "__main__":
    main()
