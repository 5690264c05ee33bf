"""Schedules in rounds, with several chunks for each rank."""

from dataclasses import replace

import pytest

from costmodel.collectives.interpret import interpret
from costmodel.collectives.ladder import Collective
from costmodel.collectives.synthesis.trials import CollectiveQuestion, TrialSettings
from costmodel.collectives.synthesis.written import written_out
from tests.costmodel.collectives.synthesis.networks import star


@pytest.mark.parametrize("collective", ["all_gather", "reduce_scatter", "all_reduce", "broadcast"])
def test_rounds_are_proved_and_a_lost_row_is_found(collective: Collective) -> None:
    schedule = written_out(CollectiveQuestion(star(4), collective, 24.0).trial(TrialSettings(3), 0, 0))
    assert interpret(schedule) == ()
    assert schedule.num_chunks == (3 if collective == "broadcast" else 12)
    columns = ("round", "sender", "receiver", "chunk", "target", "is_reduction", "circuit")
    cut = replace(schedule, **{name: getattr(schedule, name)[:-1] for name in columns})
    assert interpret(cut) != ()


def test_what_is_not_mine_is_told() -> None:
    """With two chunks for each rank, the chunks of an all-gather do not begin where those of one do."""
    schedule = written_out(CollectiveQuestion(star(3), "all_gather", 6.0).trial(TrialSettings(2), 0, 0))
    wrong = replace(schedule, num_chunks=3, num_slots=6)
    assert interpret(wrong) != ()
