"""Files of a replay have names of their own, and loads have limits."""

from pathlib import Path

import pytest

from planner.cli.replay_inputs import loads_of
from planner.model.errors import InputError
from tests.planner.cli.commands.replay_cases import replay
from tests.planner.cli.conftest import Planner


def test_two_files_of_one_name_are_refused(planner: Planner, files: dict[str, Path]) -> None:
    outcome = replay(planner, files, "trace", "--cluster", files["cluster"])
    assert outcome.code == 2
    assert "'tree' is the name of two files" in outcome.err


@pytest.mark.parametrize("load", ["0", "-1", "1e9", "nan", "much", "0.7,101"])
def test_what_is_no_load_is_told_with_both_limits(load: str) -> None:
    with pytest.raises(InputError, match=r"--load: '.*': is no load; give numbers above 0 and up to 100"):
        loads_of(load)


def test_loads_up_to_the_most_are_taken_once() -> None:
    assert loads_of("0.7, 100,0.7") == [0.7, 100.0]
    assert loads_of(None) == [None]
