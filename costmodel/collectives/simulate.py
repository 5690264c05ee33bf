"""Time of a schedule, event by event over its circuits; nothing here knows a closed form."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from costmodel.collectives.limits import Limits
from costmodel.collectives.schedule import LOCAL, Circuits, Schedule

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def simulate(schedule: Schedule, limits: Limits, message_bytes: float, *, overlap: bool = False) -> float:
    """Time of one of many calls in a row, each beginning where the last one ended.

    Events are the ends of transfers and of changes of configuration. A transfer starts when its circuit is on and its
    sender has done with its earlier rounds; it takes alpha and its bytes at the rate of the circuit's wavelengths. A
    change starts when the change before it and all transfers of the earlier rounds are done; with `overlap` only those
    on circuits that go off count, and circuits that stay on keep sending. Ranks run ahead of each other within a
    configuration; calls are in step. ValueError where a configuration breaks the limits.
    """
    check_limits(schedule, limits)
    now = _Clock(schedule, limits, message_bytes, overlap)
    starts = schedule.starts
    for number, (first, last) in enumerate(pairwise(starts.tolist())):
        now.enter(int(schedule.configuration_of[number]), int(schedule.call_of[number]))
        now.send(schedule.circuit[first:last])
    return float(now.ready_s.max(initial=0.0)) / schedule.num_calls


class _Clock:
    """When each rank has done its rounds so far, and from when each circuit is on."""

    def __init__(self, schedule: Schedule, limits: Limits, message_bytes: float, overlap: bool) -> None:
        self.circuits, self.limits, self.overlap = schedule.circuits, limits, overlap
        self.chunk_bytes = message_bytes / schedule.num_chunks
        self.present = int(schedule.configuration_of[-1]) if len(schedule.configuration_of) else 0
        self.call = 0
        self.changed_s = 0.0
        self.ready_s: Floats = np.zeros(schedule.ranks)
        self.on_s: Floats = np.zeros(len(self.circuits))
        self.end_s: Floats = np.zeros(len(self.circuits))

    def enter(self, configuration: int, call: int) -> None:
        """Change to the configuration of a round where it is another one."""
        if call != self.call:
            self.ready_s[:] = self.ready_s.max()
            self.call = call
        if configuration == self.present:
            return
        before, after = self.circuits.on(self.present), self.circuits.on(configuration)
        stays = before & after if self.overlap else np.zeros_like(before)
        begin_s = max(self.end_s[~stays].max(initial=0.0), self.changed_s)
        self.changed_s = begin_s + self.limits.reconfiguration_s
        self.on_s[after & ~stays] = self.changed_s
        self.present = configuration

    def send(self, circuit: NDArray[np.int32]) -> None:
        """All transfers of one round."""
        used, counts = np.unique(circuit[circuit != LOCAL], return_counts=True)
        circuits = self.circuits
        rate = circuits.wavelengths[used] * self.limits.wavelength_bytes_per_s
        begin_s = np.maximum(self.ready_s[circuits.source[used]], self.on_s[used])
        self.end_s[used] = begin_s + self.limits.alpha_s + counts * self.chunk_bytes / rate
        done_s = self.ready_s.copy()
        np.maximum.at(done_s, circuits.source[used], self.end_s[used])
        np.maximum.at(done_s, circuits.destination[used], self.end_s[used])
        self.ready_s = done_s


def check_limits(schedule: Schedule, limits: Limits) -> None:
    """ValueError where a tile has more circuits or wavelengths at a time than it may."""
    circuits = schedule.circuits
    for configuration in range(schedule.num_configurations):
        on = np.flatnonzero(circuits.on(configuration))
        for way, end in (("sends", circuits.source), ("receives", circuits.destination)):
            most = (_most(circuits, end, on, weighted=False), _most(circuits, end, on, weighted=True))
            allowed = (limits.max_peers, limits.wavelengths)
            for name, count, limit in zip(("max_peers", "wavelengths"), most, allowed, strict=True):
                if count > limit:
                    raise ValueError(
                        f"{name}: a rank {way} on {count} in configuration {configuration}, but may on {limit}; "
                        "hold fewer digits at a time"
                    )


def _most(circuits: Circuits, end: NDArray[np.int16], on: NDArray[np.int64], *, weighted: bool) -> int:
    counts = np.bincount(end[on], circuits.wavelengths[on] if weighted else None)
    return int(counts.max(initial=0))
