"""Schedules with times: moved, turned round, joined."""

import pytest

from costmodel.collectives.synthesis.check import faults_of
from costmodel.collectives.synthesis.timed import (
    TimedSchedule,
    Transfer,
    as_early_as_possible,
    backwards,
    chunk_bytes_of,
    levels_of,
    one_after_the_other,
)
from costmodel.collectives.synthesis.trials import CollectiveQuestion, TrialSettings
from tests.costmodel.collectives.synthesis.networks import path, ring

PATH = path(3)
LATE = TimedSchedule(PATH, "broadcast", 2, 1.0, (
    Transfer(0, (0,), 1.0), Transfer(1, (0,), 4.0), Transfer(0, (1,), 5.0), Transfer(1, (1,), 9.0),
))  # fmt: skip


def test_nothing_waits_without_need() -> None:
    early = as_early_as_possible(LATE)
    assert [each.start_s for each in early.transfers] == [0.0, 1.0, 1.0, 2.0]
    assert (LATE.finish_s, early.finish_s) == (10.0, 3.0)
    assert faults_of(early) == ()


def test_rounds_follow_what_they_need() -> None:
    assert levels_of(LATE) == [0, 0, 1, 1]


def test_an_all_gather_backwards_adds_up() -> None:
    network = ring(4)
    gather = CollectiveQuestion(network.reversed(), "all_gather", 8.0).trial(TrialSettings(2), 0, 0)
    scatter = backwards(gather, network)
    assert scatter.finish_s == pytest.approx(gather.finish_s)
    assert faults_of(scatter) == ()
    both = one_after_the_other(scatter, CollectiveQuestion(network, "all_gather", 8.0).trial(TrialSettings(2), 0, 0))
    assert faults_of(both) == ()
    assert both.finish_s <= 2 * gather.finish_s


@pytest.mark.parametrize(("collective", "size"), [("broadcast", 6.0), ("all_gather", 1.5), ("all_to_all", 1.5)])
def test_a_message_is_the_whole_buffer_of_a_rank(collective: str, size: float) -> None:
    assert chunk_bytes_of(collective, 4, 2, 12.0) == size  # type: ignore[arg-type]
