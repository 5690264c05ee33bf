"""The check finds what is wrong with a schedule."""

from dataclasses import replace

import pytest

from costmodel.collectives.synthesis.check import faults_of
from costmodel.collectives.synthesis.timed import TimedSchedule, Transfer
from costmodel.collectives.synthesis.trials import CollectiveQuestion, TrialSettings
from tests.costmodel.collectives.synthesis.networks import path, ring

RING = ring(3)
RIGHT = CollectiveQuestion(RING, "all_gather", 3.0).trial(TrialSettings(1), 0, 0)
SUMS = CollectiveQuestion(RING, "all_reduce", 3.0).trial(TrialSettings(1), 0, 0)


def _with(schedule: TimedSchedule, place: int, **changes: object) -> TimedSchedule:
    transfers = list(schedule.transfers)
    transfers[place] = transfers[place]._replace(**changes)  # type: ignore[arg-type]
    return replace(schedule, transfers=tuple(transfers))


def test_right_ones_pass() -> None:
    assert faults_of(RIGHT) == faults_of(SUMS) == ()


def test_what_is_missing_is_named() -> None:
    cut = replace(RIGHT, transfers=RIGHT.transfers[1:])
    assert any("ends without all of chunk" in fault for fault in faults_of(cut))
    cut = replace(SUMS, transfers=SUMS.transfers[1:])
    assert any("ends without all of chunk" in fault for fault in faults_of(cut))


def test_a_link_carries_one_chunk_at_a_time() -> None:
    network = path(2)
    twice = TimedSchedule(network, "broadcast", 2, 1.0, (Transfer(0, (0,), 0.0), Transfer(1, (0,), 0.5)))
    assert faults_of(twice) == ("link 0 carries two chunks at 0.5 s",)
    after = replace(twice, transfers=(twice.transfers[0], Transfer(1, (0,), 1.0)))
    assert faults_of(after) == ()


def test_a_chunk_is_sent_when_it_is_there() -> None:
    network = path(3)
    early = TimedSchedule(network, "broadcast", 1, 1.0, (Transfer(0, (0,), 0.0), Transfer(0, (1,), 0.9)))
    assert any("before all of it is there" in fault for fault in faults_of(early))
    never = replace(early, transfers=(Transfer(0, (1,), 0.0),))
    assert any("without having it" in fault for fault in faults_of(never))


def test_nothing_is_added_twice() -> None:
    again = replace(SUMS, transfers=(*SUMS.transfers, SUMS.transfers[0]._replace(start_s=99.0)))
    assert any("adds to chunk" in fault for fault in faults_of(again))


@pytest.mark.parametrize("links", [(0, 0), (0, 3)])
def test_links_must_lead_on(links: tuple[int, ...]) -> None:
    assert any("no route from rank to rank" in fault for fault in faults_of(_with(RIGHT, 0, links=links)))


def test_nothing_is_sent_before_the_call() -> None:
    assert any("before the call begins" in fault for fault in faults_of(_with(RIGHT, 0, start_s=-1.0)))
