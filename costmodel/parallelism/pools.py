"""Two pools of replicas, of prompts and of tokens: who hands caches to whom, so that all of a side do as much."""

from functools import cache

Pairs = tuple[tuple[int, int], ...]
"""(replica of prompts, replica of tokens), the latter counted from 0"""


@cache
def transfer_pairs(prefill: int, decode: int) -> Pairs:
    """As few pairs as even work on both sides allows: P + D - gcd(P, D).

    Sender i makes the i-th of P equal parts of all caches, receiver j takes the j-th of D: those whose parts overlap
    are a pair. Pairs of one replica, of either side, follow each other.
    """
    return tuple((i, j) for i in range(prefill) for j in range(i * decode // prefill, -(-(i + 1) * decode // prefill)))


@cache
def most_peers(prefill: int, decode: int) -> int:
    """Most pairs of one replica."""
    ends = [[pair[side] for pair in transfer_pairs(prefill, decode)] for side in (0, 1)]
    return max(side.count(replica) for side in ends for replica in set(side))
