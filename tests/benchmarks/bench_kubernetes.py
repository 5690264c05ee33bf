"""Pods on an idle cluster: `python -m tests.benchmarks.bench_kubernetes --gangs 100 --switch 1`.

`planner serve --kubernetes` as a process, an emulated API, and an emulated kube-scheduler that tries pods again only
when the real one would. Gangs of two pods of 8 accelerators each are submitted one after the other, each to an idle
cluster whose switches take their time. Printed are seconds from the submission of a pod until it is bound, how often
pods were tried, and the longest that a filter held up the scheduler.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.kubernetes.serving import serving


def main(arguments: Sequence[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gangs", type=int, default=100)
    parser.add_argument("--switch", type=float, default=1.0, help="seconds that the circuits of a job take")
    given = parser.parse_args(arguments)
    server, driver = Server(), f"hook:sh -c 'cat > /dev/null; sleep {given.switch}'"
    with tempfile.TemporaryDirectory() as folder, serving(server, Path(folder), driver) as site:
        site.bound_s(["first"])
        tried, times = len(site.queue.tries), list[float]()
        for number in range(given.gangs):
            times += site.bound_s([f"g{number}"])
            print(f"\r{number + 1} of {given.gangs}", end="", flush=True)
        p50, p99, most = np.quantile(times, [0.5, 0.99, 1.0])
        print(f"\nsubmit to bound, s: p50 {p50:.2f}, p99 {p99:.2f}, most {most:.2f}; a switch takes {given.switch} s")
        print(f"{len(times)} pods, tried {len(site.queue.tries) - tried} times")
        print(f"the longest filter took {site.ask.longest_filter_s:.3f} s")
    server.close()
    return times


if __name__ == "__main__":
    main()
