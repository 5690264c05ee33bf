"""How fast mappings are searched and rows priced: `OMP_NUM_THREADS=1 python -m tests.benchmarks.bench_search`.

Searches run over all numbers of devices with every choice open, as a user's do. Rows are priced on a table repeated to
the wanted length, in a fresh process each, so that its peak of memory is its own. Times are of the processor. No test:
nothing here has a limit to pass, and times depend on the machine.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from costmodel.fabrics import FatTree, fat_tree_of
from costmodel.hardware.device import Device, load_device
from costmodel.hardware.systems import system_of
from costmodel.parallelism.mappings import Mappings
from costmodel.parallelism.search_space import opened
from costmodel.pricing.candidates import Candidates, list_candidates
from costmodel.pricing.efficiency import Efficiency, efficiency_of
from costmodel.pricing.score import score
from costmodel.pricing.search import search, widest_block
from costmodel.pricing.search_counts import SearchCounts
from costmodel.workloads import TransformerTraining
from tests.benchmarks.memory import resident_peak_mb
from tests.benchmarks.naive_training import Naive

DEVICE = "a100-sxm"
MODELS = {"gpt3-175b": 1536, "gpt3-1t": 3072, "mixtral-8x7b": 192, "deepseek-v3": 15360}
"""sequences of a step by model"""
SIZES = tuple(2**power for power in range(13))
ROWS = (100_000, 1_000_000, 10_000_000)
SAMPLE = 300
"""mappings that are priced one at a time"""


@dataclass(frozen=True)
class Setting:
    """What is searched."""

    workload: TransformerTraining
    device: Device
    fabric: FatTree
    efficiency: Efficiency
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, model: str, sizes: Sequence[int] = SIZES, **pinned: str) -> "Setting":
        """`pinned` are fields of the job that are not left open."""
        device = load_device(DEVICE)
        efficiency, _ = efficiency_of(device, "training", "bf16")
        fields = {"model": model, "global_batch": MODELS.get(model, 192), "sequence": 2048, "attention": "unfused"}
        job = TransformerTraining.model_validate(fields | pinned)
        fabric = fat_tree_of(system_of(DEVICE), max(sizes))
        workload = opened(job, device)
        assert isinstance(workload, TransformerTraining)
        return cls(workload, device, fabric, efficiency, tuple(sizes))

    def mappings(self) -> Mappings:
        return Mappings.concatenate([self.workload.mappings(size) for size in self.sizes])

    def candidates(self, mappings: Mappings) -> Candidates:
        return list_candidates(self.workload, mappings, self.device, self.fabric, blocks=widest_block)


@dataclass(frozen=True)
class SearchFigures:
    """One search; rates are configurations per second."""

    model: str
    counts: SearchCounts
    seconds: float
    """median of several"""
    plain_python_per_s: float
    """closed forms in plain Python, one mapping at a time, time and memory alone"""
    one_row_per_s: float
    """the kernels of the search, called for one mapping at a time"""

    @property
    def per_s(self) -> float:
        """Of all that divide the model and the batch."""
        return self.counts.listed / self.seconds

    @property
    def over_plain_python(self) -> float:
        return self.per_s / self.plain_python_per_s

    @property
    def over_one_row(self) -> float:
        return self.per_s / self.one_row_per_s


@dataclass(frozen=True)
class RowFigures:
    """One call of `score`."""

    rows: int
    seconds: float
    rows_per_s: float
    peak_mb: float
    """of the process, all it does included"""
    table_mb: float
    """of the candidates and their scores"""


def measure_search(
    model: str, sizes: Sequence[int] = SIZES, *, repeats: int = 5, sample: int = SAMPLE
) -> SearchFigures:
    """Search the whole space several times, then price mappings of it one at a time."""
    setting = Setting.of(model, sizes)
    times = []
    for _ in range(repeats):
        started = time.process_time()
        found = search(setting.workload, setting.sizes, setting.device, setting.fabric)
        times.append(time.process_time() - started)
    mappings = setting.mappings()
    rows = np.random.default_rng(0).choice(len(mappings), min(sample, len(mappings)), replace=False)
    naive = Naive(setting.workload, setting.device, setting.efficiency, setting.fabric)
    return SearchFigures(
        model=model,
        counts=found.counts,
        seconds=statistics.median(times),
        plain_python_per_s=_rate(rows, lambda row: naive.step_s(mappings.choice(row))),
        one_row_per_s=_rate(rows, lambda row: _price_one(setting, mappings, row)),
    )


def _rate(rows: np.ndarray, price: Callable[[int], object]) -> float:
    started = time.process_time()
    for row in rows:
        price(int(row))
    return len(rows) / (time.process_time() - started)


def _price_one(setting: Setting, mappings: Mappings, row: int) -> None:
    candidates = setting.candidates(mappings.take(slice(row, row + 1)))
    if len(candidates):
        score(candidates, setting.device, setting.fabric)


def measure_rows(model: str, rows: int, sizes: Sequence[int] = SIZES) -> RowFigures:
    """Price a table of candidates, repeated until it has so many rows."""
    setting = Setting.of(model, sizes)
    candidates = setting.candidates(setting.mappings())
    candidates = candidates.take(np.resize(np.arange(len(candidates)), rows))
    started = time.process_time()
    scores = score(candidates, setting.device, setting.fabric)
    seconds = time.process_time() - started
    columns = [candidates.mapping, candidates.block, candidates.order, candidates.plan, *vars(scores).values()]
    table = sum(column.nbytes for column in columns)
    return RowFigures(rows, seconds, rows / seconds, resident_peak_mb(), table / 2**20)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each model, then one for each number of rows."""
    parser = argparse.ArgumentParser(prog="bench_search", description="Search mappings, price rows, print figures.")
    parser.add_argument("--model", choices=sorted(MODELS), help="one model; all unless given")
    parser.add_argument("--most-rows", type=int, default=max(ROWS), help="longest table that is priced")
    parser.add_argument("--only", type=int, metavar="ROWS", help="price so many rows here, as JSON")
    options = parser.parse_args(arguments)
    if options.only is not None:
        print(json.dumps(asdict(measure_rows(options.model or next(iter(MODELS)), options.only))))
        return 0
    models = [options.model] if options.model else list(MODELS)
    for model in models:
        print(_search_line(measure_search(model)), flush=True)
    for rows in (each for each in ROWS if each <= options.most_rows):
        print(_rows_line(_in_fresh_process(models[0], rows)), flush=True)
    return 0


