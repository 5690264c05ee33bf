"""How a group of ranks communicates: the time of a message by its latency and its seconds per byte."""

from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol

from costmodel.collectives.circuits import Circuits
from costmodel.collectives.ladder import Algorithm, Order

PlanKind = Literal["none", "line", "switched", "bucket", "rotated", "chain", "routed", Algorithm]


class GroupPlan(Protocol):
    """How one group of ranks exchanges its messages: time is latency_s + seconds_per_byte * bytes."""

    @property
    def kind(self) -> PlanKind: ...
    @property
    def name(self) -> str: ...
    @property
    def ranks(self) -> int: ...
    @property
    def radices(self) -> tuple[int, ...]: ...
    @property
    def held(self) -> tuple[int, ...]: ...
    @property
    def wavelengths(self) -> tuple[int, ...]: ...
    @property
    def order(self) -> Order: ...
    @property
    def latency_s(self) -> float: ...
    @property
    def seconds_per_byte(self) -> float: ...
    @property
    def bytes_per_byte(self) -> float:
        """Bytes that one rank sends per byte of the message: 2(n-1)/n for an all-reduce."""
        ...

    @property
    def node_bytes_per_s(self) -> float:
        """Peak of the links, one direction, of a group that shares the electrical switch of its server; else 0."""
        ...

    def configurations(self) -> tuple[Circuits, ...]:
        """Circuits of each configuration over ranks 0..n-1; () where the fabric switches packets."""
        ...

    def offsets(self) -> tuple[tuple[int, ...], ...]:
        """First wavelength of each circuit, as `configurations`: no rank then sends or receives one twice."""
        ...


@dataclass(frozen=True)
class LinkPlan:
    """A group that needs no collective schedule of circuits.

    kind "none": nothing is sent; "line": stages i and i+1 are joined by a circuit each way (pipeline);
    "switched", and "ring" and "tree" all-reduces without wavelengths: packets over electrical switches;
    "bucket" and "rotated" all-reduces, "chain" (pipeline) and "routed" (all-to-all): packets over the links of a slice.
    """

    kind: PlanKind
    ranks: int
    latency_s: float = 0.0
    seconds_per_byte: float = 0.0
    bytes_per_byte: float = 0.0
    wavelengths: tuple[int, ...] = ()
    radices: tuple[int, ...] = ()
    held: tuple[int, ...] = ()
    order: Order = "fixed"
    node_bytes_per_s: float = 0.0

    @property
    def name(self) -> str:
        if self.kind == "line":
            return f"line w{self.wavelengths[0]}"
        return " ".join([self.kind, *(["x".join(map(str, self.radices))] if self.radices else [])])

    def configurations(self) -> tuple[Circuits, ...]:
        if self.kind != "line":
            return ()
        width = self.wavelengths[0]
        forth = [(i, i + 1, width) for i in range(self.ranks - 1)]
        back = [(i + 1, i, width) for i in range(self.ranks - 1)]
        return (tuple(forth + back),)

    def offsets(self) -> tuple[tuple[int, ...], ...]:
        if self.kind != "line":
            return ()
        back = self.wavelengths[0] if self.ranks > 2 else 0
        return ((0,) * (self.ranks - 1) + (back,) * (self.ranks - 1),)


NO_PLAN = LinkPlan("none", 1)


@cache
def divisors_down(width: int) -> tuple[int, ...]:
    """width, width/2, width/4, ... 1 by integer halving."""
    return (width,) if width == 1 else (width, *divisors_down(width // 2))
