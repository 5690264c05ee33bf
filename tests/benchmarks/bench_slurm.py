"""The plugin on a real Slurm: `python -m tests.benchmarks.bench_slurm --nodes 64 --jobs 200`, as root.

All nodes run on this machine. Jobs that fit side by side are submitted one after the other, as a user would, first
without GPUs (Slurm alone), then with GPUs (held, placed, lit, released). Printed are seconds from sbatch to the first
line of the job, what the plugin adds, and what a tick took: the controller's part, and all of it. Times depend on the
machine: no test holds them.
"""

import argparse
import time
from collections.abc import Sequence

import numpy as np

from tests.slurm.plugin import Plugin, plugin, wait_over

SHAPES = ((1, 1), (2, 1), (1, 2), (4, 1), (2, 2))
"""GPUs on each node, nodes"""


def waits_s(site: Plugin, jobs: int, run_s: float, *, with_gpus: bool) -> list[float]:
    """Seconds from the submission of each job to its start."""
    submitted = {}
    for number in range(jobs):
        gpus, nodes = SHAPES[number % len(SHAPES)]
        wanted = (f"--gres=gpu:{gpus}",) if with_gpus else ()
        at_s = time.time()
        script = f"date +%s.%N; sleep {run_s}"
        job = site.rig.submit(*wanted, f"-N{nodes}", "--ntasks-per-node=1", "--time=10", script=script)
        submitted[job] = at_s
    wait_over(site, list(submitted), 60.0 + 10 * run_s)
    return [float((site.rig.out / f"{job}.out").read_text().split()[0]) - at_s for job, at_s in submitted.items()]


def quantiles(name: str, values: Sequence[float], unit: float = 1.0, digits: int = 2) -> str:
    p50, p99, most = np.quantile([value * unit for value in values], [0.5, 0.99, 1.0])
    return f"{name:>28} {p50:>10.{digits}f} {p99:>10.{digits}f} {most:>10.{digits}f}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--run", type=float, default=5.0, help="seconds that each job runs")
    given = parser.parse_args(arguments)
    with plugin(given.nodes, 8) as site:
        alone = waits_s(site, given.jobs, given.run, with_gpus=False)
        planned = waits_s(site, given.jobs, given.run, with_gpus=True)
        ticks = site.said("tick")
        site.rig.until(lambda: len(site.said("forget")) >= given.jobs, 60.0)
        differences = site.status()["differences"]
    print(f"{given.jobs} jobs on {given.nodes} nodes x 8 GPUs\n{'':>28} {'p50':>10} {'p99':>10} {'most':>10}")
    print(quantiles("submit to start, Slurm, s", alone))
    print(quantiles("submit to start, planned, s", planned))
    added = np.quantile(planned, [0.5, 0.99, 1.0]) - np.quantile(alone, [0.5, 0.99, 1.0])
    print(f"{'added, s':>28} " + " ".join(f"{value:>10.2f}" for value in added))
    print(quantiles("controller in a tick, ms", [tick["planning_s"] for tick in ticks], 1000.0, 1))
    print(quantiles("whole tick, ms", [tick["took_s"] for tick in ticks], 1000.0, 1))
    print(f"{len(ticks)} ticks, differences at the end: {differences}")


if __name__ == "__main__":
    main()
