"""Flows of all-to-alls on networks whose best ones are known."""

import pytest

from costmodel.collectives.synthesis.network import Network
from planner.synthesis.exchange_flows import exchange_flows
from tests.costmodel.collectives.synthesis.networks import network_of, path, ring, star


@pytest.mark.parametrize(
    ("network", "seconds"),
    [
        (star(5), 4.0),
        (path(4), 4.0),
        (ring(4), 2.0),
        (ring(5), 3.0),
        (network_of(4, [(a, b) for a in range(4) for b in range(a)], rate=2.0), 0.5),
    ],
)
def test_the_busiest_link(network: Network, seconds: float) -> None:
    """One byte for each pair. A ring of n carries n^2 / 8 bytes on each link, or (n^2 - 1) / 8 where n is odd."""
    found = exchange_flows(network, 10.0)
    assert found is not None
    assert found.seconds_per_byte == pytest.approx(seconds)
    held_s = found.flows.sum(axis=0) / [link.bytes_per_s for link in network.links]
    assert held_s.max() == pytest.approx(seconds)
