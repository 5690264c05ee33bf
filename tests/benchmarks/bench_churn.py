"""How fast the next plan is found: `python -m tests.benchmarks.bench_churn --kinds fat_tree --sizes 4096,65536`.

A random datacenter is filled by best fit; then 1 % of the jobs that run end, and as many of those that wait arrive.
What is left runs where it stands, as residents. Prints seconds of processor time: to build the instance, to the first
plan, to the last one, and of its check; and how many of the residents moved. No test: times depend on the machine.
"""

import argparse
import random
import time
from collections.abc import Iterable

from planner.checks import check
from planner.model.edit import as_residents, edited
from planner.model.instance import Instance, Objective
from planner.model.plan import Plan
from planner.model.result import Incumbent
from planner.pipeline import solve
from planner.studies.random_instances import random_datacenter

SHARE = 0.01
"""of the running jobs, that end"""
ACCELERATORS_PER_JOB = 13
"""of a random datacenter"""


def next_instance(whole: Instance, running: Plan, seed: int) -> Instance:
    """The instance after some of the jobs that run have ended and as many have arrived."""
    assignments, admitted = list(running.assignments), {each.job for each in running.assignments}
    random.Random(seed).shuffle(assignments)
    number = max(1, round(SHARE * len(assignments)))
    left = as_residents(whole, Plan(instance=whole.name, assignments=tuple(assignments[number:])))
    arrivals = tuple(job for job in whole.jobs if job.name not in admitted)[:number]
    return edited(left, jobs=arrivals, objectives=(Objective(name="value"),))


def measure(kind: str, accelerators: int, seed: int, time_limit_s: float) -> str:
    """A line on one datacenter."""
    jobs = accelerators // ACCELERATORS_PER_JOB
    whole = Instance.parse(random_datacenter(kind, accelerators, jobs, seed))
    running = solve(whole, policy="best_fit", time_limit_s=600.0, seed=0).plan
    assert running is not None
    started_s = time.process_time()
    instance = next_instance(whole, running, seed)
    built_s, first_s = time.process_time() - started_s, list[float]()
    started_s = time.process_time()

    def note(incumbent: Incumbent) -> None:
        if incumbent.objective is not None:
            first_s.append(time.process_time() - started_s)

    result = solve(instance, time_limit_s=time_limit_s, seed=0, on_incumbent=note)
    solved_s, level = time.process_time() - started_s, result.levels[0]
    assert result.plan is not None
    started_s = time.process_time()
    assert not check(instance, result.plan, starts=True)
    checked_s, residents = time.process_time() - started_s, {each.name for each in instance.residents}
    moved = sum(each.is_moved for each in result.plan.assignments)
    new = sum(each.job not in residents for each in result.plan.assignments)
    gap = "-" if level.gap is None else f"{level.gap:.2%}"
    return (
        f"{kind:10} {accelerators:8,} {seed:4} {len(residents):9,} {new:4} of {len(instance.jobs):4} {built_s:8.2f} s "
        f"{first_s[0]:8.2f} s {solved_s:8.2f} s {checked_s:8.2f} s   {gap:>6} {moved:6} moved"
    )


def lines(kinds: Iterable[str], sizes: Iterable[int], seeds: int, time_limit_s: float) -> Iterable[str]:
    """The table."""
    yield "fabric        size seed residents  arrivals      build      first       last      check      gap"
    for kind in kinds:
        for size in sizes:
            yield from (measure(kind, size, seed, time_limit_s) for seed in range(1, seeds + 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default="fat_tree,ocs_rail")
    parser.add_argument("--sizes", default="4096,65536")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=2.0)
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    for line in lines(given.kinds.split(","), sizes, given.seeds, given.time_limit):
        print(line, flush=True)


if __name__ == "__main__":
    main()
