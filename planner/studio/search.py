"""One search at a time on a thread of its own: what it has found so far, how it is stopped, how it ended."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from planner.model.errors import ConflictError, InputError, RefusedPlanError
from planner.model.result import Incumbent

MOST_POINTS = 5000
"""of one search that are shown; bounds of later ones are left out"""
log = logging.getLogger("planner.studio")


@dataclass
class RunningSearch:
    """One search: points of progress as they come, then how it ended."""

    title: str
    time_limit_s: float
    began_s: float = field(default_factory=time.monotonic)
    points: list[dict[str, Any]] = field(default_factory=list)
    ended: dict[str, Any] | None = None
    """`variant`, its number, or `error` with its three parts; None while it goes on"""
    _stop: threading.Event = field(default_factory=threading.Event)

    def note(self, incumbent: Incumbent) -> None:
        """Take a better plan or bound; called by the search."""
        if len(self.points) < MOST_POINTS or incumbent.source != "bound":
            point = {
                "time_s": self.elapsed_s,
                "level": incumbent.level,
                "objective": incumbent.objective,
                "bound": incumbent.bound,
                "source": incumbent.source,
            }
            self.points.append(point)

    def stop(self) -> None:
        """Let it end with the best plan so far."""
        self._stop.set()

    def is_stopped(self) -> bool:
        return self._stop.is_set()

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self.began_s

    @property
    def data(self) -> dict[str, Any]:
        """As the page shows it, but its points."""
        return {
            "title": self.title,
            "time_limit_s": self.time_limit_s,
            "elapsed_s": self.elapsed_s,
            "is_stopped": self.is_stopped(),
            "ended": self.ended,
        }


class SearchSlot:
    """Room for one search; the last one stays to be told of."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.last: RunningSearch | None = None
        self._thread: threading.Thread | None = None

    @property
    def is_busy(self) -> bool:
        return self.last is not None and self.last.ended is None

    def start(self, title: str, time_limit_s: float, work: Callable[[RunningSearch], int]) -> RunningSearch:
        """Begin a search, whose `work` gives the number of its variant; ConflictError while another goes on."""
        with self._lock:
            if self.is_busy:
                assert self.last is not None
                problem = "goes on; one search runs at a time: stop it, or wait until it ends"
                raise ConflictError("studio", self.last.title, problem)
            search = self.last = RunningSearch(title, time_limit_s)
            self._thread = threading.Thread(target=_run, args=(search, work), name="studio-search", daemon=True)
            self._thread.start()
        return search

    def stop(self) -> None:
        if self.last is not None:
            self.last.stop()

    def wait(self, timeout_s: float | None = None) -> None:
        """Until the search has ended."""
        if self._thread is not None:
            self._thread.join(timeout_s)


def _run(search: RunningSearch, work: Callable[[RunningSearch], int]) -> None:
    try:
        number = work(search)
    except InputError as error:
        search.ended = {"error": {"where": error.where, "field": error.field, "problem": error.problem}}
    except RefusedPlanError as error:
        search.ended = {"error": {"where": "internal error", "field": "", "problem": f"{error}; it is withheld"}}
    except Exception:
        log.exception("search failed")
        problem = "the search ended by an error of its own; the terminal of `planner studio` says more"
        search.ended = {"error": {"where": "internal error", "field": "", "problem": problem}}
    else:
        search.ended = {"variant": number}
