"""Idle replanning: searches that were cut short are taken up when nothing else happens."""

import time
from collections.abc import Callable

from planner.controller import Controller


class IdleReplan:
    """Lets the controller look again at what waits: once after each time that nothing happened for a period."""

    def __init__(
        self, controller: Controller, period_s: float = 1.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.period_s = period_s
        self._controller, self._clock = controller, clock
        self._seen, self._since_s, self._is_done = -1, clock(), False

    def tick(self) -> None:
        controller = self._controller
        if controller.seq != self._seen:
            self._seen, self._since_s, self._is_done = controller.seq, self._clock(), False
        elif not self._is_done and self._clock() >= self._since_s + self.period_s and controller.has_waiting:
            controller.replan(controller.repair_budget_s)
            self._seen, self._is_done = controller.seq, True
