"""Alpha-beta time of each collective algorithm, and lower bounds.

Conventions of this module. A message of `message_bytes` is the whole buffer of one rank: the input of an
all-reduce, reduce-scatter or all-to-all, the output of an all-gather or broadcast. `link_bytes_per_s` is
the egress of one rank over all its links, in one direction; it receives as fast as it sends. `alpha_s` is
the fixed time of a round. Every argument is a number or an array, all broadcast to (C,), and the result is
in seconds. `radices` has one more axis, (C, m), shorter rows being padded with 1; the number of ranks n is
their product. One rank alone takes no time. S is the message, B the egress, k the number of peers.

On a wavelength-switched fabric a rank splits its `wavelengths` evenly over the peers of a round, and
`alpha_s` includes the reconfiguration wherever every round sets up its own circuits, as in Vijaya Kumar et
al., Chip-to-chip photonic connectivity in multi-accelerator servers for ML, section 4. Circuits that are
held over several rounds are priced in `costmodel.collectives`.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = float | NDArray[np.float64]
Counts: TypeAlias = int | NDArray[np.int64] | Floats
Radices: TypeAlias = Sequence[int] | NDArray[np.int64]


def ceil_log(count: Counts, base: Counts) -> NDArray[np.float64]:
    """Fewest rounds t with base**t >= count, for integers count < 1e7 and base >= 2."""
    return np.ceil(np.log(count) / np.log(base) - 1e-9)


def quantization_factor(radix: Counts, wavelengths: Counts) -> NDArray[np.float64]:
    """Slowdown from giving each of radix - 1 peers a whole number of wavelengths: W / (k floor(W / k)).

    1 when k = radix - 1 divides W. Shapes: arrays broadcast to (C,); radix 1 has no peer and factor 1.
    Raises ValueError if a rank has more peers than wavelengths.
    """
    peers = np.maximum(radix, 2) - 1.0
    if np.any(peers > wavelengths):
        raise ValueError("radix: a rank cannot have more peers than wavelengths")
    return np.asarray(wavelengths / (peers * np.floor(wavelengths / peers)), dtype=np.float64)


def _messages_sent(radices: Radices, wavelengths: Counts) -> NDArray[np.float64]:
    """Link time of one whole message to each peer of a round, in messages: q(r) (r - 1), shape (C, m)."""
    radix = np.asarray(radices, dtype=np.float64)
    return quantization_factor(radix, np.asarray(wavelengths)[..., None]) * (radix - 1)


def _num_rounds(radices: Radices) -> NDArray[np.float64]:
    """Number of radices above 1, shape (C,)."""
    return np.asarray(np.count_nonzero(np.asarray(radices) > 1, axis=-1), dtype=np.float64)


def ring_reduce_scatter_s(message_bytes: Floats, ranks: Counts, alpha_s: Floats, link_bytes_per_s: Floats) -> Floats:
    """Time of a ring reduce-scatter, or of the all-gather that mirrors it: n - 1 steps of 1/n of the message.

    Shapes: arrays broadcast to (C,). Assumes equal links without contention.
    Source: Patarasuk and Yuan, J. Parallel Distrib. Comput. 69 (2009).
    """
    steps = np.asarray(ranks, dtype=np.float64) - 1
    return steps * (alpha_s + message_bytes / (steps + 1) / link_bytes_per_s)


ring_all_gather_s = ring_reduce_scatter_s


def ring_all_reduce_s(message_bytes: Floats, ranks: Counts, alpha_s: Floats, link_bytes_per_s: Floats) -> Floats:
    """Time of a ring all-reduce: 2(n - 1) steps, each moving 1/n of the message.

    Shapes, assumptions and source as in `ring_reduce_scatter_s`.
    """
    return 2 * ring_reduce_scatter_s(message_bytes, ranks, alpha_s, link_bytes_per_s)


def binomial_tree_all_reduce_s(
    message_bytes: Floats, ranks: Counts, alpha_s: Floats, link_bytes_per_s: Floats
) -> Floats:
    """Time of an all-reduce over one unpipelined binomial tree: 2 ceil(log2 n) (alpha + S/B).

    Shapes: arrays broadcast to (C,).
    Source: Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19 (2005).
    """
    return 2 * ceil_log(ranks, 2) * (alpha_s + message_bytes / link_bytes_per_s)


def pipelined_tree_all_reduce_s(
    message_bytes: Floats, ranks: Counts, alpha_s: Floats, link_bytes_per_s: Floats
) -> Floats:
    """Time of an all-reduce over one tree, the message in k chunks: min_k 2(h + k - 1)(alpha + S/(kB)).

    h = ceil(log2 n). Convex in k, so the best whole k is next to sqrt((h - 1) S / (B alpha)); a chunk has
    at least one byte. Shapes: arrays broadcast to (C,).
    Source: Chan, Heimlich, Purkayastha and van de Geijn, Concurr. Comput. 19 (2007).
    """
    height = ceil_log(ranks, 2)
    transfer_s = message_bytes / link_bytes_per_s
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ideal = np.sqrt(np.maximum(height - 1, 0) * transfer_s / alpha_s)
    fewer = np.floor(np.fmax(np.fmin(ideal, message_bytes), 1))
    more = np.fmin(fewer + 1, np.fmax(np.floor(message_bytes), 1))
    fewer_s, more_s = (2 * (height + k - 1) * (alpha_s + transfer_s / k) for k in (fewer, more))
    return np.where(height > 0, np.minimum(fewer_s, more_s), 0.0)


def double_tree_all_reduce_s(message_bytes: Floats, ranks: Counts, alpha_s: Floats, link_bytes_per_s: Floats) -> Floats:
    """Ideal limit of a pipelined double binary tree all-reduce: 2 ceil(log2 n) alpha + 2 S/B.

    No schedule attains it: as if chunks were infinitely many and their latency free.
    Shapes: arrays broadcast to (C,). Source: Sanders, Speck and Träff, Parallel Comput. 35 (2009).
    """
    height = ceil_log(ranks, 2)
    return 2 * (height * alpha_s + (height > 0) * message_bytes / link_bytes_per_s)


def mixed_radix_reduce_scatter_s(
    message_bytes: Floats, radices: Radices, alpha_s: Floats, link_bytes_per_s: Floats, wavelengths: Counts
) -> Floats:
    """Time of a recursive reduce-scatter: sum_i alpha + q(r_i) (r_i - 1) / (r_1 ... r_i) S/B.

    The all-gather that mirrors it, rounds in reverse, takes as long.
    All 2s is recursive halving (Lumorph-2), all 4s quartering (Lumorph-4).
    Shapes: radices (C, m), the others broadcast to (C,). Source: Vijaya Kumar et al., section 4.
    """
    per_round = _messages_sent(radices, wavelengths) / np.cumprod(radices, axis=-1)
    share = np.asarray(per_round.sum(axis=-1), dtype=np.float64)
    return _num_rounds(radices) * alpha_s + share * message_bytes / link_bytes_per_s


mixed_radix_all_gather_s = mixed_radix_reduce_scatter_s


def mixed_radix_all_reduce_s(
    message_bytes: Floats, radices: Radices, alpha_s: Floats, link_bytes_per_s: Floats, wavelengths: Counts
) -> Floats:
    """Time of a recursive reduce-scatter and its all-gather.

    Shapes, assumptions and source as in `mixed_radix_reduce_scatter_s`.
    """
    return 2 * mixed_radix_reduce_scatter_s(message_bytes, radices, alpha_s, link_bytes_per_s, wavelengths)


def full_exchange_all_reduce_s(
    message_bytes: Floats, radices: Radices, alpha_s: Floats, link_bytes_per_s: Floats, wavelengths: Counts
) -> Floats:
    """Time of an all-reduce that sends whole messages to all peers: sum_i alpha + q(r_i) (r_i - 1) S/B.

    Half the rounds of `mixed_radix_all_reduce_s`, for short messages. Shapes: radices (C, m), the others
    broadcast to (C,). Source: recursive doubling of Thakur, Rabenseifner and Gropp (2005), in any radix.
    """
    num_messages = np.asarray(_messages_sent(radices, wavelengths).sum(axis=-1), dtype=np.float64)
    return _num_rounds(radices) * alpha_s + num_messages * message_bytes / link_bytes_per_s


def tree_broadcast_s(
    message_bytes: Floats,
    ranks: Counts,
    peers: Counts,
    alpha_s: Floats,
    link_bytes_per_s: Floats,
    wavelengths: Counts,
) -> Floats:
    """Time of a broadcast in which each informed rank informs k others: ceil(log_{k+1} n) rounds.

    A round takes alpha + q(k + 1) k S/B. Shapes: arrays broadcast to (C,).
    Source: Chan et al. (2007), with k ports.
    """
    num_messages = quantization_factor(peers + 1, wavelengths) * peers
    return ceil_log(ranks, peers + 1) * (alpha_s + num_messages * message_bytes / link_bytes_per_s)


def scatter_all_gather_broadcast_s(
    message_bytes: Floats, radices: Radices, alpha_s: Floats, link_bytes_per_s: Floats, wavelengths: Counts
) -> Floats:
    """Time of a broadcast of a long message: a mixed-radix scatter, then an all-gather.

    A round of the scatter sends what a round of the reduce-scatter does, from the ranks that hold data.
    Shapes: radices (C, m), the others broadcast to (C,). Source: Chan et al. (2007).
    """
    return 2 * mixed_radix_all_gather_s(message_bytes, radices, alpha_s, link_bytes_per_s, wavelengths)


def direct_all_to_all_s(
    message_bytes: Floats,
    ranks: Counts,
    peers: Counts,
    alpha_s: Floats,
    link_bytes_per_s: Floats,
    wavelengths: Counts,
) -> Floats:
    """Time of an all-to-all straight to each destination: ceil((n - 1)/k) rounds to k peers each.

    A round takes alpha + q(k + 1) k S/(nB), the last one too. Shapes: arrays broadcast to (C,).
    Source: Thakur, Rabenseifner and Gropp (2005), pairwise exchange with k ports.
    """
    share = quantization_factor(peers + 1, wavelengths) * peers / ranks
    return np.ceil((ranks - 1) / peers) * (alpha_s + share * message_bytes / link_bytes_per_s)


def bruck_all_to_all_s(
    message_bytes: Floats,
    ranks: Counts,
    radix: Counts,
    alpha_s: Floats,
    link_bytes_per_s: Floats,
    wavelengths: Counts,
) -> Floats:
    """Time of a relayed all-to-all: ceil(log_r n) rounds of alpha + q(r) (r - 1)/r S/B.

    Exact when n is a power of r, else an estimate. Shapes: arrays broadcast to (C,).
    Source: Bruck, Ho, Kipnis, Upfal and Weathersby, IEEE Trans. Parallel Distrib. Syst. 8 (1997).
    """
    share = quantization_factor(radix, wavelengths) * (radix - 1) / radix
    return ceil_log(ranks, radix) * (alpha_s + share * message_bytes / link_bytes_per_s)


def torus_all_reduce_s(
    message_bytes: Floats, side: Counts, dimensions: Counts, alpha_s: Floats, link_bytes_per_s: Floats
) -> Floats:
    """Time of the bidirectional bucket all-reduce on a torus of n = a^d: 2d(a - 1) alpha + 2(n - 1)/n S/B.

    d chunks go through the dimensions in rotated order, so all 2d links work all the time.
    Shapes: arrays broadcast to (C,). Source: Sack and Gropp, ACM Trans. Parallel Comput. 1 (2015).
    """
    share = 1 - np.asarray(side, dtype=np.float64) ** -dimensions
    return 2 * (dimensions * (side - 1) * alpha_s + share * message_bytes / link_bytes_per_s)


def sipac_all_reduce_s(
    message_bytes: Floats, radix: Counts, levels: Counts, alpha_s: Floats, link_bytes_per_s: Floats
) -> Floats:
    """Time of an all-reduce on SiPAC(r, l), n = r^l: 2 l alpha + 2 (n - 1)/n S/B, in l rotated chunks.

    Digit-i neighbours form a complete graph on 1/l of a rank's links. Shapes: arrays broadcast to (C,).
    Source: Wu, Dai, Wang, Wang and Bergman, J. Opt. Commun. Netw. (2024); BCube of Guo et al. (2009).
    """
    num_rounds = levels * np.asarray(radix > 1, dtype=np.float64)
    share = 1 - np.asarray(radix, dtype=np.float64) ** -levels
    return 2 * (num_rounds * alpha_s + share * message_bytes / link_bytes_per_s)


def sipac_static_all_reduce_s(
    message_bytes: Floats, radix: Counts, levels: Counts, alpha_s: Floats, link_bytes_per_s: Floats
) -> Floats:
    """Time of an all-reduce on SiPAC(r, l), one dimension at a time: 2 l alpha + 2 l (n - 1)/n S/B.

    Only 1/l of the links work at a time. Shapes and source as in `sipac_all_reduce_s`.
    """
    return sipac_all_reduce_s(message_bytes, radix, levels, alpha_s, link_bytes_per_s / levels)


def latency_bound_s(ranks: Counts, peers: Counts, alpha_s: Floats) -> Floats:
    """Least time for data of one rank to reach all, or of all to reach one: ceil(log_{k+1} n) alpha.

    A rank has at most k peers in a round. Shapes: arrays broadcast to (C,).
    Source: Chan, Heimlich, Purkayastha and van de Geijn (2007), section 3, with k ports.
    """
    return ceil_log(ranks, peers + 1) * alpha_s


def reduce_scatter_bound_s(
    message_bytes: Floats, ranks: Counts, peers: Counts, alpha_s: Floats, link_bytes_per_s: Floats
) -> Floats:
    """Lower bound of a reduce-scatter, all-gather or all-to-all: max(`latency_bound_s`, (n - 1)/n S/B).

    Shapes and source as in `latency_bound_s`.
    """
    transfer_s = (1 - 1 / ranks) * message_bytes / link_bytes_per_s
    return np.maximum(latency_bound_s(ranks, peers, alpha_s), transfer_s)


all_gather_bound_s = reduce_scatter_bound_s
all_to_all_bound_s = reduce_scatter_bound_s


def all_reduce_bound_s(
    message_bytes: Floats, ranks: Counts, peers: Counts, alpha_s: Floats, link_bytes_per_s: Floats
) -> Floats:
    """Lower bound of an all-reduce: max(`latency_bound_s`, 2(n - 1)/n S/B).

    Shapes and source as in `latency_bound_s`.
    """
    return reduce_scatter_bound_s(2 * message_bytes, ranks, peers, alpha_s, link_bytes_per_s)


def broadcast_bound_s(
    message_bytes: Floats, ranks: Counts, peers: Counts, alpha_s: Floats, link_bytes_per_s: Floats
) -> Floats:
    """Lower bound of a broadcast: max(`latency_bound_s`, S/B).

    Shapes and source as in `latency_bound_s`.
    """
    transfer_s = np.where(np.asarray(ranks) > 1, message_bytes / link_bytes_per_s, 0.0)
    return np.maximum(latency_bound_s(ranks, peers, alpha_s), transfer_s)
