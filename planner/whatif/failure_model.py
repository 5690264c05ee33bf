"""When parts fail and work again: a model by kind of part, sampled with a seed into events to replay."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from costmodel.fabrics import FabricBase
from costmodel.spec import Duration, Spec

PartKind = Literal["tile", "fiber", "laser", "switch_port", "receiver", "optical_switch", "memory_unit", "rack_link"]
_IN_INVENTORY = {
    "switch_port": "port",
    "optical_switch": "switch",
    "memory_unit": "memory unit",
    "rack_link": "rack link",
}
"""kinds that the inventory of a fabric has under other names"""
Floats = NDArray[np.float64]


class PartFailures(Spec):
    """How one part behaves: up for an exponential time, then down for one, independently of all others."""

    time_between_failures_s: Duration = Field(gt=0)
    """mean time that a working part goes on working"""
    repair_time_s: Duration = Field(gt=0)
    """mean time that a failed part stays down"""

    @property
    def availability(self) -> float:
        """Share of time that the part works, in the long run."""
        return self.time_between_failures_s / (self.time_between_failures_s + self.repair_time_s)

    @property
    def failures_per_s(self) -> float:
        """Failures of one part per second, in the long run."""
        return 1 / (self.time_between_failures_s + self.repair_time_s)


class FailureModel(Spec):
    """Kinds of parts that fail; a kind that is not given never does. Parts all work at the start."""

    tile: PartFailures | None = None
    """an accelerator, whatever the fabric calls it"""
    fiber: PartFailures | None = None
    """one fiber between servers of a lightpath"""
    laser: PartFailures | None = None
    """one wavelength of one tile's transmitter"""
    switch_port: PartFailures | None = None
    """all that joins one accelerator to others, which fails as one"""
    receiver: PartFailures | None = None
    """one wavelength of one tile's receiver"""
    optical_switch: PartFailures | None = None
    """a whole switch, with all circuits through it"""
    memory_unit: PartFailures | None = None
    """one unit of a tray, where memory is pooled"""
    rack_link: PartFailures | None = None
    """one switch, or one fiber, of the layer that joins racks"""


@dataclass(frozen=True)
class FailureEvent:
    """One failure; `part` is a name that `whatif.failures` reads, such as s0.t1, s0.t1:w3, s0>s1#2, q2#1, s0.m1.u3."""

    part: str
    fail_s: float
    repair_s: float
    """when it works again, which may be after the horizon"""


def parts_of(fabric: FabricBase, kind: PartKind) -> tuple[str, ...]:
    """Names of all parts of a kind."""
    parts = fabric.inventory().get(_IN_INVENTORY.get(kind, kind))
    return () if parts is None else tuple(parts.names())


def sample_failures(model: FailureModel, fabric: FabricBase, horizon_s: float, seed: int) -> tuple[FailureEvent, ...]:
    """All failures before the horizon, by time; the same seed gives the same events.

    Each kind draws from a stream of its own: another kind that is added changes none of its events.
    """
    if not (np.isfinite(horizon_s) and horizon_s >= 0):
        raise ValueError(f"horizon_s: {horizon_s} is no length of time; give seconds, at least 0")
    events: list[FailureEvent] = []
    for number, kind in enumerate(get_args(PartKind)):
        part: PartFailures | None = getattr(model, kind)
        if part is not None:
            names = parts_of(fabric, kind)
            generator = np.random.default_rng([seed, number])
            owner, fail_s, repair_s = _draw(part, len(names), horizon_s, generator)
            rows = zip(owner.tolist(), fail_s.tolist(), repair_s.tolist(), strict=True)
            events += [FailureEvent(names[i], start, end) for i, start, end in rows]
    return tuple(sorted(events, key=lambda event: (event.fail_s, event.part)))


def _draw(
    part: PartFailures, num_parts: int, horizon_s: float, generator: np.random.Generator
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Owner, start and end of each failure: rounds of one failure for each part still before the horizon."""
    owner = np.arange(num_parts, dtype=np.int64)
    clock = np.zeros(num_parts)
    owners, starts, ends = [owner[:0]], [clock[:0]], [clock[:0]]
    while len(owner):
        fail_s = clock + generator.exponential(part.time_between_failures_s, len(owner))
        repair_s = fail_s + generator.exponential(part.repair_time_s, len(owner))
        alive = fail_s < horizon_s
        owner, fail_s, clock = owner[alive], fail_s[alive], repair_s[alive]
        owners.append(owner)
        starts.append(fail_s)
        ends.append(clock)
    return np.concatenate(owners), np.concatenate(starts), np.concatenate(ends)
