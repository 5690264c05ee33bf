"""All cells of a study, on one or several processes; each is on disk as soon as it is finished."""

import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from pathlib import Path

from planner.cluster import Cluster
from planner.errors import InputError
from planner.failures import FailureModel
from planner.replay.cell import Cell, Demand, Outcome, Study, replay
from planner.replay.demand import DemandModel
from planner.replay.events import Rules
from planner.replay.kinds import prepare, reference_speeds
from planner.replay.mix import Mix, assign
from planner.replay.placers import require_placer
from planner.replay.results import Results
from planner.replay.trace import Trace

OnCell = Callable[[int, int, float | None], None]
"""(cells finished, all cells, seconds left or None while unknown)"""


def prepare_study(
    source: Trace | DemandModel,
    mix: Mix,
    clusters: Mapping[str, Cluster],
    *,
    jobs: int | None = None,
    rules: Rules | None = None,
    failures: FailureModel | None = None,
    warm_up: float = 0.1,
    samples: int = 8,
) -> Study:
    """Expand every kind of job on every cluster once; InputError where a job has no workload or clusters differ."""
    if isinstance(source, Trace):
        sizes = sorted(set(source.num_gpus.tolist()))
    else:
        sizes = sorted(size for size, share in source.shares.items() if share > 0)
    counts = {name: cluster.fabric.num_devices for name, cluster in clusters.items()}
    if len(set(counts.values())) > 1:
        raise InputError("--cluster", "", f"clusters must have as many accelerators each to be compared, not {counts}")
    speeds = reference_speeds(mix, sizes)
    able = {size: [number for number, of_size in speeds if of_size == size] for size in sizes}
    if isinstance(source, Trace):
        assign(source, mix, able, 0)
    elif lacking := [size for size in sizes if not able[size]]:
        problem = f"no workload of the mix '{mix.name}' runs on {lacking[0]} accelerators of its reference; add one"
        raise InputError(source.name, "sizes", problem)
    grounds = {name: prepare(name, cluster, mix, speeds) for name, cluster in clusters.items()}
    demand = Demand(source, jobs, mix, able)
    return Study(demand, grounds, rules or Rules(), failures, warm_up, samples)


def cells_of(study: Study, policies: Sequence[str], loads: Sequence[float | None], seeds: int) -> list[Cell]:
    """Cells of all clusters, policies, loads and seeds 0, 1, ...; InputError for a policy that goes with no cluster."""
    for policy, ground in product(policies, study.grounds.values()):
        require_placer(policy, ground.cluster, "--policies")
    return [Cell(*cell) for cell in product(study.grounds, policies, loads, range(seeds))]


def run_study(
    study: Study, cells: Sequence[Cell], folder: Path, *, workers: int = 1, on_cell: OnCell | None = None
) -> dict[Cell, Outcome]:
    """Outcome of every cell, those from the folder that are there already."""
    results = Results(folder, study)
    found = {cell: outcome for cell in cells if (outcome := results.load(cell)) is not None}
    missing = [cell for cell in cells if cell not in found]
    tell = on_cell or (lambda done, total, left_s: None)
    tell(len(found), len(cells), None)
    started = time.perf_counter()
    for number, (cell, outcome) in enumerate(_replayed(study, missing, workers), start=1):
        results.save(cell, outcome)
        found[cell] = outcome
        left_s = (time.perf_counter() - started) / number * (len(missing) - number)
        tell(len(found), len(cells), left_s)
    return {cell: found[cell] for cell in cells}


def _replayed(study: Study, cells: Sequence[Cell], workers: int) -> Iterator[tuple[Cell, Outcome]]:
    """Cells as they finish; every process is given the study once."""
    if workers == 1 or len(cells) < 2:
        for cell in cells:
            yield cell, replay(study, cell)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(cells)), context, _begin, (study,)) as pool:
        futures = {pool.submit(_replay_here, cell): cell for cell in cells}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


_here: list[Study] = []
"""the study of this process"""


def _begin(study: Study) -> None:
    _here[:] = [study]


def _replay_here(cell: Cell) -> Outcome:
    return replay(_here[0], cell)
