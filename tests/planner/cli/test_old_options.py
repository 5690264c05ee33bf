"""Options by their old names do what they did, with one line that says the new name."""

from pathlib import Path

import pytest

from planner.cli.app import COMMANDS
from planner.cli.old_options import OLD_NAMES, renewed
from tests.planner.cli.conftest import Planner


@pytest.mark.slow
def test_an_old_name_works_and_is_told(planner: Planner, instance: Path) -> None:
    limits = ("--policy", "first_fit", "--json")
    old, new = (planner("solve", instance, name, 1, *limits) for name in ("--workers", "--threads"))
    assert old.code == new.code == 0
    assert old.document["plan"] == new.document["plan"]
    assert old.err.splitlines()[0].startswith("warning: planner solve: --workers is deprecated")
    assert "write --threads" in old.err
    assert "deprecated" not in new.err


def test_a_value_may_be_joined_to_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert renewed(["compare", "a.yaml", "--workers=3"]) == ["compare", "a.yaml", "--processes=3"]
    assert "write --processes" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["check", "a", "--workers"], ["solve", "--", "--workers"]])
def test_what_is_no_old_option_stays(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert renewed(arguments) == arguments
    assert not capsys.readouterr().err


@pytest.mark.slow
def test_old_names_are_of_commands_that_no_longer_have_them(planner: Planner) -> None:
    assert OLD_NAMES.keys() <= COMMANDS.keys()
    for command, names in OLD_NAMES.items():
        shown = planner(command, "--help").out
        assert all(new in shown and old not in shown for old, new in names.items())
