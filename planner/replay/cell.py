"""One cell of a study: a policy on a cluster at a load, with the random numbers of a seed."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from planner.failures import FailureModel
from planner.replay.demand import DemandModel
from planner.replay.events import Rules, Simulation
from planner.replay.fragmentation import fragmentation
from planner.replay.kinds import Ground
from planner.replay.log import Log
from planner.replay.measures import figures, timings
from planner.replay.mix import Mix, assign
from planner.replay.outages import Outages
from planner.replay.placers import MOVING, PLACERS, Placer
from planner.replay.rescue import rescue
from planner.replay.runs import Jobs
from planner.replay.state import State
from planner.replay.trace import Trace


class Cell(NamedTuple):
    """What one replay is about."""

    cluster: str
    policy: str
    load: float | None
    """accelerators asked for at once over all; None: arrivals as the trace has them"""
    seed: int


@dataclass(frozen=True)
class Demand:
    """Where the jobs of a seed come from."""

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
    grounds: Mapping[str, Ground]
    rules: Rules
    failures: FailureModel | None = None
    warm_up: float = 0.1
    """share of the time from the first to the last arrival that is left out"""
    samples: int = 8
    """times at which fragmentation is measured"""


class Outcome(NamedTuple):
    """Figures of one cell; `timings` alone differ from run to run."""

    figures: dict[str, float | None]
    timings: dict[str, float | None]


def replay(study: Study, cell: Cell) -> Outcome:
    """Replay one cell."""
    ground = study.grounds[cell.cluster]
    trace = study.demand.draw(cell.seed).at_load(cell.load, ground.capacity)
    jobs = _jobs(trace, study.demand, ground, cell.seed)
    span_s = float(trace.arrival_s[-1])
    log = Log(len(trace), begin_s=study.warm_up * span_s, end_s=span_s)
    outages = None
    if study.failures is not None:
        outages = Outages(ground.cluster, study.failures, span_s, cell.seed)
    moves = study.rules.migrate or cell.policy in MOVING
    simulation = Simulation(
        jobs,
        _placer(cell),
        State(ground.cluster),
        study.rules,
        log,
        outages=outages,
        rescue=rescue if moves else None,
    )
    if ground.sizes_to_fit and study.samples:
        at_s = np.linspace(log.begin_s, log.end_s, study.samples + 2)[1:-1]
        simulation.sample(at_s.tolist(), lambda state: _look(state, ground, log))
    started = time.process_time()
    simulation.run()
    spent_s = time.process_time() - started - log.looking_s
    tenants = np.unique(trace.tenant, return_inverse=True)[1].astype(np.int64)
    return Outcome(figures(log, jobs, tenants, ground.capacity), timings(log, spent_s))


def _placer(cell: Cell) -> Callable[[State], Placer]:
    make = PLACERS[cell.policy]
    return lambda state: make(state, cell.seed)


def _jobs(trace: Trace, demand: Demand, ground: Ground, seed: int) -> Jobs:
    """Every job with its kind on this cluster; the same workloads on all clusters."""
    workloads = assign(trace, demand.mix, demand.able, seed)
    columns = np.stack([workloads, trace.num_gpus, trace.priority])
    groups, group = np.unique(columns, axis=1, return_inverse=True)
    kinds = [ground.kinds[number, size] for number, size, _ in groups.T.tolist()]
    group = group.reshape(-1)
    return Jobs(
        arrival_s=trace.arrival_s.tolist(),
        work_s=trace.duration_s.tolist(),
        kind=[kinds[number] for number in group.tolist()],
        group=group.tolist(),
        priority=trace.priority.tolist(),
        group_size=[kind.held for kind in kinds],
    )


def _look(state: State, ground: Ground, log: Log) -> None:
    """Note the fragmentation of what is free now."""
    started = time.process_time()
    log.fragmentation.append(fragmentation(state, ground.sizes_to_fit))
    log.looking_s += time.process_time() - started
