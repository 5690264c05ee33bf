"""slurmctld that objects where the planner breaks its word: who is stopped is marked as such on disk before, only whom
people have held stays held, and the end of a job is told once nothing of it is left."""

from pathlib import Path

from planner.controller import Controller, Stop
from planner.integrations.slurm.allocations import AllocationStore
from planner.integrations.slurm.hooks import job_name
from tests.planner.integrations.slurm.fake import FakeSlurm

MOST_EVENTS = 1_000_000


class WatchedSlurm(FakeSlurm):
    """Remembers who has asked for what."""

    def __init__(self, nodes: int, state: Path, bindings: Path) -> None:
        super().__init__(nodes, state, bindings)
        self._held_by_people: set[int] = set()

    def requeue(self, number: int, *, is_held: bool) -> None:
        super().requeue(number, is_held=is_held)
        (self._held_by_people.add if is_held else self._held_by_people.discard)(number)

    def requeue_hold(self, job: int) -> None:
        self._require_mark(job)
        before = set(self._held_by_people)
        try:
            super().requeue_hold(job)
        finally:
            self._held_by_people = before

    def hold(self, job: int) -> None:
        self._require_mark(job)
        super().hold(job)

    def hold_for_admin(self, job: int) -> None:
        is_by_people = job in self._held_by_people or self.jobs_by_number[job].reason == "JobHeldAdmin"
        assert is_by_people, f"the planner itself has stopped job {job}, and now leaves it to an administrator"
        super().hold_for_admin(job)

    def start(self, number: int) -> bool:
        is_started = super().start(number)
        if is_started:
            self._held_by_people.discard(number)
        return is_started

    def _require_mark(self, job: int) -> None:
        """A daemon that dies right after the stop must know later that the stop was its own."""
        told = AllocationStore(self._state, self._bindings).all().get(job)
        assert told is None or told.leaves, f"job {job} is stopped, and nothing on disk says so"

    def require_true_ends(self, controller: Controller, after: int) -> None:
        """Of all that the controller was told after an event: what it takes for finished has left Slurm."""
        left = {job_name(job.number): job for job in self.left()}
        for event in controller.decided(after, MOST_EVENTS):
            for decision in event.decisions:
                if isinstance(decision, Stop) and decision.why == "finished":
                    assert decision.job not in left, left[decision.job]
