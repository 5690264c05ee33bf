"""The option that names a kind of fabric, those of other distributions included."""

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from planner.cli import completions


def _known(kind: str) -> str:
    from planner.fabrics import fabrics

    if kind not in fabrics():
        raise typer.BadParameter(f"{kind!r} is not one of {', '.join(map(repr, fabrics()))}")
    return kind


FabricKind = Annotated[
    str, typer.Option(callback=_known, autocompletion=completions.fabrics, help="What joins the accelerators.")
]


class ListsFabrics(TyperCommand):
    """A command whose help lists the kinds of fabrics; to find them takes imports that no other command needs."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from planner.fabrics import fabrics

        for parameter in self.params:
            if parameter.name == "fabric":
                parameter.metavar = f"<{'|'.join(fabrics())}>"
        super().format_help(ctx, formatter)
