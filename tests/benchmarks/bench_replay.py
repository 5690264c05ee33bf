"""How fast demand is replayed: `python -m tests.benchmarks.bench_replay --trace philly.csv --policies first_fit`.

Prints events per second of processor time and decision latencies, by cluster and policy, each in a process of its own
that has replayed nothing before. Clusters are names under `instances/replay`, or paths: a shipped one with `racks: 16`
in its fabric has 4,096 accelerators. No test: times depend on the machine; of several `--runs` the fastest is the least
disturbed one, and the ratio to the first line is what to compare.
"""

import argparse
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from planner.model import files
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.placement.job_mix import load_mix
from planner.simulate.demand import load_demand
from planner.simulate.placers import require_placer
from planner.simulate.run_one import SimulationRun, replay
from planner.simulate.study import prepare_study
from planner.simulate.trace import read_trace

CLUSTERS = Path(__file__).parents[2] / "instances" / "replay"
SHIPPED = "fat_tree256,lightpath256,torus256,sipac256,ocs_rail256,sipam256"
POLICIES = "first_fit,best_fit,sipam_loop,server_aligned,torus_slices,best_fit_moving"


class Cell(NamedTuple):
    """What is replayed."""

    cluster: Path
    policy: str
    trace: Path | None
    """None: drawn from the catalog's model"""
    jobs: int
    load: float


class Speed(NamedTuple):
    """Of one replay."""

    prepared_s: float
    events_per_s: float
    p99_s: float
    """of the decisions of an event"""


def speed(cell: Cell) -> Speed:
    """Replay a cell; `prepared_s` is the processor time from the files to the first event."""
    started = time.process_time()
    source = load_demand() if cell.trace is None else read_trace(cell.trace)
    cluster = {cell.cluster.stem: files.load(Cluster, cell.cluster)}
    study = prepare_study(source, load_mix(), cluster, jobs=cell.jobs, samples=0)
    prepared_s = time.process_time() - started
    timings = replay(study, SimulationRun(cell.cluster.stem, cell.policy, cell.load, 0)).timings
    return Speed(prepared_s, timings["events_per_s"] or 0.0, timings["decision_s_p99"] or 0.0)


def in_cold_processes(cell: Cell, runs: int) -> list[Speed]:
    """The same so many times, each in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        return list(pool.map(speed, [cell] * runs))


def measure(cells: Sequence[Cell], runs: int) -> Iterable[str]:
    """A line for each cell; those whose policy does not go with the cluster say why."""
    base: float | None = None
    for cell in cells:
        head = f"{cell.cluster.stem:16} {cell.policy:15}"
        try:
            require_placer(cell.policy, files.load(Cluster, cell.cluster), "--policies")
        except InputError as error:
            yield f"{head} {error}"
            continue
        found = in_cold_processes(cell, runs)
        best = max(found, key=lambda each: each.events_per_s)
        base = base or best.events_per_s
        every = " ".join(f"{each.events_per_s:,.0f}" for each in found)
        yield (
            f"{head} {best.events_per_s:9,.0f} events/s   {best.events_per_s / base:5.2f} of the first   "
            f"p99 {best.p99_s * 1e6:7.0f} us   prepared in {best.prepared_s:5.1f} s   runs {every}"
        )


def cluster_file(name: str) -> Path:
    """A shipped cluster by name, or a path of a file."""
    shipped = CLUSTERS / f"{name}.yaml"
    return shipped if shipped.exists() else Path(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", type=Path, help="drawn from the catalog's model unless given")
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--load", type=float, default=0.8)
    parser.add_argument("--clusters", default=SHIPPED, help="names of shipped ones or paths of files")
    parser.add_argument("--policies", default=POLICIES)
    parser.add_argument("--runs", type=int, default=1, help="processes for each line; the fastest one counts")
    given = parser.parse_args()
    cells = [
        Cell(cluster_file(name), policy, given.trace, given.jobs, given.load)
        for name in given.clusters.split(",")
        for policy in given.policies.split(",")
    ]
    for line in measure(cells, given.runs):
        print(line, flush=True)


if __name__ == "__main__":
    main()
