"""The command names its options where a function names its arguments."""

from pathlib import Path

import pytest

from planner import api
from planner.cli.option_names import naming_options
from planner.model.errors import ConflictError, InputError
from tests.planner.cli.commands.replay_cases import replay
from tests.planner.cli.conftest import Planner


def test_an_argument_is_told_as_the_option_that_gives_it() -> None:
    with pytest.raises(ConflictError, match=r"^--policies: 'zz': is none$"), naming_options():
        raise ConflictError("policies", "'zz'", "is none")
    with pytest.raises(InputError, match=r"^policies\.json: is empty$"), naming_options():
        raise InputError("policies.json", "", "is empty")


def test_a_replay_names_its_arguments_and_the_command_its_options(
    planner: Planner, files: dict[str, Path], instance: Path
) -> None:
    cluster = api.load(instance).cluster
    with pytest.raises(InputError, match=r"^policies: 'zz': is no policy of a replay"):
        api.replay(files["trace"], {"tiny": cluster}, ["zz"])
    outcome = replay(planner, files, "trace", "--policies", "zz")
    assert outcome.code == 2
    assert outcome.err.startswith("error: --policies: 'zz': is no policy of a replay")
