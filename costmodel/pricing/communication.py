"""Messages of candidates: times by the plans of their dimensions, what operators hide, switches, energy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase, GroupPlan
from costmodel.fabrics.across_racks import upper_energy
from costmodel.parallelism.mappings import DIMENSIONS, Floats, Ints
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.efficiency import TRAINING_LINK, Efficiency
from costmodel.pricing.opgraph import OpGraph
from costmodel.pricing.recently import Recently
from costmodel.pricing.totals import Totals


@dataclass(frozen=True)
class Sent:
    """Communication of candidates; columns of shape (5, C), by DIMENSIONS, and (C,)."""

    exposed_s: Floats
    sent_bytes: Floats
    """of the mean stage"""
    near_bytes: Floats
    """of these, what stays in servers of groups that do not"""
    repeated_s: Floats
    """inside the bubble"""
    upper_j: Floats
    """joules of a rank for what goes to other racks, shape (C,)"""
    hidden_s: Floats
    """of messages, behind operators, shape (C,)"""


@dataclass(frozen=True)
class LinkLimits:
    """What messages meet beside what their plans say."""

    slower: float
    """time of a byte over that of its plan, in groups that lie in one server"""
    is_confined: NDArray[np.bool_]
    """whether groups do, shape (5, C)"""
    byte_s: float
    """least time of a byte that a device sends over the links of its server, wherever it goes; 0 where unknown"""
    copies: Floats | float
    """what is sent to experts over the size of messages, shape (C,)"""

    @classmethod
    def of(cls, graph: OpGraph, fabric: FabricBase, efficiency: Efficiency, is_confined: NDArray[np.bool_]) -> Self:
        """Of groups that lie in one server or not, shape (5, C): training's collectives do not reach the links' peak,
        and inside a server, or where nothing passes tokens on inside one, a token goes to each of its experts."""
        is_expert = is_confined[DIMENSIONS.index("expert")] | (fabric.node_bytes_per_s is None)
        copies = 1.0 if graph.copies_inside == 1.0 else np.where(is_expert, graph.copies_inside, 1.0)
        peak = fabric.node_bytes_per_s
        if peak is None or graph.regime != "training":
            return cls(1.0, is_confined, 0.0, copies)
        reached = min(efficiency.link_bytes_per_s or TRAINING_LINK * peak, peak)
        return cls(peak / reached, is_confined, 1.0 / reached, copies)

    def seconds_per_byte(self, axis: int, plan: Ints, own_s: Floats, sent: Floats) -> Floats:
        """Of messages along an axis of DIMENSIONS under these plans, shape (C,); every plan has a time of its own and
        sends so many bytes for each of a message."""
        least_s = self.byte_s * sent
        if self.slower == 1.0:
            return np.asarray(np.maximum(own_s, least_s).take(plan))
        of_both = np.concatenate([np.maximum(own_s, least_s), np.maximum(self.slower * own_s, least_s)])
        return np.asarray(of_both.take(plan + len(own_s) * self.is_confined[axis]))


def communication(candidates: Candidates, graph: OpGraph, sums: Totals, operator_s: Floats, links: LinkLimits) -> Sent:
    """Messages by the plans of their dimensions, less what operators hide: no more hides than these take."""
    m, of_plans = candidates.mapping, _PlanColumns.of(candidates.plans)
    seconds, sent, near = np.zeros((3, len(DIMENSIONS), len(m)))
    repeated: dict[int, Floats] = {}
    hidden_s, upper_j = np.zeros((2, len(m)))
    hides = [_of_rows(graph.overlap.get(dimension, 0.0), m) for dimension in DIMENSIONS]
    for axis, each in sums.messages.items():
        plan = candidates.plan[axis]
        often = links.copies if DIMENSIONS[axis] == "expert" else 1.0
        latency, size = of_plans.latency_s.take(plan), each.size_bytes.take(m)
        per_byte = often * links.seconds_per_byte(axis, plan, of_plans.per_byte_s, of_plans.sent_per_byte)
        seconds[axis] = each.starts.take(m) * latency + size * per_byte
        if each.is_repeated:
            repeated[axis] = each.repeated_starts.take(m) * latency + each.repeated_bytes.take(m) * per_byte
        if graph.kernels is not None:
            rows = np.flatnonzero((of_plans.node_bytes_per_s[plan] > 0) & (each.count[m] > 0))
            number, ranks = each.count[m[rows]], of_plans.ranks[plan[rows]]
            each_s = graph.kernels.all_reduce_s(ranks, size[rows] / number, of_plans.node_bytes_per_s[plan[rows]])
            seconds[axis, rows] = number * each_s
            if each.is_repeated:
                repeated[axis][rows] = each.repeated_count[m[rows]] * each_s
        mean = often * each.mean_bytes.take(m)
        sent[axis] = mean * of_plans.sent_per_byte.take(plan)
        near[axis] = sent[axis] * of_plans.near_share.take(plan)
        if of_plans.upper_j_per_byte.any():
            upper_j += mean * of_plans.upper_j_per_byte.take(plan)
        if np.any(hides[axis]):
            hidden_s += hides[axis] * seconds[axis]
    room = np.divide(operator_s, hidden_s, out=np.ones_like(hidden_s), where=hidden_s > operator_s)
    for axis in sums.messages:
        if np.any(hides[axis]):
            shown = 1 - hides[axis] * room
            seconds[axis] *= shown
            if axis in repeated:
                repeated[axis] *= shown
    repeated_s = sum((repeated[axis] for axis in sorted(repeated)), np.zeros(len(m)))
    return Sent(seconds, sent, near, repeated_s, upper_j, np.minimum(hidden_s, operator_s))


@dataclass(frozen=True)
class _PlanColumns:
    """What plans cost and are, one entry a plan."""

    latency_s: Floats
    per_byte_s: Floats
    sent_per_byte: Floats
    node_bytes_per_s: Floats
    ranks: Floats
    near_share: Floats
    upper_j_per_byte: Floats

    @classmethod
    def of(cls, plans: Sequence[GroupPlan]) -> "_PlanColumns":
        """Found once for all chunks of rows with the same plans."""
        return _RECENT.of(id(plans), lambda: (plans, cls._of(plans)))[1]

    @classmethod
    def _of(cls, plans: Sequence[GroupPlan]) -> Self:
        rows = [
            (
                p.latency_s,
                p.seconds_per_byte,
                p.bytes_per_byte,
                p.node_bytes_per_s,
                p.ranks,
                p.near_share,
                upper_energy(p),
            )
            for p in plans
        ]
        return cls(*np.array(rows, np.float64).reshape(-1, 7).T.copy())


_RECENT = Recently[int, tuple[Sequence[GroupPlan], _PlanColumns]](4)
"""by the identity of the plans, which are kept beside their columns"""


def _of_rows(share: float | Floats, mapping: NDArray[np.integer[Any]]) -> float | Floats:
    """Of all rows, or of each by its mapping."""
    return share.take(mapping) if isinstance(share, np.ndarray) else share


def network_j(is_confined: NDArray[np.bool_], fabric: FabricBase, sent_bytes: Floats, near_bytes: Floats) -> Floats:
    """Joules per accelerator and step: what each dimension sends times the energy of its reach.

    All of a group in one server is near, and `near_bytes` of the others; shapes (5, C).
    """
    near, far = fabric.network_j_per_byte(True), fabric.network_j_per_byte(False)
    inside = np.where(is_confined, sent_bytes, near_bytes)
    return np.asarray((inside * near + (sent_bytes - inside) * far).sum(axis=0))