def _in_fresh_process(model: str, rows: int) -> RowFigures:
    command = [sys.executable, "-m", "tests.benchmarks.bench_search", "--model", model, "--only", str(rows)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return RowFigures(**json.loads(done.stdout.splitlines()[-1]))


def _search_line(figures: SearchFigures) -> str:
    counts, seconds = figures.counts, figures.seconds
    ways = {
        "listed": counts.listed,
        "fit in memory": counts.fitting,
        "valid in Calculon too": counts.as_calculon,
        "candidates priced": counts.priced,
    }
    rates = ", ".join(f"{number:,} {way} ({number / seconds:,.0f}/s)" for way, number in ways.items())
    return (
        f"{figures.model:<10} {seconds:.3f} s: {rates}"
        f"; = {figures.over_plain_python:,.0f} x plain Python ({figures.plain_python_per_s:,.0f}/s)"
        f" = {figures.over_one_row:,.0f} x one row at a time ({figures.one_row_per_s:,.0f}/s)"
    )


def _rows_line(figures: RowFigures) -> str:
    return (
        f"{figures.rows:>10,} rows in {figures.seconds:7.2f} s: {figures.rows_per_s:>10,.0f} rows/s,"
        f" peak {figures.peak_mb:,.0f} MiB, of which tables {figures.table_mb:,.0f}"
    )


if __name__ == "__main__":
    sys.exit(main())
