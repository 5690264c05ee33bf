"""Quick schedules of every collective: right, and on simple networks as quick as can be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.collectives.interpret import interpret
from costmodel.collectives.ladder import Collective
from costmodel.collectives.synthesis.bounds import bound_of
from costmodel.collectives.synthesis.check import faults_of
from costmodel.collectives.synthesis.network import Network
from costmodel.collectives.synthesis.trials import PATIENCE, CollectiveQuestion, TrialSettings, settings_tried
from costmodel.collectives.synthesis.written import written_out
from tests.costmodel.collectives.synthesis.networks import networks, path, ring, star

GATHERS: tuple[Collective, ...] = ("all_gather", "reduce_scatter", "all_reduce", "broadcast")


def _everywhere(network: Network) -> np.ndarray:
    """Flows that let ways be any."""
    return np.ones((network.ranks, len(network.links)))


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    network=networks(5),
    collective=st.sampled_from([*GATHERS, "all_to_all"]),
    parts=st.integers(1, 3),
    patience=st.sampled_from(PATIENCE),
    number=st.integers(0, 2),
)
def test_every_schedule_is_right(
    network: Network, collective: Collective, parts: int, patience: float, number: int
) -> None:
    """By the check of times, and by the interpreter of rounds, which knows no times."""
    question = CollectiveQuestion(network, collective, 1e6, _everywhere(network))
    found = question.trial(TrialSettings(parts, patience), number, 0)
    assert faults_of(found) == ()
    assert interpret(written_out(found)) == ()
    assert found.finish_s >= bound_of(network, collective, 1e6).time_s * (1 - 1e-9)


@pytest.mark.parametrize(
    ("network", "collective", "parts", "seconds"),
    [
        (star(4), "all_gather", 1, 3.0),
        (star(4), "reduce_scatter", 1, 3.0),
        (star(4), "all_reduce", 1, 6.0),
        (path(4), "all_gather", 1, 3.0),
        (ring(4), "all_gather", 2, 1.5),
        (ring(4), "all_reduce", 2, 3.0),
    ],
)
def test_simple_networks_are_filled(network: Network, collective: Collective, parts: int, seconds: float) -> None:
    """Four bytes on each rank, links of one byte a second: the bound is attained."""
    question = CollectiveQuestion(network, collective, 4.0)
    trials = (question.trial(TrialSettings(parts, each), number, 0) for each in PATIENCE for number in range(3))
    assert min(each.finish_s for each in trials) == pytest.approx(seconds)


def test_parts_grow_as_long_as_chunks_have_a_byte() -> None:
    parts = [each.parts for each in settings_tried(CollectiveQuestion(ring(4), "all_to_all", 30.0), 10_000)]
    assert parts == [1, 2, 3, 4, 6]
    assert [each.parts for each in settings_tried(CollectiveQuestion(ring(4), "all_to_all", 1e9), 24)] == [1, 2]


def test_an_all_to_all_needs_flows() -> None:
    with pytest.raises(ValueError, match="needs the flows"):
        CollectiveQuestion(ring(3), "all_to_all", 1.0).trial(TrialSettings(1), 0, 0)
