"""How a group of ranks communicates: the time of a message by its latency and its seconds per byte."""

from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol

from costmodel.collectives.circuits import Circuits
from costmodel.collectives.hashed_once import HashedOnce
from costmodel.collectives.ladder import Algorithm, Order
from costmodel.parallelism.pools import most_peers, transfer_pairs

OverLinks = Literal["bucket", "rotated", "chain", "routed", "twisted", "twisted_bucket", "shifted", "shifted_direct"]
"""packets over the links of a slice"""
PlanKind = Literal["none", "line", "switched", "transfer", OverLinks, Algorithm]


class GroupPlan(Protocol):
    """How one group of ranks exchanges its messages: time is latency_s + seconds_per_byte * bytes."""

    def __hash__(self) -> int: ...
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
    def near_share(self) -> float:
        """Of what ranks send, the part that stays in their servers where the group does not."""
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


class PlanMenu(tuple[GroupPlan, ...]):
    """Plans along one dimension, of which a job has one; their hash is kept, as menus are looked up often."""

    _hash: int | None = None

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = super().__hash__()
        return self._hash


@dataclass(frozen=True)
class LinkPlan(HashedOnce):
    """A group that needs no collective schedule of circuits.

    kind "none": nothing is sent; "line": stages i and i+1 are joined by a circuit each way (pipeline);
    "switched", and "ring" and "tree" all-reduces without wavelengths: packets over electrical switches; a "circulant"
    without wavelengths: an all-reduce over the links of rings to the nearest ranks on both sides;
    "transfer": caches go from the first `radices[0]` replicas to the `radices[1]` others, over circuits or as packets;
    replicas have one place each, or as many as two further `radices` say of either side;
    "twisted" (all-to-all) and "twisted_bucket" (all-reduce): the same over the links of a twisted torus;
    "shifted" (all-to-all) and "shifted_direct" (all-reduce, as two all-to-alls): over those of a shifted torus;
    "bucket" and "rotated" all-reduces, "chain" (pipeline) and "routed" (all-to-all, and along data the caches of two
    pools): packets over the links of a slice, which have so many `wavelengths` along x, y and z where boards give them.
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
    near_share: float = 0.0
    least_seconds_per_byte: float = 0.0
    """of any all-to-all on ranks with as many links each, however these are wired; 0 where none is known"""
    wired_seconds_per_byte: float = 0.0
    """of any all-to-all over the links as they are wired, however it is routed; 0 where none is known"""

    __hash__ = HashedOnce.__hash__

    @property
    def name(self) -> str:
        if self.kind == "line":
            return f"line w{self.wavelengths[0]}"
        if self.kind == "transfer":
            width = f" w{self.wavelengths[0]}" if self.wavelengths else ""
            each = f" ({self.radices[2]} to {self.radices[3]} ranks)" if len(self.radices) > 2 else ""
            return f"transfer {self.radices[0]} to {self.radices[1]}{each}{width}"
        if self.kind == "circulant":
            return f"circulant {'+'.join(map(str, self.radices))}"
        widths = [str(width) for extent, width in zip(self.radices, self.wavelengths, strict=False) if extent > 1]
        extents = ["x".join(map(str, self.radices))] if self.radices else []
        return " ".join([self.kind, *extents, *(["w" + "x".join(widths)] if widths else [])])

    def configurations(self) -> tuple[Circuits, ...]:
        if self.kind not in ("line", "transfer") or not self.wavelengths:
            return ()
        forth = [(a, b, self.wavelengths[0]) for a, b in self._joined()]
        return (tuple(forth + [(b, a, width) for a, b, width in forth]),)

    def offsets(self) -> tuple[tuple[int, ...], ...]:
        if self.kind not in ("line", "transfer") or not self.wavelengths:
            return ()
        width = self.wavelengths[0]
        if self.kind == "line":
            back = width if self.ranks > 2 else 0
            return ((0,) * (self.ranks - 1) + (back,) * (self.ranks - 1),)
        # Pairs of one replica follow each other: counted round, they differ. It sends forth, or back, but not both.
        turns = tuple(number % most_peers(*self.radices) * width for number in range(len(self._joined())))
        return (turns + turns,)

    def _joined(self) -> list[tuple[int, int]]:
        """Places with a circuit from the first to the second, and one back."""
        if self.kind == "line":
            return [(i, i + 1) for i in range(self.ranks - 1)]
        first = self.radices[0] * (self.radices[2] if len(self.radices) > 2 else 1)
        return [(i, first + j) for i, j in transfer_pairs(*self.radices)]


def transfer_radices(prefill: int, decode: int, each: tuple[int, int]) -> tuple[int, ...]:
    """Replicas of either pool, and where a replica has several ranks in a group how many."""
    return (prefill, decode) if each == (1, 1) else (prefill, decode, *each)


NO_PLAN = LinkPlan("none", 1)


@cache
def divisors_down(width: int) -> tuple[int, ...]:
    """width, width/2, width/4, ... 1 by integer halving."""
    return (width,) if width == 1 else (width, *divisors_down(width // 2))
