"""A three-dimensional torus of packet links: all-reduces on the boxes that are its slices.

It is no member of the `Fabric` union: its plans hold on boxes only, which neither the solver nor the check can ask of
a job. It serves the study of slices and comparisons of closed forms.
"""

from math import prod

from pydantic import Field

from costmodel.fabrics.base import NO_PLAN, LinkPlan
from costmodel.spec import BytesPerSecond, Seconds, Spec

Sides = tuple[int, int, int]


class Torus(Spec):
    """Accelerators on a grid of `sides` with one link to each neighbour, and a wrap along each axis."""

    sides: tuple[int, int, int] = Field(min_length=3, max_length=3)
    """accelerators along each axis, at least 1"""
    link_bandwidth_bytes_per_s: BytesPerSecond
    """one link, one direction; an accelerator has two links along an axis"""
    alpha_s: Seconds
    """of one step between neighbours"""

    def all_reduces(self, box: Sides) -> tuple[LinkPlan, ...]:
        """Bucket all-reduces of a box: the axes one after the other, and as many chunks rotated over the axes.

        Along an axis the ranks form a ring of both directions where the box spans it, else a line whose links carry
        the ring there and back, at half the rate. Rotated chunks change axes together, so that a phase lasts as long as
        its slowest axis. On a cube of side a with d axes the latter is 2 d (a - 1) alpha + 2 (n - 1) / n S / B, B being
        the bandwidth of all 2 d links.
        """
        axes = [(side, self._rate(side, length)) for side, length in zip(self._checked(box), self.sides, strict=True)]
        used = [axis for axis in axes if axis[0] > 1]
        if not used:
            return (NO_PLAN,)
        ranks = prod(box)
        one_by_one = self._plan(ranks, [used])
        if len(used) == 1:
            return (one_by_one,)
        return one_by_one, self._plan(ranks, [used[k:] + used[:k] for k in range(len(used))])

    def _plan(self, ranks: int, orders: list[list[tuple[int, float]]]) -> LinkPlan:
        """Equal chunks, each along the axes in its own order; every phase waits for the slowest chunk."""
        steps, seconds_per_byte = 0, 0.0
        left = [1.0 / len(orders)] * len(orders)
        for phase in zip(*orders, strict=True):
            steps += max(side - 1 for side, _ in phase)
            slowest = max(share * (side - 1) / side / rate for share, (side, rate) in zip(left, phase, strict=True))
            seconds_per_byte += slowest
            left = [share / side for share, (side, _) in zip(left, phase, strict=True)]
        sent = 2 * (ranks - 1) / ranks
        return LinkPlan("ring", ranks, 2 * steps * self.alpha_s, 2 * seconds_per_byte, sent)

    def _rate(self, side: int, length: int) -> float:
        """Bytes per second that a rank sends along an axis of a box."""
        return self.link_bandwidth_bytes_per_s * (2 if side == length else 1)

    def _checked(self, box: Sides) -> Sides:
        if not all(1 <= side <= length for side, length in zip(box, self.sides, strict=True)):
            raise ValueError(f"box: {box} does not lie in a torus of {self.sides}; give sides from 1 to those")
        return box
