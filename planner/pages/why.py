"""Why a step takes as long as it does: how busy its streams are, and what it waits for."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costmodel.dataflow.streams.timeline import COLLECTIVES, COMPUTE, Timeline

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Why:
    """Seconds of one step."""

    busy_s: dict[str, float]
    """by stream: kernels, copies on each link, collectives"""
    waits_for_copies_s: float
    waits_for_exchanges_s: float
    longest_waits: tuple[tuple[str, float], ...]
    """operators that waited longest for copies, longest first"""

    @property
    def binding(self) -> str:
        """The busiest stream: the step takes no less than it."""
        return max(self.busy_s, key=lambda stream: self.busy_s[stream])


def why(timeline: Timeline, num_waits: int = 3) -> Why:
    """What one simulated step spent its time on."""
    busy_s = {COMPUTE: timeline.compute_s, **{link.name: 0.0 for link in timeline.links}}
    for copy in timeline.copies:
        busy_s[timeline.links[copy.link].name] += copy.end_s - copy.start_s
    if timeline.exchange_s:
        busy_s[COLLECTIVES] = timeline.exchange_s
    waits_s = timeline.waits_s[:, 0]
    longest = [o for o in np.argsort(-waits_s, kind="stable")[:num_waits].tolist() if waits_s[o] > 0]
    names = [(timeline.program.operators[o].name, float(waits_s[o])) for o in longest]
    total = timeline.waits_s.sum(axis=0).tolist() if len(timeline.waits_s) else [0.0, 0.0]
    return Why(busy_s, total[0], total[1], tuple(names))


def unused_s(timeline: Timeline) -> Floats:
    """(A, 2) times at which each absent tensor is free to leave, and at which it is needed, or the step ends."""
    program, starts_s, ends_s = timeline.program, timeline.starts_s, timeline.ends_s
    free_s = [float(ends_s[each.after]) if each.after >= 0 else 0.0 for each in program.absences]
    needed = zip(program.absences, program.returns, strict=True)
    needed_s = [float(starts_s[each.before]) if returns else timeline.end_s for each, returns in needed]
    return np.array([free_s, needed_s]).T


def bytes_over_time(timeline: Timeline) -> tuple[Floats, dict[str, Floats]]:
    """Times, shape (T,), and from each on the bytes of unused tensors by link, and those that stay, as `local`.

    Behind a link from when a copy away starts, or the step does, until the copy back ends, or the step does.
    """
    changes: dict[str, list[tuple[float, float]]] = {"local": [], **{link.name: [] for link in timeline.links}}
    starts = {(c.absence, c.link): c.start_s for c in timeline.copies if not c.is_return}
    ends = {(c.absence, c.link): c.end_s for c in timeline.copies if c.is_return}
    for a, (after_s, before_s) in enumerate(unused_s(timeline).tolist()):
        spans = [("local", float(timeline.placement.kept_bytes[a]), after_s, before_s)]
        for number, link in enumerate(timeline.links):
            moved = float(timeline.placement.moved_bytes[a, number])
            spans.append((link.name, moved, starts.get((a, number), after_s), ends.get((a, number), before_s)))
        for name, size, first_s, last_s in spans:
            if size > 0:
                changes[name] += [(first_s, size), (last_s, -size)]
    times = np.unique([0.0, timeline.end_s, *(at for each in changes.values() for at, _ in each)])
    found = {}
    for name, listed in changes.items():
        steps = np.zeros(len(times))
        for at, size in listed:
            steps[np.searchsorted(times, at)] += size
        found[name] = np.cumsum(steps).clip(0)
    return times, found
