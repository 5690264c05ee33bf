"""--watch: a command once more whenever a file that it was given changes."""

import sys
import time
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.models import ArgumentInfo

from planner.cli.exits import INTERRUPTED, report_bad_input
from planner.cli.standard_output import require_output
from planner.model.interrupts import noting_interrupts

TABLES = ("*.csv", "*.parquet")
"""beside an instance, which may name one for its jobs"""
POLL_S = 0.2

Watch = Annotated[bool, typer.Option("--watch", help="Run again whenever a file that is given changes, until Ctrl-C.")]
Stamp = dict[Path, tuple[int, int]]


def watchable(command: Callable[..., int]) -> Callable[..., int]:
    """The command with the option --watch, which looks at the files that are its arguments."""
    hints = get_type_hints(command, include_extras=True)
    files = [name for name, hint in hints.items() if _is_argument(hint)]

    @wraps(command)
    def run(*, watch: bool, **given: Any) -> int:
        paths = [path for name in files if isinstance(path := given[name], Path)]
        return watched(lambda: command(**given), paths) if watch and paths else command(**given)

    asked = Parameter("watch", Parameter.KEYWORD_ONLY, default=False, annotation=Watch)
    own = signature(command)
    run.__signature__ = own.replace(parameters=[*own.parameters.values(), asked])  # type: ignore[attr-defined]
    run.__annotations__ = {**hints, "watch": Watch}
    return run


def _is_argument(hint: Any) -> bool:
    return any(isinstance(each, ArgumentInfo) for each in getattr(hint, "__metadata__", ()))


def watched(run: Callable[[], int], given: Iterable[Path]) -> int:
    """Run, and again after each change of a file, until Ctrl-C: the last exit code. Bad input is told, and then waited
    for to be mended. A run that stops with its best plan so far at Ctrl-C is followed by a wait, which the next one
    ends; any other Ctrl-C ends, wherever it comes, and so does output that cannot be written any more."""
    given = list(given)
    code = INTERRUPTED
    with noting_interrupts() as is_noted:
        try:
            while not is_noted():
                before = stamp(given)
                code = _told(run)
                require_output()
                _wait(given, before, is_noted)
        except KeyboardInterrupt:
            pass
    return code


def _wait(given: list[Path], before: Stamp, is_noted: Callable[[], bool]) -> None:
    """Until a file is not as before, or Ctrl-C."""
    names = ", ".join(str(path) for path in given)
    if not is_noted():
        print(f"waiting for {names} to change; Ctrl-C ends", file=sys.stderr, flush=True)
    while not is_noted():
        if stamp(given) != before:
            print(f"\n{names} changed at {time.strftime('%H:%M:%S')}", file=sys.stderr, flush=True)
            return
        time.sleep(POLL_S)


def stamp(given: Iterable[Path]) -> Stamp:
    """When files were written last, and how long they are: those given, and tables beside them that they name."""
    found: Stamp = {}
    for path in given:
        for each in (path, *_tables_of(path)):
            try:
                status = each.stat()
            except OSError:
                continue
            found[each] = (status.st_mtime_ns, status.st_size)
    return found


def _tables_of(path: Path) -> list[Path]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return [table for pattern in TABLES for table in path.parent.glob(pattern) if table.name in text]


def _told(run: Callable[[], int]) -> int:
    """The exit code of one run; bad input is one line on stderr, as without --watch."""
    try:
        return run()
    except Exception as error:
        return report_bad_input(error)
