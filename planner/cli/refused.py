"""A plan that the check of the same command refuses: an error of the program, told with a file to report."""

import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from costmodel.wording import counted
from planner.cli import exits
from planner.cli.inputs import write_text
from planner.cli.output import print_json

if TYPE_CHECKING:
    from pydantic import BaseModel

    from planner.model.violation import Violation

MOST_SHOWN = 5
"""violations on stderr; the file has all"""


def withhold(
    name: str,
    instance: "BaseModel",
    plan: "BaseModel",
    violations: "Sequence[Violation]",
    claimed: dict[str, Any],
    *,
    as_json: bool,
) -> int:
    """Claim nothing of the plan: all that a report needs goes into a new file, and no other; returns the exit code.

    `name` is that of the instance, `claimed` what the search said of the plan.
    """
    from planner.cli.tables.summary import violation_line
    from planner.cli.versions import versions

    broken = [vars(violation) for violation in violations]
    content = {
        "command": shlex.join(["planner", *sys.argv[1:]]),
        "versions": versions(),
        "claimed": {key: value for key, value in claimed.items() if key != "plan"},
        "violations": broken,
        "plan": plan.model_dump(mode="json"),
        "instance": instance.model_dump(mode="json", by_alias=True, exclude_none=True),
    }
    path = _write_new(name, json.dumps(content, indent=1) + "\n")
    lines = [f"internal error: the check refuses the plan that was found, {counted(len(broken), 'violation')}"]
    lines += [f"violation: {violation_line(violation)}" for violation in violations[:MOST_SHOWN]]
    if len(broken) > MOST_SHOWN:
        lines.append(f"and {len(broken) - MOST_SHOWN} more")
    lines.append(f"the plan is withheld; please report this with {path}, which holds it and its instance")
    print("\n".join(lines), file=sys.stderr)
    if as_json:
        print_json({"status": "REFUSED", "plan": None, "violations": broken, "refused": str(path)})
    return exits.REFUSED


def _write_new(name: str, text: str) -> Path:
    """Write a file that was not there before, in the current folder or, where that cannot be, a temporary one."""
    folder = Path() if os.access(Path(), os.W_OK) else Path(tempfile.gettempdir())
    stem, number = f"refused-{re.sub(r'[^A-Za-z0-9_-]+', '_', name)}", 1
    while (path := folder / f"{stem}-{number}.json").exists():
        number += 1
    write_text(path, text)
    return path
