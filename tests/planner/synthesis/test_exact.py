"""Schedules by CP-SAT against all schedules of tiny networks."""

import numpy as np
import pytest

from costmodel.collectives.ladder import Collective
from costmodel.collectives.synthesis.check import faults_of
from costmodel.collectives.synthesis.network import Network
from costmodel.collectives.synthesis.timed import chunk_bytes_of
from costmodel.collectives.synthesis.trials import CollectiveQuestion, TrialSettings
from planner.synthesis.exact import ExactOptions, improved, in_ticks
from tests.costmodel.collectives.synthesis.networks import NETWORKS, ring
from tests.oracles.collective_steps import State, fewest_steps

OPTIONS = ExactOptions(20.0, 0, 1, lambda: False)
CASES = [
    (name, collective, parts)
    for name in NETWORKS
    for collective, parts in (("all_gather", 1), ("broadcast", 2), ("broadcast", 3), ("all_to_all", 1))
    if collective != "all_to_all" or name == "path3"
]


def _ends(network: Network, collective: str, parts: int) -> tuple[State, State]:
    """Who holds what at the start, and who must at the end, written anew."""
    ranks = range(network.ranks)
    if collective == "broadcast":
        chunks = range(parts)
        return frozenset((c, 0) for c in chunks), frozenset((c, rank) for c in chunks for rank in ranks)
    if collective == "all_gather":
        return frozenset((rank, rank) for rank in ranks), frozenset((c, rank) for c in ranks for rank in ranks)
    pairs = [(network.ranks * a + b, a, b) for a in ranks for b in ranks]
    return frozenset((c, a) for c, a, _ in pairs), frozenset((c, b) for c, _, b in pairs)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "collective", "parts"), CASES)
def test_it_takes_as_few_steps_as_any_schedule(name: str, collective: Collective, parts: int) -> None:
    """Links of one byte a second and chunks of one byte: times are whole numbers of steps."""
    network = NETWORKS[name]
    pieces = parts if collective == "broadcast" else network.ranks * parts
    flows = np.ones((network.ranks, len(network.links)))
    start = CollectiveQuestion(network, collective, float(pieces), flows).trial(TrialSettings(parts), 0, 0)
    assert start.chunk_bytes == 1.0
    found = improved(start, 0.0, OPTIONS)
    ways = [(route.source, route.destination, route.links) for route in network.routes]
    assert faults_of(found) == ()
    assert found.finish_s == pytest.approx(fewest_steps(ways, *_ends(network, collective, parts)))


def test_ticks_are_rounded_up() -> None:
    network = in_ticks(ring(3), 1.0, 0.3)
    assert {link.bytes_per_s for link in network.links} == {0.25}
    assert chunk_bytes_of("all_gather", 3, 2, 12.0) == 2.0


@pytest.mark.slow
def test_without_time_the_start_is_kept() -> None:
    start = CollectiveQuestion(ring(4), "all_gather", 4.0).trial(TrialSettings(2), 0, 0)
    assert improved(start, 0.0, ExactOptions(0.0, 0, 1, lambda: True)).finish_s <= start.finish_s
