"""Who hands caches to whom: all of a side do as much, over as few pairs as that allows."""

from fractions import Fraction
from math import gcd

import pytest

from costmodel.parallelism.pools import most_peers, transfer_pairs

SIZES = [(p, d) for p in range(1, 9) for d in range(1, 9)]


@pytest.mark.parametrize(("prefill", "decode"), SIZES)
def test_even_work_flows_over_the_pairs_and_over_no_fewer(prefill: int, decode: int) -> None:
    """What a pair carries is what its parts of one whole have in common."""
    carried = {
        (i, j): min(Fraction(i + 1, prefill), Fraction(j + 1, decode)) - max(Fraction(i, prefill), Fraction(j, decode))
        for i, j in transfer_pairs(prefill, decode)
    }
    assert all(share > 0 for share in carried.values())
    for i in range(prefill):
        assert sum(share for pair, share in carried.items() if pair[0] == i) == Fraction(1, prefill)
    for j in range(decode):
        assert sum(share for pair, share in carried.items() if pair[1] == j) == Fraction(1, decode)
    assert len(carried) == prefill + decode - gcd(prefill, decode)


@pytest.mark.parametrize(("prefill", "decode"), SIZES)
def test_pairs_of_one_replica_follow_each_other(prefill: int, decode: int) -> None:
    pairs = transfer_pairs(prefill, decode)
    for side in (0, 1):
        ends = [pair[side] for pair in pairs]
        assert ends == sorted(ends)
        assert max(map(ends.count, ends)) <= most_peers(prefill, decode)


def test_by_hand() -> None:
    assert transfer_pairs(2, 3) == ((0, 0), (0, 1), (1, 1), (1, 2))
    assert most_peers(2, 3) == 2
    assert transfer_pairs(1, 3) == ((0, 0), (0, 1), (0, 2))
    assert most_peers(1, 3) == most_peers(3, 1) == 3
    assert transfer_pairs(2, 2) == ((0, 0), (1, 1))
