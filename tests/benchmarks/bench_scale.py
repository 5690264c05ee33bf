"""How fast datacenters are planned: `python -m tests.benchmarks.bench_scale --kinds lightpath --sizes 4096/400`.

Every instance is that of `planner new --random`, and runs in a fresh process, so that its peak of memory is its own.
`--against` plans each by other ways too, side by side (`side_by_side.py`). No test: times depend on the machine.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from planner import Instance, SolveOptions, solve
from planner.model.result import Incumbent
from planner.studies.random_instances import random_datacenter
from tests.benchmarks.memory import resident_peak_mb
from tests.benchmarks.side_by_side import WAYS, Course, Step, course, draw, line_of

KINDS = ("lightpath", "fat_tree", "ocs_rail", "sipam", "torus")
SIZES = ("1024/100", "4096/400", "16384/1600", "65536/5000", "65536/1200/4096")
NEAR = 0.01
"""gap that is called near"""
MEMORY_MB = 8000


class Case(NamedTuple):
    """One random datacenter."""

    kind: str
    accelerators: int
    jobs: int
    most: int | None
    """accelerators of its largest job; by the kind if None"""
    seed: int

    @property
    def name(self) -> str:
        large = "" if self.most is None else f" up to {self.most}"
        return f"{self.kind} {self.accelerators}/{self.jobs}{large} #{self.seed}"

    def data(self) -> dict[str, Any]:
        return random_datacenter(self.kind, self.accelerators, self.jobs, self.seed, most=self.most)


@dataclass(frozen=True)
class Figures:
    """One case; seconds are wall-clock times from a parsed instance, None for what never came."""

    name: str
    status: str
    parse_s: float
    first_s: float | None
    first_cpu_s: float | None
    """of all threads until then"""
    first_gap: float | None
    """of the first plan to the bound at the end"""
    near_s: float | None
    """until plan and bound were 1 % apart"""
    plan_s: float
    """listing, search and check"""
    value: float | None
    bound: float | None
    gap: float | None
    cpu_s: float
    """of all threads, and of processes that have ended"""
    mb: float


def measure(case: Case, time_limit_s: float, workers: int | None = None, gap: float = 0.0) -> Figures:
    """Plan one datacenter by the public call, in this process; until `gap`, a fraction of the bound, is proven."""
    data = case.data()
    started = time.perf_counter()
    instance = Instance.parse(data)
    parse_s = time.perf_counter() - started
    seen: list[tuple[float, Incumbent]] = []
    spent_s: list[float] = []
    started, before = time.perf_counter(), sum(os.times()[:4])

    def hear(incumbent: Incumbent) -> None:
        if not spent_s and incumbent.objective is not None:
            spent_s.append(sum(os.times()[:4]) - before)
        seen.append((time.perf_counter() - started, incumbent))

    options = SolveOptions(time_limit_s=time_limit_s, workers=workers, gap=gap, on_incumbent=hear)
    result = solve(instance, options=options)
    plan_s, cpu_s = time.perf_counter() - started, sum(os.times()[:4]) - before
    level = result.levels[0]
    values = [(seconds, each.objective) for seconds, each in seen if each.objective is not None]
    first = values[0] if values else None
    return Figures(
        name=case.name,
        status=level.status.value,
        parse_s=parse_s,
        first_s=first[0] if first else None,
        first_cpu_s=spent_s[0] if spent_s else None,
        first_gap=_gap(first[1], level.bound) if first else None,
        near_s=_near_s(seen),
        plan_s=plan_s,
        value=level.value,
        bound=level.bound,
        gap=_gap(level.value, level.bound),
        cpu_s=cpu_s,
        mb=resident_peak_mb(),
    )


def _gap(value: float | None, bound: float | None) -> float | None:
    """As a fraction of the bound."""
    return None if value is None or not bound else max(1 - value / bound, 0.0)


def _near_s(seen: Sequence[tuple[float, Incumbent]]) -> float | None:
    value, bound = None, None
    for seconds, each in seen:
        value = value if each.objective is None else max(each.objective, value or 0.0)
        bound = bound if each.bound is None else min(each.bound, float("inf") if bound is None else bound)
        gap = _gap(value, bound)
        if gap is not None and gap <= NEAR:
            return seconds
    return None


COLUMNS = {
    "status": ("status", ""), "parse_s": ("parse s", ".2f"), "first_s": ("first s", ".2f"),
    "first_cpu_s": ("its CPU s", ".2f"), "first_gap": ("gap", ".2%"), "near_s": ("1 % at s", ".2f"),
    "plan_s": ("plan s", ".2f"), "value": ("value", ".2f"), "bound": ("bound", ".2f"),
    "gap": ("gap", ".3%"), "cpu_s": ("CPU s", ".1f"), "mb": ("MB", ".0f"),
}  # fmt: skip
"""field -> heading and format of the printed table"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line per case as it comes, and with `--against` one for each way."""
    given = _parse(arguments)
    if given.only:
        case = Case(*json.loads(given.only))
        print(json.dumps(asdict(measure(case, given.time_limit, given.workers, given.gap))))
        return 0
    if given.against:
        _against(given)
        return 0
    rows: list[Figures] = []
    print(_line("datacenter", [heading for heading, _ in COLUMNS.values()]))
    for case in _cases(given):
        found = _in_fresh_process(case, given)
        if isinstance(found, Figures):
            rows.append(found)
            cells = [_cell(getattr(found, name), form) for name, (_, form) in COLUMNS.items()]
            print(_line(case.name, cells), flush=True)
        else:
            print(f"{case.name:<30} {found}", flush=True)
    if given.csv is not None:
        _write(given.csv, [field.name for field in fields(Figures)], [asdict(row) for row in rows])
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench_scale", description="Plan random datacenters, print figures.")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--sizes", nargs="+", default=SIZES, help="accelerators/jobs, or accelerators/jobs/largest job")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds, of each solve")
    parser.add_argument("--gap", type=float, default=0.0, help="fraction of the bound at which a solve stops")
    parser.add_argument("--workers", type=int, help="threads; as the planner chooses unless given")
    parser.add_argument("--memory", type=int, default=MEMORY_MB, help="MiB of addresses that a process may take")
    parser.add_argument("--csv", type=Path, help="write all figures, or the steps of all ways, here")
    parser.add_argument("--against", nargs="*", choices=WAYS, metavar="WAY", help=f"side by side: {', '.join(WAYS)}")
    parser.add_argument("--plot", type=Path, help="with --against: draw the last case here")
    parser.add_argument("--parts", type=int, default=4, help="of POP")
    parser.add_argument("--dede-python", type=Path, help="a Python with dede and scipy below 1.12")
    parser.add_argument("--only", metavar="CASE", help="this case here, as JSON")
    given = parser.parse_args(arguments)
    if given.against is not None and not given.against:
        given.against = [way for way in WAYS if way != "dede" or given.dede_python is not None]
    if given.against and "dede" in given.against and given.dede_python is None:
        parser.error("dede needs --dede-python; make one with `pip install dede 'scipy<1.12'` in a venv of its own")
    return given


