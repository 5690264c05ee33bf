"""Names of the cells of a study, from all that their figures depend on."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from planner.policies import origin_of
from planner.simulate.fault_measures import FAULT_MEASURES
from planner.simulate.fault_study import split_policy
from planner.simulate.log import BINS
from planner.simulate.measures import MEASURES
from planner.simulate.placers import PLACERS
from planner.simulate.run_one import Outcome, SimulationRun, Study
from planner.simulate.trace import Trace
from planner.sweep.store import key_of
from planner.sweep.versions import code


def cell_keys(study: Study, cells: Sequence[SimulationRun]) -> dict[SimulationRun, str]:
    """The key of each cell in a store that other studies may share."""
    known = fingerprint(study)
    names = {cell: split_policy(cell.policy)[0] for cell in cells}
    origins = {policy: "" if policy in PLACERS else origin_of(policy) for policy in names.values()}
    return {cell: key_of(known, *cell, origins[names[cell]], study.moments_of(cell)) for cell in cells}


def fingerprint(study: Study) -> str:
    """A digest of all that figures depend on."""
    source = study.demand.source
    known: dict[str, Any] = {
        "versions": code(),
        "layout": [BINS, *MEASURES, *FAULT_MEASURES, *Outcome._fields],
        "source": _digest(source) if isinstance(source, Trace) else source.model_dump(mode="json"),
        "jobs": study.demand.jobs,
        "mix": study.demand.mix.model_dump(mode="json"),
        "clusters": {name: ground.cluster.model_dump(mode="json") for name, ground in study.grounds.items()},
        "rules": asdict(study.rules),
        "failures": study.failures.model_dump(mode="json") if study.failures is not None else None,
        "faults": study.faults.known() if study.faults is not None else None,
        "warm_up": study.warm_up,
        "samples": study.samples,
    }
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


def _digest(trace: Trace) -> str:
    digest = hashlib.sha256()
    for column in (trace.arrival_s, trace.duration_s, trace.num_gpus, trace.priority):
        digest.update(column.tobytes())
    for names in (trace.tenant, trace.workload, *(() if trace.shape is None else (trace.shape,))):
        digest.update("\n".join(names.tolist()).encode())
    return digest.hexdigest()
