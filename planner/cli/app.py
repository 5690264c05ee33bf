"""The table of commands."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from planner.cli.backup import backup
from planner.cli.calibrate import calibrate
from planner.cli.check import check
from planner.cli.compare import compare
from planner.cli.exits import EXIT_CODES
from planner.cli.explain import explain
from planner.cli.export import export
from planner.cli.kubernetes import kubernetes
from planner.cli.marginal import marginal
from planner.cli.new import new
from planner.cli.pages import pages
from planner.cli.reconfigure import reconfigure
from planner.cli.repair import repair
from planner.cli.replay import replay
from planner.cli.reproduce import reproduce
from planner.cli.resync import resync
from planner.cli.schema import schema
from planner.cli.score import score
from planner.cli.serve import serve
from planner.cli.slurm import slurm
from planner.cli.solve import solve
from planner.cli.tokens import tokens
from planner.cli.trace import trace
from planner.cli.validate import validate

COMMANDS: dict[str, Callable[..., Any]] = {
    "new": new,
    "solve": solve,
    "check": check,
    "explain": explain,
    "marginal": marginal,
    "compare": compare,
    "pages": pages,
    "repair": repair,
    "reconfigure": reconfigure,
    "replay": replay,
    "trace": trace,
    "reproduce": reproduce,
    "score": score,
    "validate": validate,
    "calibrate": calibrate,
    "export": export,
    "serve": serve,
    "tokens": tokens,
    "backup": backup,
    "resync": resync,
    "schema": schema,
}

app = typer.Typer(
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from planner import __version__

        print(f"photonplan {__version__}")
        raise typer.Exit


@app.callback()
def _planner(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Plan slices, optical circuits and memory of photonic AI clusters."""


for _name, _command in COMMANDS.items():
    app.command(_name, epilog=EXIT_CODES)(_command)
app.add_typer(slurm, name="slurm")
app.add_typer(kubernetes, name="kubernetes")
