"""Messages of candidates: times by the plans of their dimensions, what operators hide, switches, energy."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase
from costmodel.fabrics.across_racks import upper_energy
from costmodel.parallelism.mappings import DIMENSIONS, Floats, Ints
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.efficiency import TRAINING_LINK, Efficiency
from costmodel.pricing.opgraph import OpGraph
from costmodel.pricing.totals import Totals


@dataclass(frozen=True)
class Sent:
    """Communication of candidates; columns of shape (5, C), by DIMENSIONS, and (C,)."""

    exposed_s: Floats
    sent_bytes: Floats
    """of the mean stage"""
    repeated_s: Floats
    """inside the bubble"""
    upper_j: Floats
    """joules of a rank for what goes to other racks, shape (C,)"""


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
    m, plans = candidates.mapping, candidates.plans
    latency_s = np.array([plan.latency_s for plan in plans])
    per_byte_s = np.array([plan.seconds_per_byte for plan in plans])
    sent_per_byte = np.array([plan.bytes_per_byte for plan in plans])
    node_bytes_per_s = np.array([plan.node_bytes_per_s for plan in plans])
    num_ranks = np.array([plan.ranks for plan in plans], np.float64)
    j_per_byte = np.array([upper_energy(plan) for plan in plans])
    seconds, repeated, sent = np.zeros((3, len(DIMENSIONS), len(m)))
    hidden_s, upper_j = np.zeros((2, len(m)))
    hides = [_of_rows(graph.overlap.get(dimension, 0.0), m) for dimension in DIMENSIONS]
    for axis, each in sums.messages.items():
        plan = candidates.plan[axis]
        often = links.copies if DIMENSIONS[axis] == "expert" else 1.0
        latency, size = latency_s.take(plan), each.size_bytes.take(m)
        per_byte = often * links.seconds_per_byte(axis, plan, per_byte_s, sent_per_byte)
        seconds[axis] = each.starts.take(m) * latency + size * per_byte
        repeated[axis] = each.repeated_starts.take(m) * latency + each.repeated_bytes.take(m) * per_byte
        if graph.kernels is not None:
            rows = np.flatnonzero((node_bytes_per_s[plan] > 0) & (each.count[m] > 0))
            number, ranks = each.count[m[rows]], num_ranks[plan[rows]]
            each_s = graph.kernels.all_reduce_s(ranks, size[rows] / number, node_bytes_per_s[plan[rows]])
            seconds[axis, rows] = number * each_s
            repeated[axis, rows] = each.repeated_count[m[rows]] * each_s
        mean = often * each.mean_bytes.take(m)
        sent[axis] = mean * sent_per_byte.take(plan)
        if j_per_byte.any():
            upper_j += mean * j_per_byte.take(plan)
        if np.any(hides[axis]):
            hidden_s += hides[axis] * seconds[axis]
    room = np.divide(operator_s, hidden_s, out=np.ones_like(hidden_s), where=hidden_s > operator_s)
    for axis in sums.messages:
        if np.any(hides[axis]):
            shown = 1 - hides[axis] * room
            seconds[axis] *= shown
            repeated[axis] *= shown
    return Sent(seconds, sent, repeated.sum(axis=0), upper_j)


def _of_rows(share: float | Floats, mapping: NDArray[np.integer[Any]]) -> float | Floats:
    """Of all rows, or of each by its mapping."""
    return share.take(mapping) if isinstance(share, np.ndarray) else share


def phase_changes_s(m: NDArray[np.integer[Any]], sums: Totals, fabric: FabricBase) -> tuple[Floats, Floats]:
    """Seconds per step spent switching between the circuits of dimensions, and the part inside the bubble.

    What is sent inside layers keeps the circuits of tensor groups, or else those of context groups, between its calls:
    each all-gather or reduce-scatter along context, and each exchange with the experts there and back, switches to its
    own circuits and back. So does a pipeline message between phases of layers, and a data phase beside any other.
    """
    change_s = fabric.phase_change_s()
    none = np.zeros(len(m))
    if change_s == 0.0:
        return none, none
    counts = [sums.messages[axis].count[m] if axis in sums.messages else none for axis in range(len(DIMENSIONS))]
    tensor, pipeline, data, context, expert = (count > 0 for count in counts)
    layers = tensor | context | expert
    visits = counts[1] * (pipeline & layers) + 2 * counts[3] * (context & tensor)
    visits = visits + counts[4] / 2 * (expert & (tensor | context))
    inner = 2 * visits
    outer = 2 * counts[2] * (data & (layers | pipeline))
    return (inner + outer) * change_s, inner * change_s


def network_j(is_confined: NDArray[np.bool_], fabric: FabricBase, sent_bytes: Floats) -> Floats:
    """Joules per accelerator and step: what each dimension sends times the energy of its reach."""
    near, far = fabric.network_j_per_byte(True), fabric.network_j_per_byte(False)
    return np.asarray((sent_bytes * np.where(is_confined, near, far)).sum(axis=0))
