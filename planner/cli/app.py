"""The table of commands."""

from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from planner.cli.commands.ask import ask
from planner.cli.commands.backup import backup
from planner.cli.commands.calibrate import calibrate
from planner.cli.commands.check import check
from planner.cli.commands.compare import compare
from planner.cli.commands.defrag import defrag
from planner.cli.commands.diff import diff
from planner.cli.commands.explain import explain
from planner.cli.commands.export import export
from planner.cli.commands.fields import fields
from planner.cli.commands.front import front
from planner.cli.commands.import_ import import_
from planner.cli.commands.kubernetes import kubernetes
from planner.cli.commands.marginal import marginal
from planner.cli.commands.migrate import migrate
from planner.cli.commands.new import new
from planner.cli.commands.pages import pages
from planner.cli.commands.reconfigure import reconfigure
from planner.cli.commands.repair import repair
from planner.cli.commands.replay import replay
from planner.cli.commands.reproduce import reproduce
from planner.cli.commands.restore import restore
from planner.cli.commands.resync import resync
from planner.cli.commands.schema import schema
from planner.cli.commands.score import score
from planner.cli.commands.serve import serve
from planner.cli.commands.slurm import slurm
from planner.cli.commands.solve import solve
from planner.cli.commands.spares import spares
from planner.cli.commands.studio import studio
from planner.cli.commands.switch_emulator import switch_emulator
from planner.cli.commands.synthesize import synthesize
from planner.cli.commands.tables import tables
from planner.cli.commands.tokens import tokens
from planner.cli.commands.trace import trace
from planner.cli.commands.validate import validate
from planner.cli.commands.wiring import wiring
from planner.cli.exits import EXIT_CODES
from planner.cli.fabric_option import ListsFabrics
from planner.cli.interrupt import telling_interrupts
from planner.cli.tables.tables import require_own_calibrations
from planner.cli.watch import watchable

COMMANDS: dict[str, Callable[..., Any]] = {
    "new": new,
    "import": import_,
    "solve": watchable(solve),
    "check": watchable(check),
    "explain": watchable(explain),
    "marginal": watchable(marginal),
    "compare": compare,
    "pages": watchable(pages),
    "repair": repair,
    "reconfigure": reconfigure,
    "diff": diff,
    "studio": studio,
    "replay": replay,
    "spares": spares,
    "trace": trace,
    "reproduce": reproduce,
    "score": watchable(score),
    "front": front,
    "validate": validate,
    "calibrate": calibrate,
    "export": export,
    "synthesize": watchable(synthesize),
    "serve": serve,
    "ask": ask,
    "defrag": defrag,
    "tokens": tokens,
    "backup": backup,
    "restore": restore,
    "resync": resync,
    "switch-emulator": switch_emulator,
    "migrate": migrate,
    "fields": fields,
    "schema": schema,
}
CLASSES = {"new": ListsFabrics, "import": ListsFabrics}
"""of commands whose help is made when it is asked for"""


class _NotesHelp(TyperGroup):
    """Commands that find in the `obj` of their context whether help is asked for, which needs nothing of the user's."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.obj = not {*args}.isdisjoint(ctx.help_option_names)
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_NotesHelp,
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
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Plan slices, optical circuits and memory of photonic AI clusters."""
    if context.invoked_subcommand != "calibrate" and not context.obj:
        require_own_calibrations()


for _name, _command in COMMANDS.items():
    app.command(_name, cls=CLASSES.get(_name, TyperCommand), epilog=EXIT_CODES)(telling_interrupts(_command))
app.add_typer(slurm, name="slurm")
app.add_typer(kubernetes, name="kubernetes")
app.add_typer(tables, name="tables")
app.add_typer(wiring, name="wiring")
