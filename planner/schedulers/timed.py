"""The board of `planner.replay` with a limit on time."""

import time
from math import inf

from planner.cluster import Cluster
from planner.replay.kinds import Row
from planner.replay.spreads import Spread
from planner.replay.state import Placement, State
from planner.replay.strategies import Blocks


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

    def realize(self, row: Row, blocks: Blocks, spread: Spread | None = None) -> Placement | None:
        self._pause()
        return super().realize(row, blocks, spread)
