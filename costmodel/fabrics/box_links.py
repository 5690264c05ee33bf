"""Messages of the groups of a box, as packets over its links: closed forms."""

from dataclasses import dataclass, replace
from math import prod
from typing import Literal

from costmodel.fabrics.boxes import Sides
from costmodel.fabrics.group_plans import NO_PLAN, LinkPlan
from costmodel.fabrics.line_shifts import LineShifts
from costmodel.fabrics.routed_caches import Row, routed_caches
from costmodel.fabrics.shifted import shifted_load
from costmodel.fabrics.twisted import LinkLoad, all_to_all, least_of_any_wiring, twist_of


@dataclass(frozen=True)
class BoxLinks:
    """Links between neighbours of a box, a ring along each axis that it spans whole or beyond, else a line."""

    sides: Sides
    """of a server"""
    bytes_per_s: float
    """of one link, one direction"""
    alpha_s: float
    """of one step between neighbours"""
    wavelengths: tuple[int, ...] = ()
    """of a link along each axis, where boards divide those of a chip; 1 where no rank has a neighbour"""
    wavelengths_per_link: int = 1
    """that make up that bandwidth"""

    def chain(self, box: Sides) -> LinkPlan:
        """From each pipeline stage to the next, its neighbour."""
        slowest = min(self._link(axis) for axis, extent in enumerate(box) if extent > 1)
        return LinkPlan("chain", prod(box), self.alpha_s, 1 / slowest, 1.0, self.wavelengths, box)

    def all_reduces(self, box: Sides) -> tuple[LinkPlan, ...]:
        """Bucket all-reduces of a box: the axes one after the other, and as many chunks rotated over the axes.

        Along an axis the ranks form a ring of both directions where the box spans it, else a line whose links carry
        partial sums both ways, at half the rate. Rotated chunks change axes together, so that a phase lasts as long as
        its slowest axis. On a cube of side a with d axes the latter is 2 d (a - 1) alpha + 2 (n - 1) / n S / B, B being
        the bandwidth of all 2 d links.
        """
        used = [(extent, self._rate(axis, extent)) for axis, extent in enumerate(box) if extent > 1]
        if not used:
            return (NO_PLAN,)
        one_by_one = self._all_reduce("bucket", box, [used])
        if len(used) == 1:
            return (one_by_one,)
        return one_by_one, self._all_reduce("rotated", box, [used[k:] + used[:k] for k in range(len(used))])

    def _all_reduce(
        self, kind: Literal["bucket", "rotated", "twisted_bucket"], box: Sides, orders: list[list[tuple[int, float]]]
    ) -> LinkPlan:
        """Equal chunks, each along the axes in its own order; every phase waits for the slowest chunk."""
        steps, seconds_per_byte = 0, 0.0
        left = [1.0 / len(orders)] * len(orders)
        for phase in zip(*orders, strict=True):
            steps += max(extent - 1 for extent, _ in phase)
            seconds_per_byte += max(
                share * (extent - 1) / extent / rate for share, (extent, rate) in zip(left, phase, strict=True)
            )
            left = [share / extent for share, (extent, _) in zip(left, phase, strict=True)]
        sent = 2 * (prod(box) - 1) / prod(box)
        return LinkPlan(kind, prod(box), 2 * steps * self.alpha_s, 2 * seconds_per_byte, sent, self.wavelengths, box)

    def all_to_all(self, box: Sides) -> LinkPlan:
        """Equal shares from each rank to each other one, along the first axis first, by the shorter way.

        Of S bytes on each of e ranks along an axis, e S / 8 cross every link of a ring of even extent and
        (e^2 - 1) S / (8 e) of an odd one; the middle link of a line carries floor(e / 2) ceil(e / 2) S / e. Ways of
        length e / 2 round a ring are shared by both directions.
        """
        hops, busiest, crossed = 0, 0.0, 0.0
        for axis, (extent, side) in enumerate(zip(box, self.sides, strict=True)):
            near, far = extent // 2, extent - extent // 2
            if extent % side == 0:
                hops, load = hops + near, near * far / (2 * extent)
                crossed += near * far / extent
            else:
                hops, load = hops + extent - 1, near * far / extent
                crossed += (extent**2 - 1) / (3 * extent)
            busiest = max(busiest, load / self._width(axis)) if extent > 1 else busiest
        return self._all_to_all("routed", box, LinkLoad(hops, busiest, crossed))

    def twisted_all_to_all(self, box: Sides) -> LinkPlan:
        """Equal shares from each rank to each other one of a twisted torus, over all shortest ways."""
        return self._all_to_all("twisted", box, all_to_all(box, self.sides))

    def shifted_all_to_all(self, box: Sides, shifts: LineShifts) -> LinkPlan:
        """Equal shares from each rank to each other one of a shifted torus, over its shortest ways by their weights."""
        return self._all_to_all("shifted", box, shifted_load(shifts))

    def shifted_all_reduce(self, box: Sides, shifts: LineShifts) -> LinkPlan:
        """An all-to-all of shares, each of which its owner adds up, and one of the sums."""
        spread = shifted_load(shifts)
        times = 2 * spread.hops * self.alpha_s, 2 * spread.on_link / self.bytes_per_s, 2 * spread.mean_hops
        return LinkPlan("shifted_direct", prod(box), *times, (), box)

    def _all_to_all(self, kind: Literal["routed", "twisted", "shifted"], box: Sides, spread: LinkLoad) -> LinkPlan:
        ranks = prod(box)
        least, wired = (each / self.bytes_per_s for each in (least_of_any_wiring(ranks), spread.least_on_link))
        times = spread.hops * self.alpha_s, spread.on_link / self.bytes_per_s, spread.mean_hops
        plan = LinkPlan(kind, ranks, *times, self.wavelengths, box)
        return replace(plan, least_seconds_per_byte=least, wired_seconds_per_byte=wired)

    def twisted_all_reduce(self, box: Sides) -> LinkPlan:
        """A bucket all-reduce of a twisted torus: first the long axes, which are rings, then the short ones, as lines,
        whose wraps lead elsewhere."""
        twist = twist_of(box, self.sides)
        rates = [(extent, self.bytes_per_s * (1 if axis in twist else 2)) for axis, extent in enumerate(box)]
        return self._all_reduce("twisted_bucket", box, [sorted(rates, key=lambda each: -each[1])])

    def caches(self, prefill: int, decode: int, box: Sides) -> LinkPlan:
        rows: list[Row] = ["line" if extent % side else "ring" for extent, side in zip(box, self.sides, strict=True)]
        widths = tuple(map(self._width, range(3))) if self.wavelengths else ()
        met = routed_caches(prefill, decode, tuple(zip(box, rows, strict=True)), widths)
        times = met.hops * self.alpha_s, met.on_link / self.bytes_per_s, met.mean_hops
        return LinkPlan("routed", prod(box), *times, self.wavelengths, box)

    def _width(self, axis: int) -> float:
        """Bandwidth of a link along an axis, as a multiple of that of a link of a plain torus."""
        return self.wavelengths[axis] / self.wavelengths_per_link if self.wavelengths else 1.0

    def _link(self, axis: int) -> float:
        """Bytes per second of a link along an axis, one direction."""
        return self.bytes_per_s * self._width(axis)

    def _rate(self, axis: int, extent: int) -> float:
        """Bytes per second that a rank sends along an axis of a box."""
        return self._link(axis) * (2 if extent % self.sides[axis] == 0 else 1)