def _cases(given: argparse.Namespace) -> Iterator[Case]:
    for size, kind, seed in product(given.sizes, given.kinds, given.seeds):
        accelerators, jobs, *most = (int(part) for part in size.split("/"))
        yield Case(kind, accelerators, jobs, most[0] if most else None, seed)


def _in_fresh_process(case: Case, given: argparse.Namespace) -> Figures | str:
    """The figures, or why there are none."""
    options = ["--only", json.dumps(case), "--time-limit", str(given.time_limit), "--gap", str(given.gap)]
    options += ["--workers", str(given.workers)] if given.workers else []
    limited = f'ulimit -v {given.memory * 1024}; exec "$@"'
    command = ["sh", "-c", limited, "sh", sys.executable, "-m", "tests.benchmarks.bench_scale", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1][:160]
    return Figures(**json.loads(done.stdout.splitlines()[-1]))


def _against(given: argparse.Namespace) -> None:
    """Print and write what each way finds over time."""
    rows: list[dict[str, Any]] = []
    for case in _cases(given):
        print(f"{case.name}, {given.time_limit:g} s on one core", flush=True)
        found: list[Course] = []
        with TemporaryDirectory() as folder:
            path = Path(folder) / "instance.json"
            path.write_text(json.dumps(case.data()), encoding="utf-8")
            for way in given.against:
                found.append(
                    course(
                        way, path, given.time_limit, memory_mb=given.memory, parts=given.parts, dede=given.dede_python
                    )
                )
                print(f"  {line_of(found[-1])}", flush=True)
        rows += [{"name": case.name, "way": each.way, **step._asdict()} for each in found for step in each.steps]
        if given.plot is not None:
            draw(given.plot, f"{case.name}, value and bound over time", found, given.time_limit)
    if given.csv is not None:
        _write(given.csv, ["name", "way", *Step._fields], rows)


def _cell(value: float | str | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _line(name: str, cells: Sequence[str]) -> str:
    return " ".join([f"{name:<30}", *(f"{cell:>9}" for cell in cells)])


def _write(path: Path, names: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())
