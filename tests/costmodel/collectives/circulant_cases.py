"""Sets of strides that several tests draw."""

from math import gcd

from hypothesis import strategies as st

from costmodel.collectives.circulants import Strides

MOST_PIECES = 60
"""chunks of what a rank gives that a test writes out"""


@st.composite
def groups_and_strides(draw: st.DrawFn, most_ranks: int = 11) -> tuple[int, Strides]:
    """Ranks, and up to four strides that lead to all of them."""
    ranks = draw(st.integers(3, most_ranks))
    strides = tuple(sorted(draw(st.sets(st.integers(1, ranks - 1), min_size=1, max_size=4))))
    return (ranks, strides) if gcd(ranks, *strides) == 1 else (ranks, (1, *(s for s in strides if s != 1)))
