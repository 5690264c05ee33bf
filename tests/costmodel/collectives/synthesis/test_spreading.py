"""Chunks spread as links become free."""

import numpy as np

from costmodel.collectives.synthesis.network import Link, Network
from costmodel.collectives.synthesis.spreading import spread
from tests.costmodel.collectives.synthesis.networks import path

SHORT_CUT = Network("n", 3, 0, (Link(0, 1, 4.0, 0.0), Link(1, 2, 4.0, 0.0), Link(0, 2, 1.0, 0.0)))


def test_each_rank_gets_each_chunk_once() -> None:
    sent = spread(path(4), [0, 0], 1.0, patience=1.0, rng=np.random.default_rng(0))
    assert sorted((each.chunk, each.links) for each in sent) == [(c, (link,)) for c in (0, 1) for link in (0, 1, 2)]


def test_a_slow_route_waits_for_a_better_sender() -> None:
    """Over two fast links a chunk arrives in half the time of the slow one, which stays unused with patience alone."""
    patient = spread(SHORT_CUT, [0], 1.0, patience=1.0, rng=None)
    assert [each.links for each in patient] == [(0,), (1,)]
    hasty = spread(SHORT_CUT, [0], 1.0, patience=0.0, rng=None)
    assert (2,) in [each.links for each in hasty]
