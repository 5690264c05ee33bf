"""How fast demand is replayed: `python -m tests.benchmarks.bench_replay --jobs 20000 --trace philly.csv`.

Prints events per second of processor time and decision latencies, by cluster and policy. No test: times depend on the
machine; the ratio to first_fit on the fat tree is what to compare.
"""

import argparse
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from planner.model import files
from planner.model.cluster import Cluster
from planner.placement.job_mix import load_mix
from planner.simulate.demand import load_demand
from planner.simulate.run_one import SimulationRun, replay
from planner.simulate.study import prepare_study
from planner.simulate.trace import read_trace

CLUSTERS = Path(__file__).parents[2] / "instances" / "replay"
POLICIES = ("first_fit", "best_fit", "sipam_loop", "server_aligned", "torus_slices", "best_fit_moving")
WITHOUT_SLICES = ("torus256", "sipac256", "sipam256")


def measure(trace: Path | None, jobs: int, load: float, names: Sequence[str]) -> Iterable[str]:
    """A line for each policy on each cluster."""
    source = load_demand() if trace is None else read_trace(trace)
    base: float | None = None
    for name in names:
        started = time.perf_counter()
        cluster = files.load(Cluster, CLUSTERS / f"{name}.yaml")
        study = prepare_study(source, load_mix(), {name: cluster}, jobs=jobs, samples=0)
        yield f"{name}: kinds expanded in {time.perf_counter() - started:.1f} s"
        for policy in POLICIES:
            if name in WITHOUT_SLICES and policy == "torus_slices":
                continue
            started = time.perf_counter()
            outcome = replay(study, SimulationRun(name, policy, load, 0))
            rate, p99_s = outcome.timings["events_per_s"] or 0.0, outcome.timings["decision_s_p99"] or 0.0
            base = base or rate
            yield (
                f"  {policy:15} {rate:9,.0f} events/s   {rate / base:5.2f} of the first   "
                f"p99 {p99_s * 1e6:7.0f} us   {time.perf_counter() - started:5.1f} s"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", type=Path, help="drawn from the catalog's model unless given")
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--load", type=float, default=0.8)
    parser.add_argument("--clusters", default="fat_tree256,lightpath256,torus256,sipac256,ocs_rail256,sipam256")
    given = parser.parse_args()
    for line in measure(given.trace, given.jobs, given.load, given.clusters.split(",")):
        print(line, flush=True)


if __name__ == "__main__":
    main()
