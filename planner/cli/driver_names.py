"""Drivers of switches and commands as options name them."""

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from planner.model.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from planner.integrations.switch_drivers import Driver


def command_named(option: str, text: str) -> list[str]:
    """A command as a shell would read it; InputError where it cannot be run."""
    command = _words(option, text)
    if not command or shutil.which(command[0]) is None:
        problem = f"{command[0] if command else 'nothing'} is no program that can be run; give its path, chmod +x it"
        raise InputError(option, text, problem)
    return command


def _words(option: str, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputError(option, text, f"is no command: {error}") from None


def driver_named(
    name: str | None, journal: Path, fence: "Callable[[], int] | None" = None, *, has_record: bool = False
) -> "Driver | None":
    """A driver by its name, its record beside the journal; `fence` as of a `RecordedDriver`. `has_record`: InputError
    where the record is not there yet, and nothing is made."""
    from planner.integrations.switch_drivers import driver_of, unfenced

    if name is None:
        return None
    fence = fence or unfenced
    kind, _, what = name.partition(":")
    if kind == "sonic":
        print(f"warning: --driver sonic:{what} is deprecated; write ocs:{what}", file=sys.stderr)
        kind = "ocs"
    command = _words("--driver", what)
    if kind not in ("file", "hook", "ocs", "slices") or not command:
        raise InputError("--driver", f"'{name}'", "is no driver; give file:DIR, hook:COMMAND, ocs:FILE or slices:FILE")
    folder = Path(what) if kind == "file" else journal.with_name(f"{journal.name}.circuits")
    if folder.exists() and not folder.is_dir():
        raise InputError("--driver", f"'{name}'", f"keeps its record in {folder}, which is no folder; name another one")
    if has_record and not folder.is_dir():
        problem = "does not exist, so that nothing says which circuits are in use; name what `planner serve` was given"
        raise InputError(str(folder), "--driver" if kind == "file" else "--journal", problem)
    if kind == "file":
        if not folder.parent.is_dir():
            problem = f"{folder.parent} is no folder; make it first, or name another one"
            raise InputError("--driver", f"'{name}'", problem)
        return driver_of({"kind": "file"}, folder, fence)
    if kind in ("ocs", "slices"):
        return driver_of({"kind": kind, "config": what}, folder, fence)
    return driver_of({"kind": "hook", "command": command_named("--driver", what)}, folder, fence)
