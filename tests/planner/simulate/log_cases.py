"""Shared by the tests of `log`, `measures` and `snapshots`."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from planner.placement.job_classes import Site
from planner.simulate.events import Simulation
from planner.simulate.log import BINS, Log
from planner.simulate.placers import PLACERS
from planner.simulate.rules import Rules
from planner.simulate.runs import Jobs
from planner.simulate.snapshots import snapshot
from tests.planner.simulate.grounds import SMALL_DEMAND, state_of

CAPACITY = 32
Floats = NDArray[np.float64]


class Watched:
    """A replay with what can be said of it from the times of its jobs alone."""

    def __init__(self, of: Site, moments: Sequence[float]) -> None:
        trace = SMALL_DEMAND.draw(150, 7).at_load(1.1, CAPACITY)
        sizes = sorted(set(trace.num_gpus.tolist()))
        self.tenant, size = trace.tenant, trace.num_gpus.tolist()
        jobs = Jobs(
            trace.arrival_s.tolist(), trace.duration_s.tolist(), [of.kinds[0, each] for each in size],
            [sizes.index(each) for each in size], [0] * len(trace), sizes,
        )  # fmt: skip
        end_s = float(trace.arrival_s[-1])
        self.log = Log(len(trace), 0.1 * end_s, end_s)
        simulation = Simulation(
            jobs, lambda state: PLACERS["first_fit"](state, 0), state_of(of.cluster), Rules(), self.log
        )
        self.seen: list[tuple[float, dict[str, object]]] = []
        for moment in moments:
            at_s = moment * end_s
            simulation.sample([at_s], lambda state, t=at_s: self.seen.append((t, snapshot(simulation, t, self.tenant))))  # type: ignore[misc]
        simulation.run()
        self.arrival_s, self.held = trace.arrival_s, trace.num_gpus
        self.start_s, self.finish_s = np.array(self.log.start_s), np.array(self.log.finish_s)

    def average(self, begin_s: Floats, end_s: Floats, weight: Floats) -> Floats:
        """Of sum of weight over jobs from begin to end, in each stretch."""
        edges = np.linspace(self.log.begin_s, self.log.end_s, BINS + 1)
        inside = np.minimum(end_s[:, None], edges[1:]) - np.maximum(begin_s[:, None], edges[:-1])
        return weight @ np.clip(inside, 0, None) / (edges[1] - edges[0])
