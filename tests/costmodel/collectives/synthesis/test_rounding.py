"""Ways of whole chunks, from flows."""

import numpy as np
import pytest

from costmodel.collectives.synthesis.network import Link, Network
from costmodel.collectives.synthesis.rounding import ways_of
from tests.costmodel.collectives.synthesis.networks import path, ring, star


def test_half_a_flow_takes_half_the_chunks() -> None:
    """On a ring of four what goes to the rank opposite is divided over both sides."""
    network = ring(4)
    flows = np.zeros((4, 8))
    for source in range(4):
        for number, link in enumerate(network.links):
            is_last = link.destination == (source + 2) % 4
            flows[source, number] = 1.5 if link.source == source else 0.5 * is_last
    ways = ways_of(network, flows, 2, np.random.default_rng(0))
    assert len(ways) == 4 * 3 * 2
    load = np.zeros(8)
    for _, way in ways:
        for leg in way:
            load[list(leg)] += 1
    assert load.tolist() == [4.0] * 8


def test_ways_are_cut_at_ranks_alone() -> None:
    ways = dict(ways_of(star(3), np.ones((3, 6)), 1, np.random.default_rng(0)))
    assert {len(way) for way in ways.values()} == {1}
    ways = dict(ways_of(path(3), np.ones((3, 4)), 1, np.random.default_rng(0)))
    assert (len(ways[2]), len(ways[1])) == (2, 1)


def test_without_a_flow_any_way_is_taken_and_none_is_an_error() -> None:
    assert len(ways_of(path(3), np.zeros((3, 4)), 1, np.random.default_rng(0))) == 6
    with pytest.raises(ValueError, match="no way leads from rank 1 to rank 0"):
        ways_of(Network("n", 2, 0, (Link(0, 1, 1.0, 0.0),)), np.zeros((2, 1)), 1, np.random.default_rng(0))
