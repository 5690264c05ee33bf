"""The console command `planner`, one command a file; everything heavy is imported inside the commands."""

import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import TextIO

import typer

from planner.cli.app import app
from planner.cli.exits import INTERRUPTED, VIOLATIONS, report_bad_input
from planner.cli.old_options import renewed
from planner.model.errors import UnitWarning

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; bad input becomes one line on stderr."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        with warnings.catch_warnings():
            _show_unit_warnings()
            command = typer.main.get_command(app)
            code = command.main(renewed(given) or ["--help"], prog_name="planner", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except BrokenPipeError:
        _silence()
        return VIOLATIONS
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:
        return report_bad_input(error)


def _show_unit_warnings() -> None:
    """Numbers without units are told in a line each on stderr; all other warnings as ever."""
    usual = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, UnitWarning):
            print(f"warning: {message}", file=sys.stderr)
        else:
            usual(message, category, filename, lineno, file, line)

    warnings.simplefilter("always", UnitWarning)
    warnings.showwarning = show


def _silence() -> None:
    """Nobody reads on: what is still buffered goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
