"""Latency of a controller: `python -m tests.benchmarks.bench_controller --events 10000 --sizes 256,4096`.

Jobs of the catalog's demand and mix arrive at one that serves 256 or 4,096 accelerators, its journal on disk. A line
for greedy alone and one with CP-SAT: microseconds of a decision by wall clock and by processor time, the write to disk
apart; jobs that started because others moved, and how many moved. What is expanded the first time is timed apart, and
so is a warm-up of as many events; Python looks for garbage among what was made after it alone.

With `--seeds 5` both serve the same arrivals of each seed, and a line of paired differences follows: mean over seeds
with its 95% interval. Times depend on the machine, wall clock on its other work: no test holds them. With
`--clock processor` budgets are processor time, so that other work cuts no search short.
"""

import argparse
import gc
import heapq
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import numpy as np

from costmodel.fabrics import OcsRail
from planner.controller import Controller, Decision, Request, Settings, Start, Stop
from planner.controller.journal import Journal
from planner.model import files
from planner.model.cluster import Cluster
from planner.model.edit import edited
from planner.model.errors import InputError
from planner.placement.job_mix import load_mix
from planner.simulate.demand import load_demand
from planner.simulate.summary import difference
from planner.simulate.trace import Trace
from tests.planner.simulate.grounds import trace

CLUSTERS = Path(__file__).parents[2] / "instances" / "replay"
LIMITS = (1.0, 1.5, 3.0)
"""limits that users state, over what their jobs take"""
UNEVEN = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)


class TimedJournal(Journal):
    """A journal that says how long it wrote."""

    wall_s = cpu_s = 0.0

    def append(self, *given: object, **named: object) -> None:
        wall_s, cpu_s = time.perf_counter(), time.thread_time()
        super().append(*given, **named)  # type: ignore[arg-type]
        self.wall_s, self.cpu_s = time.perf_counter() - wall_s, time.thread_time() - cpu_s


@dataclass
class Figures:
    """One run."""

    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    journal_s: list[float] = field(default_factory=list)
    expanded_s: float = 0.0
    """processor time before the first event"""
    submitted: int = 0
    rejected: int = 0
    """jobs that did not start when they arrived though as many accelerators were free"""
    wait_s: list[float] = field(default_factory=list)
    rescued: int = 0
    moves: int = 0
    refused: int = 0
    violations: int = 0

    def line(self) -> str:
        def at(values: list[float], share: float) -> float:
            return float(np.quantile(values, share)) * 1e6

        said = [f"{len(self.wall_s)} events after {self.expanded_s:.1f} s of expansion"]
        for name, values in (("wall", self.wall_s), ("processor", self.cpu_s), ("journal", self.journal_s)):
            said.append(f"{name} p50 {at(values, 0.5):.0f} p99 {at(values, 0.99):.0f} p99.9 {at(values, 0.999):.0f} us")
        said.append(f"{self.submitted} submitted, {self.rejected} not at once though enough was free")
        said.append(f"{self.rescued} rescued by {self.moves} moves, mean wait {np.mean(self.wait_s):.0f} s")
        return "; ".join([*said, f"refused {self.refused}, violations {self.violations}"])


def load_cluster(name: str, accelerators: int) -> Cluster:
    """A cluster of the replays, 16 racks of it, or 16 times the servers, for 4,096 accelerators."""
    cluster = files.load(Cluster, CLUSTERS / f"{name}.yaml")
    factor = accelerators // cluster.fabric.num_devices
    if cluster.fabric.links_racks:
        servers = cluster.fabric.servers * factor
        ports = {"ports": max(servers, cluster.fabric.ports)} if isinstance(cluster.fabric, OcsRail) else {}
        return edited(cluster, fabric=edited(cluster.fabric, servers=servers, **ports))
    return edited(cluster, fabric=edited(cluster.fabric, racks=factor))


