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
from planner.cli.commands.grow import grow
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
from planner.cli.commands.shrink import shrink
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

PANELS: dict[str, dict[str, Callable[..., Any]]] = {
    "Plan a cluster": {
        "new": new,
        "solve": watchable(solve),
        "explain": watchable(explain),
        "compare": compare,
        "studio": studio,
        "check": watchable(check),
        "marginal": watchable(marginal),
        "pages": watchable(pages),
    },
    "Change a plan": {
        "repair": repair,
        "reconfigure": reconfigure,
        "diff": diff,
        "export": export,
    },
    "Price a job": {
        "score": watchable(score),
        "front": front,
        "synthesize": watchable(synthesize),
        "validate": validate,
        "calibrate": calibrate,
        "reproduce": reproduce,
    },
    "Demand over time": {
        "trace": trace,
        "replay": replay,
        "spares": spares,
    },
    "Inside a scheduler": {
        "import": import_,
        "serve": serve,
        "ask": ask,
        "grow": grow,
        "shrink": shrink,
        "defrag": defrag,
        "tokens": tokens,
        "backup": backup,
        "restore": restore,
        "resync": resync,
        "switch-emulator": switch_emulator,
    },
    "Files": {
        "fields": fields,
        "schema": schema,
        "migrate": migrate,
    },
}
"""commands by what they are for, as `planner --help` lists them"""
COMMANDS = {name: (panel, command) for panel, commands in PANELS.items() for name, command in commands.items()}
"""panel and function of each command"""
GROUPS = {
    "slurm": (slurm, "Inside a scheduler"),
    "kubernetes": (kubernetes, "Inside a scheduler"),
    "tables": (tables, "Price a job"),
    "wiring": (wiring, "Change a plan"),
}
"""commands with commands of their own"""
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


for _name, (_panel, _command) in COMMANDS.items():
    _class = CLASSES.get(_name, TyperCommand)
    _add = app.command(_name, cls=_class, epilog=EXIT_CODES, rich_help_panel=_panel)
    _add(telling_interrupts(_command))
for _name, (_group, _panel) in GROUPS.items():
    app.add_typer(_group, name=_name, rich_help_panel=_panel)
