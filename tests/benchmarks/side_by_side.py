"""One datacenter planned by several ways, each for as long, each in a process of its own: value and bound over time.

`planner` is the public call, whose plans have circuits and pass the check. The others solve the same instance by counts
of accelerators alone (`counts.py`), which leaves rules out: their values may be more than any plan has. All begin with
a parsed instance; the seconds of listing candidates, which the others need too, are part of theirs.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from planner import Instance, SolveOptions, solve
from planner.candidates.expand import expand
from planner.model.result import Incumbent
from tests.benchmarks import counts_solvers
from tests.benchmarks.counts import counts_of

WAYS = ("planner", "cp_sat", "highs", "pop", "dede")
NAMES = {
    "planner": "planner, circuits and all",
    "cp_sat": "CP-SAT by counts",
    "highs": "HiGHS by counts",
    "pop": "POP by counts",
    "dede": "DeDe by counts, rounded",
}
COLOURS = {"planner": "#0072b2", "cp_sat": "#d55e00", "highs": "#009e73", "pop": "#cc79a7", "dede": "#e69f00"}
LEAST = 0.001
"""per cent that are drawn"""
LONGEST = 10
"""times of the limit, and a minute, after which a process that does not end is ended"""


class Step(NamedTuple):
    """What was known so many seconds after the start."""

    seconds: float
    cpu_s: float | None
    """of the process by then; None for DeDe, whose work is done by Ray's"""
    value: float | None
    bound: float | None


class Course(NamedTuple):
    """One way, from its start to its end; `failed` says why it found nothing more."""

    way: str
    steps: list[Step]
    failed: str


def course(way: str, instance: Path, limit_s: float, *, memory_mb: int, parts: int, dede: Path | None) -> Course:
    """Run one way in a process of its own; `dede`: a Python that has it."""
    with TemporaryDirectory() as folder:
        listed_s, command = 0.0, [sys.executable, "-m", __name__, way, str(instance), str(limit_s), str(parts)]
        if way == "dede":
            file = Path(folder) / "counts.npz"
            started = time.perf_counter()
            counts_of(expand(Instance.load(instance))).save(file)
            listed_s = time.perf_counter() - started
            script = Path(__file__).with_name("counts_dede.py")
            command = [str(dede), str(script), str(file), str(max(limit_s - listed_s, 0.1))]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=60 + LONGEST * limit_s,
                preexec_fn=None if way == "dede" else lambda: _limit(memory_mb),
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            out = error.stdout.decode() if isinstance(error.stdout, bytes) else ""
            return Course(way, [*_steps(out, listed_s)], "did not end")
    said = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
    return Course(way, [*_steps(done.stdout, listed_s)], "" if done.returncode == 0 else said[-1][:120])


def _limit(memory_mb: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory_mb * 2**20, memory_mb * 2**20))


def _steps(output: str, later_s: float) -> Iterator[Step]:
    """The best value and bound so far, where either gets better."""
    value: float | None = None
    bound: float | None = None
    for line in output.splitlines():
        if not line.startswith("["):
            continue
        seconds, cpu_s, found, limit = json.loads(line)
        before = value, bound
        value = value if found is None else max(found, value or 0.0)
        bound = bound if limit is None else min(limit, float("inf") if bound is None else bound)
        if (value, bound) != before:
            yield Step(seconds + later_s, cpu_s, value, bound)


def run(way: str, path: Path, limit_s: float, parts: int) -> None:
    """Print a JSON line of seconds, CPU seconds, value and bound for each that is found."""
    instance = Instance.load(path)
    started, before = time.perf_counter(), time.process_time()

    def report(value: float | None, bound: float | None) -> None:
        print(json.dumps([time.perf_counter() - started, time.process_time() - before, value, bound]), flush=True)

    def hear(incumbent: Incumbent) -> None:
        if incumbent.level == instance.objectives[0].name:
            report(incumbent.objective, incumbent.bound)

    if way == "planner":
        result = solve(instance, options=SolveOptions(time_limit_s=limit_s, workers=1, on_incumbent=hear))
        report(result.levels[0].value, result.levels[0].bound)
        return
    counts = counts_of(expand(instance))
    left_s = max(limit_s - (time.perf_counter() - started), 0.1)
    if way == "pop":
        counts_solvers.pop(counts, left_s, report, parts=parts)
    else:
        {"cp_sat": counts_solvers.cp_sat, "highs": counts_solvers.highs}[way](counts, left_s, report)


def line_of(found: Course) -> str:
    """The end of a way in words."""
    last = found.steps[-1] if found.steps else Step(0.0, None, None, None)
    first = next((step for step in found.steps if step.value), None)
    gap = None if not last.value or last.bound is None else max(1 - last.value / last.bound, 0.0)
    cells = [
        f"{NAMES[found.way]:26}",
        "no value" if not last.value else f"value {last.value:.3f}",
        "no bound" if last.bound is None else f"bound {last.bound:.3f}",
        "" if gap is None else f"gap {gap:.2%}",
        "" if first is None else f"first at {_times(first)}",
        f"last change at {_times(last)}",
        found.failed,
    ]
    return "  ".join(cell for cell in cells if cell)


def _times(step: Step) -> str:
    return f"{step.seconds:.2f} s" + ("" if step.cpu_s is None else f" (CPU {step.cpu_s:.2f} s)")


def draw(path: Path, title: str, courses: Sequence[Course], limit_s: float) -> None:
    """How far values (lines) and bounds (broken) are from the best bound of all, both axes logarithmic."""
    from matplotlib.figure import Figure

    best = min((step.bound for each in courses for step in each.steps if step.bound), default=None)
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    axes = figure.subplots()
    for way, steps, _ in courses:
        for name, style in (("value", "-"), ("bound", "--")):
            known = [(step.seconds, getattr(step, name)) for step in steps if getattr(step, name)]
            if known and best:
                times, heights = zip(*known, strict=True)
                away = [max(100 * abs(height / best - 1), LEAST) for height in heights]
                label = NAMES[way] if name == "value" else None
                ends = [*times, max(limit_s, times[-1])], [*away, away[-1]]
                axes.step(*ends, where="post", linestyle=style, color=COLOURS[way], label=label)
                if name == "value":
                    axes.plot(times[0], away[0], "o", color=COLOURS[way])
    if best:
        figure.legend(frameon=False, loc="outside right upper")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(LEAST, 100)
    axes.set_xlabel("seconds from a parsed instance, one core")
    axes.set_ylabel("% from the best bound (broken: bounds)")
    axes.set_title(title)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
