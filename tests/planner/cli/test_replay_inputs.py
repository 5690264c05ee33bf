"""Files of a replay have names of their own."""

from pathlib import Path

from tests.planner.cli.commands.replay_cases import replay
from tests.planner.cli.conftest import Planner


def test_two_files_of_one_name_are_refused(planner: Planner, files: dict[str, Path]) -> None:
    outcome = replay(planner, files, "trace", "--cluster", files["cluster"])
    assert outcome.code == 2
    assert "'tree' is the name of two files" in outcome.err
