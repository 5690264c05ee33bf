"""The page of commands: every one with its help."""

from planner.cli.app import COMMANDS
from planner.cli.commands_page import commands_page


def test_every_command_is_there() -> None:
    page = commands_page()
    assert [name for name in (*COMMANDS, "slurm install", "wiring check") if f"$ planner {name}" not in page] == []
