"""The console command `planner`, one command a file; everything heavy is imported inside the commands."""

import io
import sys
import warnings
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import TextIO, cast

import typer

from planner.cli.app import app
from planner.cli.exits import BAD_INPUT, INTERRUPTED, PLAN, VIOLATIONS, report_bad_input
from planner.cli.old_options import renewed
from planner.cli.standard_output import LostOutputError, StandardStream
from planner.model.errors import UnitWarning

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; bad input becomes one line on stderr."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    out, errors = StandardStream(sys.stdout), StandardStream(sys.stderr, goes_on=True)
    with redirect_stdout(cast(TextIO, out)), redirect_stderr(cast(TextIO, errors)):
        code = _run(given)
        does_go_on = out.goes_on
        out.finish()
        if out.lost is None:
            return code
        if isinstance(out.lost, BrokenPipeError):
            return code if does_go_on else VIOLATIONS
        print(f"error: stdout: cannot be written: {out.lost.strerror}", file=sys.stderr)
        return code or BAD_INPUT


def _run(given: list[str]) -> int:
    """The exit code of one command, whatever becomes of its output."""
    try:
        with warnings.catch_warnings():
            _show_unit_warnings()
            command = typer.main.get_command(app)
            code = command.main(renewed(given) or ["--help"], prog_name="planner", standalone_mode=False)
        return int(code or 0)
    except LostOutputError:
        return PLAN
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
