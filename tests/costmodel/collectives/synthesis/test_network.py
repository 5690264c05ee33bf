"""Routes over switches, and distances."""

import numpy as np
import pytest

from costmodel.collectives.synthesis.network import Link, Network
from tests.costmodel.collectives.synthesis.networks import path, star


def test_routes_pass_switches_alone() -> None:
    assert {(route.source, route.destination) for route in path(3).routes} == {(0, 1), (1, 0), (1, 2), (2, 1)}
    assert len(star(3).routes) == 6
    assert {len(route.links) for route in star(3).routes} == {2}


def test_a_route_is_as_fast_as_its_slowest_link() -> None:
    network = Network("n", 2, 1, (Link(0, 2, 4.0, 0.5), Link(2, 1, 2.0, 0.25)))
    (route,) = network.routes
    assert (route.busy_s(8.0), route.time_s(8.0)) == (4.0, 4.75)


def test_distances_go_over_ranks() -> None:
    assert path(4).distances_s(2.0).tolist() == [[0, 2, 4, 6], [2, 0, 2, 4], [4, 2, 0, 2], [6, 4, 2, 0]]
    assert np.isinf(Network("n", 2, 0, (Link(0, 1, 1.0, 0.0),)).distances_s(1.0)[1, 0])


def test_links_turned_round_keep_their_numbers() -> None:
    network = star(3)
    turned = network.reversed()
    assert [(link.source, link.destination) for link in turned.links] == [
        (link.destination, link.source) for link in network.links
    ]
    assert turned.reversed() == network


def test_only_short_routes_are_kept() -> None:
    """Of two ways over switches that of fewer links comes first."""
    links = ((0, 2), (2, 1), (2, 3), (3, 1))
    network = Network("n", 2, 2, tuple(Link(a, b, 1.0, 0.0) for a, b in links))
    assert [len(route.links) for route in network.routes] == [2, 3]
    with pytest.raises(IndexError):
        network.route((9,))
