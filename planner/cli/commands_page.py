"""The page of the manual on commands: what `--help` of each says, by typer."""

from typer import Context
from typer.cli import get_docs_for_click
from typer.main import get_command

from planner.cli.app import app


def commands_page() -> str:
    """Usage, arguments and options of every command."""
    command = get_command(app)
    context = Context(command, info_name="planner")
    return get_docs_for_click(obj=command, ctx=context, name="planner", title="Commands")
