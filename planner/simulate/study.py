"""All cells of a study: what they share, which they are, and what they gave."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.placement.job_classes import prepare, reference_speeds
from planner.placement.job_mix import Mix
from planner.simulate.demand import DemandModel
from planner.simulate.fault_study import FaultStudy, split_policy
from planner.simulate.placers import FORMER, require_placer
from planner.simulate.results import cell_keys
from planner.simulate.rules import Rules
from planner.simulate.run_one import Demand, Outcome, SimulationRun, Study, replay
from planner.simulate.trace import Trace
from planner.simulate.workloads import assign
from planner.sweep.run import OnCell, Where, run_cells
from planner.sweep.store import Document, Store
from planner.sweep.types import ShouldStop
from planner.whatif.failure_model import FailureModel

MOST_LOAD = 100
"""accelerators asked for at once over all of a cluster"""


def prepare_study(
    source: Trace | DemandModel,
    mix: Mix,
    clusters: Mapping[str, Cluster],
    *,
    jobs: int | None = None,
    rules: Rules | None = None,
    failures: FailureModel | None = None,
    faults: FaultStudy | None = None,
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
        raise InputError("clusters", "", f"they must have as many accelerators each to be compared, not {counts}")
    speeds = reference_speeds(mix, sizes)
    able = {size: [number for number, of_size in speeds if of_size == size] for size in sizes}
    if isinstance(source, Trace):
        assign(source, mix, able, 0)
    elif lacking := [size for size in sizes if not able[size]]:
        problem = f"no workload of the mix '{mix.name}' runs on {lacking[0]} accelerators of its reference; add one"
        raise InputError(source.name, "slices" if source.slices else "sizes", problem)
    for name, cluster in clusters.items():
        if faults is not None:
            faults.require(name, cluster)
    grounds = {name: prepare(name, cluster, mix, speeds, source.shapes) for name, cluster in clusters.items()}
    demand = Demand(source, jobs, mix, able)
    return Study(demand, grounds, rules or Rules(), failures, faults, warm_up, samples)


def cells_of(study: Study, policies: Sequence[str], loads: Sequence[float | None], seeds: int) -> list[SimulationRun]:
    """Cells of all clusters, policies, loads and seeds 0, 1, ...; InputError for a policy that goes with no cluster.

    A policy under a former name has the one of now.
    """
    policies = list(dict.fromkeys(FORMER.get(policy, policy) for policy in policies))
    for policy, ground in product(policies, study.grounds.values()):
        require_placer(split_policy(policy)[0], ground.cluster, "policies")
    return [SimulationRun(*cell) for cell in product(study.grounds, policies, loads, range(seeds))]


def run_study(
    study: Study,
    cells: Sequence[SimulationRun],
    folder: Path,
    *,
    workers: int = 1,
    ray: str | None = None,
    on_cell: OnCell | None = None,
) -> dict[SimulationRun, Outcome]:
    """Outcome of every cell, those from the folder that are there already; the rest on processes or on Ray."""
    keys, where = cell_keys(study, cells), Where(workers, ray)
    found = run_cells(_document, study, keys, store=Store(folder), where=where, on_cell=on_cell)
    return {cell: Outcome(**{name: found[cell][name] for name in Outcome._fields}) for cell in cells}


def _document(study: Study, cell: SimulationRun, should_stop: ShouldStop) -> Document:
    """One cell with its outcome."""
    return {"cell": cell._asdict(), **replay(study, cell)._asdict()}
