"""Jobs on each server and when their limits end, updated incrementally: an event recounts only what it changes."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from planner.controller.ledger import Entry
from planner.placement.placement import Place


class Occupancy:
    """Running jobs by server."""

    def __init__(self, num_servers: int, jobs: Mapping[str, Entry]) -> None:
        """`jobs` by name, those that run among them, as they are at any time."""
        self._jobs = jobs
        self._on: list[dict[str, int]] = [{} for _ in range(num_servers)]
        self._ends: dict[int, list[tuple[float, int]]] = {}
        self._clear_s = np.zeros(num_servers)
        self._changed: set[int] = set()

    def on(self, server: int) -> Mapping[str, int]:
        """Ranks by job on a server."""
        return self._on[server]

    def ends(self, server: int) -> Sequence[tuple[float, int]]:
        """(when a job ends by its limit, its ranks) on a server, the first first; inf for those without a limit."""
        if server not in self._ends:
            jobs = self._jobs
            self._ends[server] = sorted((jobs[name].end_s, ranks) for name, ranks in self._on[server].items())
        return self._ends[server]

    @property
    def clear_s(self) -> NDArray[np.float64]:
        """When all jobs on each server have ended by their limits; inf where one has none, 0 where there is none."""
        self._refresh()
        return self._clear_s

    def enter(self, job: str, place: Place) -> None:
        """A job stands here from now on."""
        for server, _ in place.devices:
            here = self._on[server]
            here[job] = here.get(job, 0) + 1
        self._change(place)

    def leave(self, job: str, place: Place) -> None:
        """A job has left."""
        for server in place.servers:
            del self._on[server][job]
        self._change(place)

    def _change(self, place: Place) -> None:
        """Note what has changed; a job that enters learns after it when it ends, so it is looked at later."""
        self._refresh()
        for server in place.servers:
            self._ends.pop(server, None)
        self._changed.update(place.servers)

    def _refresh(self) -> None:
        jobs = self._jobs
        for server in self._changed:
            self._clear_s[server] = max([jobs[name].end_s for name in self._on[server]], default=0.0)
        self._changed.clear()
