"""Bounds on networks against every cut, and on networks whose best times are known."""

from itertools import combinations

import pytest
from hypothesis import given, settings

from costmodel.collectives.ladder import Collective
from costmodel.collectives.synthesis.bounds import bound_of
from costmodel.collectives.synthesis.network import Network
from tests.costmodel.collectives.synthesis.networks import networks, path, ring, star


def _fullest_cut_s(network: Network, given_bytes: float) -> float:
    """Of all sets of nodes that leave a rank out, latency left out."""
    most_s = 0.0
    for size in range(1, network.nodes):
        for part in map(set, combinations(range(network.nodes), size)):
            inside = sum(node < network.ranks for node in part)
            out = [link.bytes_per_s for link in network.links if link.source in part and link.destination not in part]
            if 0 < inside < network.ranks:
                most_s = max(most_s, inside * given_bytes / sum(out))
    return most_s


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(network=networks(5))
def test_the_bound_of_an_all_gather_is_its_fullest_cut(network: Network) -> None:
    message_bytes = 1e12
    fullest_s = _fullest_cut_s(network, message_bytes / network.ranks)
    assert bound_of(network, "all_gather", message_bytes).time_s == pytest.approx(fullest_s, rel=1e-6)
    turned_s = _fullest_cut_s(network.reversed(), message_bytes / network.ranks)
    assert bound_of(network, "reduce_scatter", message_bytes).time_s == pytest.approx(turned_s, rel=1e-6)


@pytest.mark.parametrize(
    ("network", "collective", "seconds"),
    [
        (ring(4), "all_gather", 1.5),
        (ring(4), "all_reduce", 3.0),
        (ring(4), "broadcast", 2.0),
        (ring(4), "all_to_all", 1.5),
        (star(4), "all_gather", 3.0),
        (star(4), "all_reduce", 6.0),
        (path(4), "all_gather", 3.0),
        (path(4), "all_to_all", 3.0),
    ],
)
def test_bounds_by_hand(network: Network, collective: Collective, seconds: float) -> None:
    """Four bytes on each rank, links of one byte a second. On a ring what three give to one comes over two links."""
    assert bound_of(network, collective, 4.0).time_s == pytest.approx(seconds)


def test_without_bytes_latency_is_left() -> None:
    assert bound_of(ring(4), "all_gather", 0.0).time_s == 0.0