class Drive:
    """Jobs of a trace arrive and end on their own clock; decisions say when they begin."""

    def __init__(self, cluster: Cluster, path: Path, settings: Settings, seed: int) -> None:
        self.controller = Controller(cluster, path, settings)
        self.journal = TimedJournal.__new__(TimedJournal)
        self.journal.__dict__ = self.controller._durable.journal.__dict__
        self.controller._durable.journal = self.journal
        self.figures, self._random = Figures(), Random(seed)
        self._takes_s: dict[str, float] = {}
        self._arrived_s: dict[str, float] = {}
        self._ends: list[tuple[float, str]] = []
        self._end_s: dict[str, float] = {}
        self._able: dict[int, list[Request]] = {}

    def prepare(self, sizes: Sequence[int]) -> None:
        """Expand each workload of the mix on each size on which it runs."""
        mix, started_s = load_mix(), time.process_time()
        for size in sizes:
            for number in mix.may_run(size):
                job = Request(name="kind", workload=mix.workloads[number].workload, accelerators=size)
                try:
                    self.controller.prepare(job)
                except InputError:
                    continue
                self._able.setdefault(size, []).append(job)
        self.figures.expanded_s = time.process_time() - started_s

    def run(self, trace: Trace, events: int) -> Figures:
        """Events after a warm-up of as many, which go to disk together."""
        jobs = iter(list(self._jobs(trace)))
        with self.controller.group():
            self._go(jobs, events)
        gc.collect()
        gc.freeze()
        expanded_s, self.figures = self.figures.expanded_s, Figures()
        self.figures.expanded_s, before = expanded_s, replace(self.controller.counts)
        self._go(jobs, events)
        figures, counts = self.figures, self.controller.counts
        figures.rescued, figures.moves = counts.rescued - before.rescued, counts.moves - before.moves
        figures.refused, figures.violations = counts.refused, len(self.controller.check())
        return figures

    def _jobs(self, trace: Trace) -> Iterator[tuple[str, float, float, int, str]]:
        jobs = zip(trace.arrival_s.tolist(), trace.duration_s.tolist(), trace.num_gpus.tolist(), trace.tenant.tolist(),
                   strict=True)  # fmt: skip
        for number, (arrival_s, takes_s, size, tenant) in enumerate(jobs):
            if size in self._able:
                yield f"j{number}", arrival_s, takes_s, size, str(tenant)

    def _go(self, jobs: Iterator[tuple[str, float, float, int, str]], events: int) -> None:
        """So many events, or all that are left."""
        for name, arrival_s, takes_s, size, tenant in jobs:
            while (end := self._next_end()) is not None and end[0] <= arrival_s:
                heapq.heappop(self._ends)
                self._timed(end[0], lambda now_s, job=end[1]: self.controller.finish(job, at_s=now_s))  # type: ignore[misc]
            self._submit(name, arrival_s, takes_s, size, tenant)
            if len(self.figures.wall_s) >= events:
                return

    def _submit(self, name: str, arrival_s: float, takes_s: float, size: int, tenant: str) -> None:
        limit_s = takes_s * self._random.choice(LIMITS)
        like = self._random.choice(self._able[size])
        job = like.model_copy(update={"name": name, "tenant": tenant, "duration_s": limit_s})
        self._takes_s[name], self._arrived_s[name] = takes_s, arrival_s
        is_room = self.controller.num_free >= size
        decisions = self._timed(arrival_s, lambda now_s: self.controller.submit(job, at_s=now_s))
        self.figures.submitted += 1
        self.figures.rejected += is_room and name not in {d.job for d in decisions if isinstance(d, Start)}

    def _next_end(self) -> tuple[float, str] | None:
        while self._ends and self._end_s.get(self._ends[0][1]) != self._ends[0][0]:
            heapq.heappop(self._ends)
        return self._ends[0] if self._ends else None

    def _timed(self, now_s: float, call: object) -> tuple[Decision, ...]:
        wall_s, cpu_s = time.perf_counter(), time.thread_time()
        decisions: tuple[Decision, ...] = call(now_s)  # type: ignore[operator]
        wall_s, cpu_s = time.perf_counter() - wall_s, time.thread_time() - cpu_s
        self.figures.wall_s.append(wall_s - self.journal.wall_s)
        self.figures.cpu_s.append(cpu_s - self.journal.cpu_s)
        self.figures.journal_s.append(self.journal.wall_s)
        for decision in decisions:
            if isinstance(decision, Start):
                self.figures.wait_s.append(now_s - self._arrived_s[decision.job])
                self._end_s[decision.job] = now_s + self._takes_s[decision.job]
                heapq.heappush(self._ends, (self._end_s[decision.job], decision.job))
            elif isinstance(decision, Stop):
                self._end_s.pop(decision.job, None)
        return decisions


