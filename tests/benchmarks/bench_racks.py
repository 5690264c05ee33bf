"""How fast racks are planned: `python -m tests.benchmarks.bench_racks --tiles 64 --seeds 20 --csv out.csv`.

Every seed runs in a fresh process, so that its peak of memory is its own. No test: nothing here has a limit
to pass, and times depend on the machine.
"""

import argparse
import csv
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

NUM_JOBS = {64: 12, 256: 40}
"""jobs of a rack by its accelerators, as in the shipped racks"""
PLENTIFUL = 64
"""fibers for each ordered pair of servers, more than any plan uses"""
AGREE = 1e-5
"""relative difference of values that counts as none: coefficients of the models are rounded"""


@dataclass(frozen=True)
class Figures:
    """One rack; seconds are wall-clock times since candidates began to be listed, None where it never came."""

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
    instance: "Instance", *, time_limit_s: float, workers: int | None = None, deterministic_limit: float | None = None
) -> Figures:
    """Plan one rack with CP-SAT, with the heuristics, with plentiful fibers, and its step 1 with HiGHS."""
    from planner import check, solve
    from planner.derive import with_fabric
    from planner.expand import expand
    from planner.result import Incumbent, SolveOptions, Status
    from tests.benchmarks.highs_step1 import solve_step1

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
    peak_mb = _peak_mb()
    level = result.levels[0]
    proven = [s for s, i in seen if i.level == level.objective and i.source == "proven"]
    problem = expand(instance)
    quiet = SolveOptions(time_limit_s=time_limit_s, workers=workers, deterministic_limit=deterministic_limit)
    heuristics = {name: solve(problem, policy=name, options=quiet) for name in ("first_fit", "best_fit")}
    plentiful = solve(with_fabric(instance, fibers=PLENTIFUL), options=quiet)
    highs = solve_step1(problem, time_limit_s=time_limit_s, threads=workers)
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
        violations=0 if result.plan is None else len(check(instance, result.plan)),
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


def _bind(scarce: "Result", plentiful: "Result") -> str:
    """Whether the optimum grows with the fibers, from values and proven bounds alone."""
    if scarce.bound is not None and plentiful.objective is not None:
        if plentiful.objective > scarce.bound * (1 + AGREE):
            return "yes"
    if scarce.objective is not None and plentiful.bound is not None:
        if scarce.objective >= plentiful.bound * (1 - AGREE):
            return "no"
    return "open"


def _peak_mb() -> float:
    """Peak resident memory of this process since it began to run its own program."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)
