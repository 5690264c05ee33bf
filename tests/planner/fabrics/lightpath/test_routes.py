"""Ways over fibers: chains of servers against a plain search of paths, and first fit over third servers."""

from itertools import pairwise
from random import Random
from typing import Any

import networkx as nx
import pytest

from planner.fabrics.lightpath.routes import Routes
from planner.fabrics.lightpath.rwa import Spectrum
from planner.model.cluster import Cluster
from planner.model.plan import Circuit
from tests.costmodel.pricing.score_cases import LIGHTPATH
from tests.planner.fabrics.lightpath.rwa_cases import light_of, lone_circuit, pair_of

ROW = [
    {"from": a, "to": b, "count": count}
    for a, b, count in (("s0", "s1", 2), ("s1", "s0", 1), ("s1", "s2", 1), ("s2", "s1", 1))
]


def cluster_of(**changes: Any) -> Cluster:
    health = changes.pop("health", {})
    fabric = LIGHTPATH | {"wavelengths_per_fiber": 4} | changes
    return Cluster.model_validate({"device": "h100-sxm", "fabric": fabric, "health": health})


def random_cluster(seed: int) -> Cluster:
    rng = Random(seed)
    names = [f"s{i}" for i in range(6)]
    pairs = [(a, b) for a in names for b in names if a != b and rng.random() < 0.4]
    bundles = [{"from": a, "to": b, "count": rng.randint(1, 2)} for a, b in pairs]
    return cluster_of(servers=6, fibers=bundles, transit=rng.randint(0, 4))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_chains_are_the_simple_paths_the_shortest_first(seed: int) -> None:
    cluster = random_cluster(seed)
    ways, graph = Routes(cluster), nx.DiGraph()
    graph.add_nodes_from(range(6))
    graph.add_edges_from((a, b) for a in range(6) for b in range(6) if cluster.healthy_fibers(a, b))
    for a in range(6):
        for b in range(6):
            if a == b:
                assert [*ways.chains(a, b)] == [(a,)]
                assert ways.routes(a, b) == ((),)
                continue
            chains = [*ways.chains(a, b)]
            cutoff = ways.fabric.transit + 1
            assert sorted(chains) == sorted(map(tuple, nx.all_simple_paths(graph, a, b, cutoff=cutoff)))
            assert [len(chain) for chain in chains] == sorted(len(chain) for chain in chains)
            assert ways.joins(a, b) == bool(chains)
            assert len(ways.routes(a, b)) == sum(
                _product(len(ways.fibers(*pair)) for pair in pairwise(chain)) for chain in chains
            )
            assert len(ways.routes(a, b)) <= ways.most_routes(a, b)
            if ways.may_cross and nx.has_path(graph, a, b):
                assert ways.hops[a][b] == nx.shortest_path_length(graph, a, b)


def _product(counts: Any) -> int:
    result = 1
    for count in counts:
        result *= count
    return result


@pytest.mark.parametrize(("transit", "fits"), [(0, False), (1, True)])
def test_first_fit_crosses_a_server_where_it_may(transit: int, fits: bool) -> None:
    light = light_of(servers=3, fibers=ROW, transit=transit)
    routed = light.route(pair_of(2), [(0, 0), (2, 0)])
    assert (routed is not None) == fits
    if routed is not None:
        assert [c.fibers for c in routed[0].circuits] == [("s0>s1#0", "s1>s2#0"), ("s2>s1#0", "s1>s0#0")]
        assert light.room(0, 2) == light.room(2, 0) == 4


def test_first_fit_takes_a_direct_fiber_first_and_then_the_way_round() -> None:
    light = light_of(servers=3, fibers=1, transit=1)
    found = []
    for _ in range(3):
        routed = light.route(pair_of(4), [(0, 0), (2, 0)])
        found.append(None if routed is None else routed[0].circuits[0].fibers)
        if routed is not None:
            light.commit(routed)
    assert found == [("s0>s2#0",), ("s0>s1#0", "s1>s2#0"), None]


def test_light_that_crosses_takes_all_fibers_and_waveguides_on_the_way() -> None:
    """In s1 it walks from slot 1 to slot 0."""
    light = light_of(servers=3, fibers=ROW, transit=1, waveguides="shared")
    light.commit([lone_circuit("s0.t0", "s2.t1", (2,), "s0>s1#1", "s1>s2#0")])
    assert light.taken == {
        (0, 1, 1): 4, (1, 2, 0): 4, ("tile", 0, 0, 1): 4, ("tile", 1, 1, 0): 4, ("tile", 2, 0, 1): 4,
    }  # fmt: skip
    names = [light.routes.name(guide) for guide in light.guides_of(_circuit())]
    assert names[:2] == ["fiber s0>s1#1", "fiber s1>s2#0"]
    assert names[3] == "waveguide s1.t1 to s1.t0"


def _circuit() -> Circuit:
    return Circuit(source="s0.t0", destination="s2.t1", wavelengths=(2,), fibers=("s0>s1#1", "s1>s2#0"))


@pytest.mark.parametrize(("budget", "fits"), [("2.5 dB", True), ("2.4 dB", False)])
def test_the_budget_caps_the_length_of_the_way(budget: str, fits: bool) -> None:
    """Two fibers of 1 dB, and two boundaries of 0.25 dB from slot 2 to the first fiber."""
    light = light_of(
        servers=3, fibers=ROW, transit=1, loss_per_tile="0.25 dB", loss_per_fiber="1 dB", loss_budget=budget
    )
    assert (light.route(pair_of(2), [(0, 2), (2, 0)]) is not None) == fits


def test_first_fit_spares_failed_lasers_and_receivers() -> None:
    lost = {
        "failed_lasers": [{"tile": "s0.t0", "wavelength": 1}],
        "failed_receivers": [{"tile": "s0.t1", "wavelength": 0}],
    }
    light = Spectrum(cluster_of(wavelengths_per_tile=8, health=lost))
    routed = light.route(pair_of(4), [(0, 0), (0, 1)])
    assert routed is not None
    assert [c.wavelengths for c in routed[0].circuits] == [(2, 3, 4, 5), (0, 1, 2, 3)]
    assert light.route(pair_of(8), [(0, 0), (0, 1)]) is None
