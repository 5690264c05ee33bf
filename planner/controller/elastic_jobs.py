"""Events of elastic jobs: one that runs goes on with fewer or more accelerators."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from planner.controller import growing, shrinking
from planner.controller.durable import Decisions
from planner.controller.free_state import Found
from planner.controller.ledger import Entry, request_body
from planner.controller.questions import Questions
from planner.controller.resized import Resizing, carry_out
from planner.controller.settings import Request

Find = Callable[[Entry, str, float], Found]
"""of an entry, the name of its new kind and the time"""


class ElasticJobs(Questions):
    """Those of one controller; keys and times are those of all its events."""

    def shrink(
        self, request: Request, kept: Sequence[str], *, key: str | None = None, at_s: float | None = None
    ) -> Decisions:
        """A running job asks for fewer accelerators, of its own those named: the others are free at once, and its ranks
        do not move for it. Waiting jobs are then served as after any event, for which a movable job may move.
        ConflictError, and nothing has changed, where none of its configurations lies on these."""

        def find(entry: Entry, kind: str, now_s: float) -> Found:
            return shrinking.find_among(self._durable.state, entry, request, kind, kept)

        return self._resize("shrink", request, {"kept": [*kept]}, find, key, at_s)

    def grow(self, request: Request, *, key: str | None = None, at_s: float | None = None) -> Decisions:
        """A running job asks for more accelerators, which are added to its own: no rank moves and nothing pauses, new
        ranks come after those that run. It takes what is free and not kept for others, all that it asks for or nothing:
        ConflictError, and nothing has changed, with what stands in the way, such as circuits that it holds. The search
        ends within the budgets of an event."""

        def find(entry: Entry, kind: str, now_s: float) -> Found:
            budget_s = self.greedy_budget_s + self.repair_budget_s
            return growing.find_beside(self._durable.state, entry, request, kind, now_s, budget_s)

        return self._resize("grow", request, {}, find, key, at_s)

    def _resize(
        self, event: Resizing, request: Request, more: dict[str, Any], find: Find, key: str | None, at_s: float | None
    ) -> Decisions:
        with self._lock:
            durable, kind = self._durable, self._durable.kinds.name(request)
            body = {"e": event, "job": request_body(request), "kinds": [kind]} | more
            if (known := durable.known(key, body)) is not None:
                return known
            entry = durable.ledger.job(request.name, event)
            with durable.kinds.holding([kind]):
                durable.require_runnable(request)
                found = find(entry, kind, self._asked_s(event, at_s))

                def act() -> None:
                    carry_out(durable.state, entry, found, event)
                    self._serve([])

                return durable.event(body, key, at_s, act, [request])

    @abstractmethod
    def _serve(self, names: Sequence[str], *, is_batch: bool = False) -> None:
        """Serve the queue after an event."""
