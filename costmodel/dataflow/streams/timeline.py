"""What happened on the streams: intervals, time by layer, bytes by link."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costmodel.dataflow.streams.placement import Link, Placement
from costmodel.dataflow.streams.program import Program

Floats = NDArray[np.float64]
COMPUTE, COLLECTIVES = "compute", "collectives"
"""names of streams; copies are on streams named after their links"""


class Copy(NamedTuple):
    """One tensor's part behind one link, on its way there or back."""

    absence: int
    link: int
    is_return: bool
    start_s: float
    end_s: float


class Interval(NamedTuple):
    """A stretch of a stream, to be drawn."""

    stream: str
    name: str
    layer: int
    kind: str
    """forward, backward, update, again, leave, return or exchange"""
    start_s: float
    end_s: float


@dataclass(frozen=True)
class LayerTimes:
    """Seconds by layer, each of shape (number of layers,)."""

    forward_s: Floats
    backward_s: Floats
    """kernels, those of updates included"""
    remake_s: Floats
    """of tensors that a placement makes again"""
    copy_s: Floats
    """of its tensors, links at the same time"""
    exchange_s: Floats
    waits_for_copies_s: Floats
    waits_for_exchanges_s: Floats
    """the part of a wait after the last copy"""


@dataclass(frozen=True)
class Timeline:
    """One step as it ran."""

    program: Program
    links: tuple[Link, ...]
    placement: Placement
    end_s: float
    """of the last kernel, copy and collective"""
    starts_s: Floats
    """(O,) of each operator; what it makes again before it is not included"""
    ends_s: Floats
    waits_s: Floats
    """(O, 2) for which the compute stream waited before each operator: for copies, then for collectives"""
    copies: tuple[Copy, ...]
    remakes: tuple[tuple[int, float, float], ...]
    """(absence, start, end)"""
    exchanges: tuple[tuple[int, float, float], ...]
    """(operator, start, end)"""

    @property
    def compute_s(self) -> float:
        """Time of kernels, remade ones included."""
        return float(self.program.operator_s.sum()) + sum(end - start for _, start, end in self.remakes)

    @property
    def exchange_s(self) -> float:
        return float(self.program.exchange_s.sum())

    @property
    def copy_s(self) -> float:
        """Time of copies of the busiest link."""
        busy = np.zeros(len(self.links))
        for copy in self.copies:
            busy[copy.link] += copy.end_s - copy.start_s
        return float(busy.max(initial=0.0))

    def bytes_by_link(self) -> Floats:
        """Bytes that left and that came back over each link, shape (2, L)."""
        moved = np.zeros((2, len(self.links)))
        for copy in self.copies:
            moved[int(copy.is_return), copy.link] += self.placement.moved_bytes[copy.absence, copy.link]
        return moved

    def intervals(self) -> Iterator[Interval]:
        """Everything that ran, stream by stream in the order of time."""
        operators, absences = self.program.operators, self.program.absences
        kernels = [
            Interval(COMPUTE, each.name, each.layer, each.phase, start, end)
            for each, start, end in zip(operators, self.starts_s.tolist(), self.ends_s.tolist(), strict=True)
        ]
        for absence, start, end in self.remakes:
            operator = operators[absences[absence].remade_by or 0]
            kernels.append(Interval(COMPUTE, f"{operator.name} again", operator.layer, "again", start, end))
        yield from sorted(kernels, key=lambda each: (each.start_s, each.end_s))
        for copy in sorted(self.copies, key=lambda each: (each.link, each.start_s)):
            name, kind = self._tensor(copy.absence), "return" if copy.is_return else "leave"
            link = self.links[copy.link].name
            yield Interval(link, name, self._layer(copy.absence), kind, copy.start_s, copy.end_s)
        for number, start, end in self.exchanges:
            yield Interval(COLLECTIVES, operators[number].name, operators[number].layer, "exchange", start, end)

    def by_layer(self) -> LayerTimes:
        """Where the time went."""
        operators = self.program.operators
        of = np.array([each.layer for each in operators])
        is_forward = np.array([each.phase == "forward" for each in operators])
        times_s = self.program.operator_s
        remade = [(self._layer(absence), end - start) for absence, start, end in self.remakes]
        moved = [
            (self._layer(a), float(takes) * int(self.program.leaves[a]) + float(takes) * int(self.program.returns[a]))
            for a, takes in enumerate(self.placement.copy_s(self.links))
        ]
        return LayerTimes(
            forward_s=self._summed(of, times_s * is_forward),
            backward_s=self._summed(of, times_s * ~is_forward),
            remake_s=self._summed(*_columns(remade)),
            copy_s=self._summed(*_columns(moved)),
            exchange_s=self._summed(of, self.program.exchange_s),
            waits_for_copies_s=self._summed(of, self.waits_s[:, 0]),
            waits_for_exchanges_s=self._summed(of, self.waits_s[:, 1]),
        )

    def _summed(self, layers: NDArray[np.int64], values: Floats) -> Floats:
        return np.asarray(np.bincount(layers, values, len(self.program.graph.layers)), np.float64)

    def _tensor(self, absence: int) -> str:
        return self.program.graph.tensors[self.program.absences[absence].tensor].name

    def _layer(self, absence: int) -> int:
        """That of the operator which made the tensor, or needs it first."""
        uses = self.program.graph.uses[self.program.absences[absence].tensor]
        return self.program.operators[uses[0]].layer


def _columns(pairs: list[tuple[int, float]]) -> tuple[NDArray[np.int64], Floats]:
    layers, values = np.array([p[0] for p in pairs], np.int64), np.array([p[1] for p in pairs], np.float64)
    return layers, values
