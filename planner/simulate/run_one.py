"""One cell of a study: a policy on a cluster at a load, with the random numbers of a seed."""

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from planner.fabrics.free_state import FreeState
from planner.model.collector import resting_collector
from planner.placement.job_classes import Site
from planner.placement.job_mix import Mix
from planner.simulate.demand import DemandModel
from planner.simulate.events import Simulation
from planner.simulate.fault_ledger import FaultLedger
from planner.simulate.fault_study import FaultStudy, split_policy
from planner.simulate.fragmentation import fragmentation
from planner.simulate.log import Log
from planner.simulate.make_room import rescue
from planner.simulate.measures import figures, timeline, timings
from planner.simulate.outages import Outages
from planner.simulate.placers import MOVING, ORDERS, UNSOLVED, placer_of
from planner.simulate.recovery import Recovery, Response
from planner.simulate.rules import Rules
from planner.simulate.runs import Jobs
from planner.simulate.snapshots import snapshot
from planner.simulate.trace import Trace
from planner.simulate.workloads import assign
from planner.whatif.failure_model import FailureModel


class SimulationRun(NamedTuple):
    """Cluster, policy, load and seed of one simulation run."""

    cluster: str
    policy: str
    """where faults are answered with the response behind a colon"""
    load: float | None
    """accelerators asked for at once over all; None: arrivals as the trace has them"""
    seed: int


@dataclass(frozen=True)
class Demand:
    """Source of the jobs of each seed."""

    source: Trace | DemandModel
    jobs: int | None
    """of one replay: a stretch of a trace at random, or so many drawn ones; None: the whole trace"""
    mix: Mix
    able: Mapping[int, list[int]]
    """workloads that run on each size of the reference"""

    def draw(self, seed: int) -> Trace:
        """The jobs of a seed."""
        if isinstance(self.source, DemandModel):
            assert self.jobs is not None
            return self.source.draw(self.jobs, seed)
        return self.source if self.jobs is None else self.source.window(self.jobs, seed)


@dataclass(frozen=True)
class Study:
    """All that the cells of a study share."""

    demand: Demand
    grounds: Mapping[str, Site]
    rules: Rules
    failures: FailureModel | None = None
    faults: FaultStudy | None = None
    """how failures are answered, and logged ones; None: as `failures` alone has it"""
    warm_up: float = 0.1
    """share of the time from the first to the last arrival that is left out"""
    samples: int = 8
    """times at which fragmentation is measured"""
    moments: tuple[float, ...] = ()
    """shares of the time up to the last arrival at which the first seed notes who holds what"""

    def moments_of(self, cell: SimulationRun) -> tuple[float, ...]:
        """Moments that a cell notes."""
        return self.moments if cell.seed == 0 else ()


class Outcome(NamedTuple):
    """Result of one run, as plain data; `timings` alone differ from run to run."""

    figures: dict[str, float | None]
    timings: dict[str, float | None]
    series: dict[str, Any] | None = None
    """what was held and waited for over time, as `timeline` has it"""
    snapshots: Sequence[dict[str, Any]] = ()
    """who held what at some moments, as `snapshot` has it; of the first seed"""


def replay(study: Study, cell: SimulationRun) -> Outcome:
    """Replay one cell."""
    ground = study.grounds[cell.cluster]
    trace = study.demand.draw(cell.seed).at_load(cell.load, ground.capacity, study.warm_up)
    jobs = _jobs(trace, study.demand, ground, cell.seed)
    span_s = float(trace.arrival_s[-1])
    log = Log(len(trace), begin_s=study.warm_up * span_s, end_s=span_s)
    policy, response = split_policy(cell.policy)
    outages = _outages(study, ground, response, span_s, cell.seed)
    if study.faults is not None:
        log.faults = FaultLedger(log.begin_s, log.end_s)
    moves = study.rules.migrate or policy in MOVING
    simulation = Simulation(
        jobs,
        placer_of(policy, cell.seed),
        FreeState.empty(ground.cluster),
        study.rules,
        log,
        outages=outages,
        rescue=rescue if moves else None,
        recovery=None if study.faults is None else Recovery(response, study.faults.rules.spares),
        queue=ORDERS[policy](jobs) if policy in ORDERS else None,
    )
    if ground.sizes_to_fit and study.samples:
        at_s = np.linspace(log.begin_s, log.end_s, study.samples + 2)[1:-1]
        simulation.sample(at_s.tolist(), lambda state: _look(state, ground, log))
    snapshots = _snapshots(simulation, study.moments_of(cell), trace, log)
    started = time.process_time()
    with resting_collector() if policy in UNSOLVED and not moves else nullcontext():
        simulation.run()
    spent_s = time.process_time() - started - log.looking_s
    tenants = np.unique(trace.tenant, return_inverse=True)[1].astype(np.int64)
    known = figures(log, jobs, tenants, ground.capacity)
    if log.faults is not None:
        known |= log.faults.figures(log.busy_s, log.free_s)
    return Outcome(known, timings(log, spent_s), timeline(log), snapshots)


def _outages(study: Study, ground: Site, response: Response, span_s: float, seed: int) -> Outages | None:
    """Sampled failures and logged faults; None without any."""
    logged = () if study.faults is None else study.faults.on(ground.cluster, response, span_s, seed)
    if study.failures is None and not logged:
        return None
    return Outages(ground.cluster, study.failures, span_s, seed, logged)


def _snapshots(simulation: Simulation, moments: Sequence[float], trace: Trace, log: Log) -> list[dict[str, Any]]:
    """Snapshots at some shares of the time, filled while the replay runs."""
    noted: list[dict[str, Any]] = []

    def look(moment: float, at_s: float) -> None:
        started = time.process_time()
        noted.append({"moment": moment, **snapshot(simulation, at_s, trace.tenant)})
        log.looking_s += time.process_time() - started

    for moment in moments:
        at_s = moment * log.end_s
        simulation.sample([at_s], lambda state, moment=moment, at_s=at_s: look(moment, at_s))  # type: ignore[misc]
    return noted


def _jobs(trace: Trace, demand: Demand, ground: Site, seed: int) -> Jobs:
    """Every job with its kind on this cluster; the same workloads on all clusters."""
    workloads = assign(trace, demand.mix, demand.able, seed)
    names, shapes = np.unique(np.full(len(trace), "") if trace.shape is None else trace.shape, return_inverse=True)
    columns = np.stack([workloads, trace.num_gpus, trace.priority, shapes.reshape(-1)])
    groups, group = np.unique(columns, axis=1, return_inverse=True)
    kinds = [
        ground.boxes[number, str(names[shape])] if names[shape] else ground.kinds[number, size]
        for number, size, _, shape in groups.T.tolist()
    ]
    group = group.reshape(-1)
    return Jobs(
        arrival_s=trace.arrival_s.tolist(),
        work_s=trace.duration_s.tolist(),
        kind=[kinds[number] for number in group.tolist()],
        group=group.tolist(),
        priority=trace.priority.tolist(),
        group_size=[kind.held for kind in kinds],
    )


def _look(state: FreeState, ground: Site, log: Log) -> None:
    """Note the fragmentation of what is free now."""
    started = time.process_time()
    log.fragmentation.append(fragmentation(state, ground.sizes_to_fit))
    log.looking_s += time.process_time() - started
