"""Flows over time against networks drawn out over steps of time, by hand, and against schedules."""

from dataclasses import replace
from itertools import product

import networkx as nx
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from costmodel.collectives.ladder import Collective
from costmodel.collectives.synthesis.bounds import bound_of
from costmodel.collectives.synthesis.check import faults_of
from costmodel.collectives.synthesis.network import Link, Network
from costmodel.collectives.synthesis.quickest import quickest_s
from costmodel.collectives.synthesis.trials import PATIENCE, CollectiveQuestion, TrialSettings
from tests.costmodel.collectives.synthesis.networks import networks, path


def _most_bytes(network: Network, sources: set[int], sinks: set[int], steps: int) -> float:
    """That arrive in so many steps of a second, with a node of its own for each rank and step."""
    graph: nx.DiGraph[object] = nx.DiGraph()
    graph.add_nodes_from(["start", "end"])
    for node, step in product(range(network.nodes), range(steps)):
        graph.add_edge((node, step), (node, step + 1))
    for number, link in enumerate(network.links):
        for step in range(steps - int(link.alpha_s)):
            middle, there = ("link", number, step), (link.destination, step + int(link.alpha_s))
            graph.add_edge((link.source, step), middle, capacity=link.bytes_per_s)
            graph.add_edge(middle, there)
    for rank in sources:
        graph.add_edge("start", (rank, 0))
    for rank in sinks:
        graph.add_edge((rank, steps), "end")
    return float(nx.maximum_flow_value(graph, "start", "end"))


@st.composite
def _direct(draw: st.DrawFn) -> Network:
    """Ranks joined without switches; whole seconds and bytes."""
    ranks = draw(st.integers(2, 5))
    ends = draw(st.sets(st.tuples(st.integers(0, ranks - 1), st.integers(0, ranks - 1)), min_size=1, max_size=9))
    values = st.tuples(st.integers(1, 5), st.integers(0, 3))
    links = tuple(Link(a, b, *map(float, draw(values))) for a, b in sorted(ends) if a != b)
    assume(links)
    return Network("drawn", ranks, 0, links)


@settings(max_examples=60, deadline=None)
@given(network=_direct(), steps=st.integers(1, 9), data=st.data())
def test_what_steps_of_time_bring_is_brought_no_sooner(network: Network, steps: int, data: st.DataObject) -> None:
    sinks = data.draw(st.sets(st.integers(1, network.ranks - 1), min_size=1))
    sources = {0} | data.draw(st.sets(st.sampled_from(sorted({*range(network.ranks)} - sinks))))
    most = _most_bytes(network, sources, sinks, steps)
    if most > 0:
        assert quickest_s(network, sources, sinks, most) == pytest.approx(steps)
    else:
        assert quickest_s(network, sources, sinks, 1e-6) >= steps


def test_a_message_over_two_ways_by_hand() -> None:
    """Four bytes a second after one second, one a second after three: 4 (T - 1) + (T - 3) = 18 at T = 5."""
    links = (Link(0, 2, 4.0, 1.0), Link(0, 1, 1.0, 1.0), Link(1, 2, 9.0, 2.0))
    network = Network("two ways", 3, 0, links)
    assert quickest_s(network, {0}, {2}, 18.0) == pytest.approx(5.0)
    assert quickest_s(network, {0}, {2}, 4.0) == pytest.approx(2.0)
    assert quickest_s(network, {2}, {0}, 1.0) == float("inf")


def test_links_of_a_route_are_held_at_once() -> None:
    """A chunk has its latency once, after it holds both; of routes over one last link the least latency counts."""
    links = (Link(0, 3, 1.0, 1.0), Link(1, 3, 1.0, 5.0), Link(3, 2, 1.0, 2.0))
    network = Network("switch", 3, 1, links)
    assert quickest_s(network, {0}, {2}, 4.0) == pytest.approx(7.0)
    assert quickest_s(network, {1}, {2}, 4.0) == pytest.approx(7.0)


def test_a_chain_of_small_chunks_comes_as_near_as_chunks_are_small() -> None:
    line = path(4)
    slow = Network("slow", 4, 0, tuple(replace(link, alpha_s=0.5) for link in line.links))
    bound_s = bound_of(slow, "broadcast", 8.0).time_s
    assert bound_s == pytest.approx(8.0 + 3 * 0.5)
    for parts in (4, 16, 64):
        found = CollectiveQuestion(slow, "broadcast", 8.0).trial(TrialSettings(parts, 0.0), 0, 0)
        assert found.finish_s == pytest.approx(bound_s + 2 * 8.0 / parts)


@settings(max_examples=60, deadline=None)
@given(
    network=networks(5),
    collective=st.sampled_from(["all_gather", "reduce_scatter", "all_reduce", "broadcast"]),
    size=st.sampled_from([1e3, 1e4, 1e5]),
    parts=st.sampled_from([1, 4, 16]),
    patience=st.sampled_from(PATIENCE),
    number=st.integers(0, 2),
)
def test_no_schedule_is_quicker(
    network: Network, collective: Collective, size: float, parts: int, patience: float, number: int
) -> None:
    found = CollectiveQuestion(network, collective, size).trial(TrialSettings(parts, patience), number, 0)
    assert faults_of(found) == ()
    assert found.finish_s >= bound_of(network, collective, size).time_s * (1 - 1e-9)


@pytest.mark.parametrize("collective", ["broadcast", "all_gather", "all_to_all"])
def test_a_switch_that_no_rank_reaches_changes_no_bound(collective: Collective) -> None:
    links = (Link(0, 1, 1.0, 1.0), Link(1, 0, 1.0, 1.0))
    pair, beside = Network("x", 2, 0, links), Network("x", 2, 1, (*links, Link(2, 0, 1.0, 1.0)))
    assert bound_of(beside, collective, 4.0) == bound_of(pair, collective, 4.0)
