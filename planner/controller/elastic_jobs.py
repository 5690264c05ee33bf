"""Events of elastic jobs: one that runs goes on with fewer or more accelerators."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from planner.controller import shrinking
from planner.controller.durable import Decisions
from planner.controller.free_state import Found
from planner.controller.growing import NotGrownError, find_beside, left_alone, may_ever_grow
from planner.controller.ledger import Entry, request_body
from planner.controller.questions import Questions
from planner.controller.reservation import kept_for_first
from planner.controller.resized import Resizing, carry_out
from planner.controller.settings import Request
from planner.model.errors import InputError

LEAST_SEARCH_S = 0.1
"""that a growth may take, however short the budgets of an event are: a user asks for it once"""
Find = Callable[[Entry, str, float], Found | NotGrownError]
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

    def grow(
        self, request: Request, *, waits: bool = False, key: str | None = None, at_s: float | None = None
    ) -> Decisions:
        """A running job asks for more accelerators, which are added to its own: no rank moves and nothing pauses, new
        ranks come after those that run. It takes what is free and not kept for others, all that it asks for or nothing:
        ConflictError, and nothing has changed, with what stands in the way, such as circuits that it holds. The search
        ends within the budgets of an event.

        With `waits` it has a place in the queue instead, like a job that arrives now, and servers are kept for it once
        it is first; ConflictError where it would wait in vain. It waits for what it asked for last, until it has that,
        shrinks, stops, or asks for no more than it runs with."""

        def find(entry: Entry, kind: str, now_s: float) -> Found | NotGrownError:
            state = self._durable.state
            budget_s = max(self.greedy_budget_s + self.repair_budget_s, LEAST_SEARCH_S)
            barred = state.drained | left_alone(kept_for_first(state, now_s), entry, now_s)
            try:
                return find_beside(state, entry, request, kind, barred, budget_s)
            except NotGrownError as error:
                if not waits or error.tag == "refused":
                    raise
                if not may_ever_grow(state, entry, kind, LEAST_SEARCH_S):
                    problem = "would have no room beside its own if no other job ran; submit it anew to have it larger"
                    raise NotGrownError("grow", entry.name, problem) from None
                if kind == entry.kind:
                    problem = "asks for what it was submitted with; give the number that it waits for"
                    raise InputError("grow", entry.name, problem) from None
                return error

        return self._resize("grow", request, {"waits": True} if waits else {}, find, key, at_s)

    def _resize(
        self, event: Resizing, request: Request, more: dict[str, Any], find: Find, key: str | None, at_s: float | None
    ) -> Decisions:
        with self._lock:
            durable, kind = self._durable, self._durable.kinds.name(request)
            body = {"e": event, "job": request_body(request), "kinds": [kind]} | more
            if (known := durable.known(key, body)) is not None:
                return known
            entry, growth = durable.ledger.job(request.name, event), durable.ledger.growths.get(request.name)
            with durable.kinds.holding([kind]):
                durable.require_runnable(request)
                is_content = event == "grow" and growth is not None and entry.request == request
                found = None if is_content else find(entry, kind, self._asked_s(event, at_s))
                if isinstance(found, NotGrownError):
                    if growth is not None and growth.request == request:
                        return durable.noted(body, key, at_s, () if growth.wait is None else (growth.wait,))
                    body["queued"] = True
                return durable.event(body, key, at_s, partial(self._resized, entry, growth, found, event), [request])

    def _resized(
        self, entry: Entry, before: Entry | None, found: Found | NotGrownError | None, event: Resizing
    ) -> None:
        """Carry out what was found, or have a job wait for it; it waits no more for what it asked for `before`. None:
        it goes on as it is."""
        state = self._durable.state
        if before is not None:
            state.queue.remove(before)
        if isinstance(found, Found):
            carry_out(state, entry, found, event)
        elif found is not None:
            state.queue.push(state.ledger.growths[entry.name])
        self._serve([])
        growth = state.ledger.growths.get(entry.name)
        if isinstance(found, NotGrownError) and growth is not None and growth.wait is None:
            state.wait(growth, found.tag, found.problem)

    @abstractmethod
    def _serve(self, names: Sequence[str], *, is_batch: bool = False) -> None:
        """Serve the queue after an event."""
