"""Groups along data that lie in several racks, in equal parts: hierarchical all-reduces."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from costmodel.collectives.circuits import Circuits
from costmodel.collectives.ladder import Order
from costmodel.fabrics.base import FabricBase
from costmodel.fabrics.group_plans import GroupPlan, PlanKind
from costmodel.fabrics.upper import UpperPart

IN_TWO_HALVES: tuple[PlanKind, ...] = ("none", "ring", "radix", "circulant", "bucket", "rotated")
"""all-reduces that are a reduce-scatter and its all-gather: between these, racks exchange what each rank holds"""


@dataclass(frozen=True)
class AcrossRacks:
    """A plan of the part of a group in each rack, and the exchange between racks; nothing where none is sent."""

    inner: GroupPlan
    """of the ranks in one rack"""
    racks: int
    links: int = 0
    """of the upper layer that the job holds, of each part that it uses; 0 where nothing is sent"""
    upper_latency_s: float = 0.0
    upper_seconds_per_byte: float = 0.0
    upper_j_per_byte: float = 0.0
    """energy of what a rank sends to other racks, for each byte of the message"""

    @property
    def kind(self) -> PlanKind:
        return self.inner.kind

    @property
    def name(self) -> str:
        inside = "" if self.kind == "none" else f"{self.inner.name} in each of "
        return f"{inside or 'over '}{self.racks} racks" + (f" by {self.links} links" if self.links else "")

    @property
    def ranks(self) -> int:
        return self.racks * self.inner.ranks

    @property
    def radices(self) -> tuple[int, ...]:
        return self.inner.radices

    @property
    def held(self) -> tuple[int, ...]:
        return self.inner.held

    @property
    def wavelengths(self) -> tuple[int, ...]:
        return self.inner.wavelengths

    @property
    def order(self) -> Order:
        return self.inner.order

    @property
    def latency_s(self) -> float:
        return self.inner.latency_s + self.upper_latency_s

    @property
    def seconds_per_byte(self) -> float:
        return self.inner.seconds_per_byte + self.upper_seconds_per_byte

    @property
    def bytes_per_byte(self) -> float:
        """Of what stays in the rack."""
        return self.inner.bytes_per_byte

    @property
    def near_share(self) -> float:
        """Of what stays in the rack."""
        return self.inner.near_share

    @property
    def node_bytes_per_s(self) -> float:
        """A group that leaves its rack shares no switch of a server."""
        return 0.0

    @cached_property
    def _starts(self) -> Sequence[int]:
        """First rank of each rack."""
        return range(0, self.ranks, self.inner.ranks)

    def configurations(self) -> tuple[Circuits, ...]:
        """Those of every rack; what joins racks is no circuit between ranks."""
        return tuple(
            tuple((start + a, start + b, width) for start in self._starts for a, b, width in circuits)
            for circuits in self.inner.configurations()
        )

    def offsets(self) -> tuple[tuple[int, ...], ...]:
        return tuple(offsets * self.racks for offsets in self.inner.offsets())


def racks_of(plan: GroupPlan) -> int:
    """Racks in which a group lies."""
    return plan.racks if isinstance(plan, AcrossRacks) else 1


def links_of(plan: GroupPlan) -> int:
    """Links of the upper layer that a job with this plan along data holds, of each part that it uses."""
    return plan.links if isinstance(plan, AcrossRacks) else 0


def upper_energy(plan: GroupPlan) -> float:
    """Joules of a rank for each byte of a message that other racks get a part of."""
    return plan.upper_j_per_byte if isinstance(plan, AcrossRacks) else 0.0


def upper_links(fabric: FabricBase) -> dict[UpperPart, dict[str, int]]:
    """Links of each part of the layer above racks, working or not, by the name of what they go through."""
    upper, sizes = fabric.upper_layer, (fabric.racks, fabric.devices_per_rack)
    if upper is None:
        return {}
    return {part: upper.links_by_name(part, *sizes) for part in upper.parts(range(fabric.racks))}


def most_upper_links(fabric: FabricBase) -> int:
    """Links of the part of the layer above racks that has the most; 0 where nothing joins racks."""
    upper = fabric.upper_layer
    return 0 if upper is None else upper.most_links(fabric.devices_per_rack)


def rack_counts(fabric: FabricBase, replicas: int, devices: int) -> Iterator[int]:
    """Numbers of racks, 2 or more, over which a job with so many data replicas may lie in equal parts."""
    if fabric.upper_layer is None:
        return
    for racks in range(2, min(fabric.racks, replicas) + 1):
        if replicas % racks == 0 and devices // racks <= fabric.devices_per_rack:
            yield racks


def plans_across(
    fabric: FabricBase, inner: Iterable[GroupPlan], racks: int, devices: int, *, is_sent: bool
) -> Iterator[GroupPlan]:
    """A data group over racks: each plan of its part in a rack, with every number of links worth offering; `devices`
    of the job lie in each rack. Where nothing is sent, racks need not be joined for it."""
    upper = fabric.upper_layer
    if upper is None:
        return
    most = most_upper_links(fabric)
    for plan in inner:
        sent = 2 * (racks - 1) / racks / plan.ranks
        if not is_sent:
            yield AcrossRacks(plan, racks)
        for links in upper.menu(most, devices) if is_sent and plan.kind in IN_TWO_HALVES else ():
            times = upper.all_reduce(racks, devices // plan.ranks, links)
            yield AcrossRacks(plan, racks, links, *times, sent * upper.energy_j_per_byte)
