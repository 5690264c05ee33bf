"""Jobs that wait in the order of what they have waited over what they will run: the utility functions WFP.

Tang, Lan, Desai and Buettner, *Fault-aware, utility-based job scheduling on Blue Gene/P systems* (CLUSTER 2009), order
by (wait / runtime)^3 x nodes, which weighs the size by a third of a power for each power of wait / runtime. A heavier
weight wastes less on emptying cubes for large jobs: of powers from 1/3 to 6, tried on drawn demand of 4,096
accelerators, 3 held more of them than lower ones and gave up about a fifth of what 1/3 saves of the mean wait.
"""

from planner.simulate.queue import Queue
from planner.simulate.runs import Jobs

SIZE_POWER = 3.0
"""for each power of wait / runtime"""
LEAST_S = 1.0
"""added to the wait, so that jobs that have just arrived are in order, and least time that a job runs"""


class WfpQueue(Queue):
    """The same queue in another order, by priority first; the order changes as time passes."""

    is_timed = True

    def __init__(self, jobs: Jobs) -> None:
        super().__init__(jobs.group, jobs.priority, jobs.group_size)
        self._jobs = jobs
        self._now_s = 0.0
        self._left_s: dict[int, float] = {}
        """work of the waiting jobs"""
        self._order: list[int] = []
        self._is_in_order = True

    def at(self, now_s: float) -> None:
        self._now_s, self._is_in_order = now_s, False

    def push(self, job: int, work_s: float) -> None:
        super().push(job, work_s)
        self._left_s[job] = work_s
        self._order.append(job)
        self._is_in_order = False

    def remove(self, job: int) -> None:
        super().remove(job)
        del self._left_s[job]
        self._order.remove(job)

    def head(self) -> int:
        return self._in_order()[0]

    def behind(self, head: int, barred: set[int], most: int | None = None) -> list[int]:
        return [job for job in self._in_order() if job != head and self._group[job] not in barred]

    def _in_order(self) -> list[int]:
        if not self._is_in_order:
            self._order.sort(key=self._rank)
            self._is_in_order = True
        return self._order

    def _rank(self, job: int) -> tuple[float, float, int]:
        waited_s = max(0.0, self._now_s - self._jobs.arrival_s[job]) + LEAST_S
        size = self._size[self._group[job]]
        return -self._priority[job], -waited_s / max(self._left_s[job], LEAST_S) * size**SIZE_POWER, job
