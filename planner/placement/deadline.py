"""The board of `planner.simulate` with a limit on time."""

import time
from collections.abc import Sequence
from math import inf

from planner.fabrics.lightpath.fast_fibers import Spread
from planner.model.cluster import Cluster
from planner.placement.job_classes import Option
from planner.placement.state import Placement, State
from planner.placement.strategies import Blocks


class OutOfTimeError(Exception):
    """A search for a place has run out of its time; nothing was taken."""


class TimedState(State):
    """One cluster; searches end at `deadline_s` on the clock of time.perf_counter."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self.deadline_s = inf
        if self.router is not None:
            self.router.pause = self._pause

    def _pause(self) -> None:
        if time.perf_counter() > self.deadline_s:
            raise OutOfTimeError

    def realize(self, row: Option, blocks: Blocks, spread: Spread | None = None) -> Placement | None:
        self._pause()
        return super().realize(row, blocks, spread)

    def _racks(self, row: Option, room: Sequence[int]) -> Sequence[Sequence[int]]:
        """Only those with room: strategies of a controller give no ways on others."""
        if not any(room):
            return ()
        return [servers for servers in self.together if sum(map(room.__getitem__, servers)) >= row.num_parts]