def uneven(jobs: int, seed: int) -> Trace:
    """Sizes that fragment (source: paper 003, which draws them alike), Poisson arrivals, exponential times."""
    random = np.random.default_rng(seed)
    sizes = random.choice(UNEVEN, jobs)
    arrival_s, duration_s = random.exponential(10.0, jobs).cumsum(), random.exponential(1000.0, jobs)
    return trace(arrival_s.tolist(), duration_s.tolist(), sizes.tolist())


def measure(
    name: str, accelerators: int, events: int, load: float, *, with_repair: bool, demand: str = "catalog", seed: int = 0
) -> Figures:
    """One cluster under one load, with CP-SAT within its default budget, or greedy alone."""
    cluster = load_cluster(name, accelerators)
    drawn = load_demand().draw(4 * events, seed) if demand == "catalog" else uneven(4 * events, seed)
    jobs = drawn.at_load(load, accelerators)
    settings = Settings(repair_budget_s=None if with_repair else 0, snapshot_every=10**9)
    with tempfile.TemporaryDirectory() as folder:
        drive = Drive(cluster, Path(folder) / "journal.db", settings, seed)
        drive.prepare(sorted(set(jobs.num_gpus.tolist())))
        figures = drive.run(jobs, events)
        drive.controller.close()
    gc.unfreeze()
    return figures


def gains(greedy: Sequence[Figures], repaired: Sequence[Figures]) -> str:
    """What CP-SAT changed, seed by seed."""
    said = [f"{sum(f.rescued for f in repaired)} rescued by {sum(f.moves for f in repaired)} moves in all seeds"]
    for name, of in (
        ("mean wait", lambda f: float(np.mean(f.wait_s))),
        ("waits though enough was free", lambda f: f.rejected),
    ):
        own, other = ({seed: of(f) for seed, f in enumerate(each)} for each in (repaired, greedy))
        mean, half_width = difference(own, other)
        before, after = (float(np.mean(list(each.values()))) for each in (other, own))
        said.append(f"{name} {before:.1f} -> {after:.1f}: {mean:+.1f} +- {half_width or 0.0:.1f}")
    return "; ".join(said)


def lines(
    names: Sequence[str], sizes: Sequence[int], events: int, load: float, demand: str, seeds: int
) -> Iterator[str]:
    """What `main` prints."""
    for name in names:
        for size in sizes:
            found: dict[bool, list[Figures]] = {False: [], True: []}
            for seed in range(seeds):
                for with_repair, each in found.items():
                    each.append(measure(name, size, events, load, with_repair=with_repair, demand=demand, seed=seed))
                    who = "with CP-SAT" if with_repair else "greedy"
                    yield f"{name} {size} {demand} seed {seed} {who}: {each[-1].line()}"
            if seeds > 1:
                yield f"{name} {size} {demand} CP-SAT against greedy, {seeds} seeds: {gains(found[False], found[True])}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--load", type=float, default=0.9)
    parser.add_argument("--demand", choices=("catalog", "uneven"), default="catalog")
    parser.add_argument("--sizes", default="256,4096")
    parser.add_argument("--fabrics", default="fat_tree256,lightpath256")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall")
    given = parser.parse_args()
    if given.clock == "processor":
        time.perf_counter = time.thread_time
    sizes = [int(size) for size in given.sizes.split(",")]
    for line in lines(given.fabrics.split(","), sizes, given.events, given.load, given.demand, given.seeds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
