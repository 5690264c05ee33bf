"""Two pools of replicas, of prompts and of tokens: who hands caches to whom, so that all of a side do as much."""

from functools import cache

Pairs = tuple[tuple[int, int], ...]
"""(place of a rank of prompts, of a rank of tokens), the latter counted from 0"""


@cache
def transfer_pairs(prefill: int, decode: int, senders: int = 1, receivers: int = 1) -> Pairs:
    """As few pairs as even work on both sides allows: P + D - gcd(P, D).

    Sender i makes the i-th of P equal parts of all caches, receiver j takes the j-th of D: those whose parts overlap
    are a pair. Pairs of one replica, of either side, follow each other. Where a replica has several ranks in the group,
    `senders` or `receivers` of them, each is in the pairs of its replica.
    """
    whole = [(i, j) for i in range(prefill) for j in range(i * decode // prefill, -(-(i + 1) * decode // prefill))]
    ranks = [(a, b) for a in range(senders) for b in range(receivers)]
    return tuple((i * senders + a, j * receivers + b) for i, j in whole for a, b in ranks)


@cache
def most_peers(prefill: int, decode: int, senders: int = 1, receivers: int = 1) -> int:
    """Most pairs of one replica, times the ranks that its fellow has in the group: circuits of one width, so many of
    them at a rank, can then be told apart by turns."""
    ends = [[pair[side] for pair in transfer_pairs(prefill, decode)] for side in (0, 1)]
    return max(side.count(replica) for side in ends for replica in set(side)) * senders * receivers
