"""Files of earlier exports that lie in a folder and are not of the plan that is exported into it."""

import re
from collections.abc import Collection
from pathlib import Path

from costmodel.parallelism.mappings import DIMENSIONS
from planner.integrations.exports.files import Source

ENDINGS = {
    "msccl": r"xml",
    "chakra": r"(?:workload\.)?\d+\.et|\d+\.json|network\.yml|(?:system|memory)\.json",
    "tuner": r"tuner\.csv",
    "circuits": r"circuits\.json",
    "graphml": r"graphml",
}
"""of formats with files for each job and dimension; those that write one file for all replace it"""
_HELD = "|".join((*DIMENSIONS, "slice", "memory", "racks"))
_NAME = re.compile(
    rf"(?P<stem>[A-Za-z0-9_-]+\.(?:{_HELD})(?:-prompts)?(?:-in-rack)?)\."
    rf"(?:{'|'.join(f'(?P<{name}>{ending})' for name, ending in ENDINGS.items())})"
)


def leftovers(folder: Path, format_name: str, source: Source, written: Collection[str]) -> list[str]:
    """Names of files as exports write them that are not of this plan: of no circuits that it holds, or of its format
    and not among those that were written for it."""
    if format_name not in ENDINGS:
        return []
    stems = {held.stem for held in source.held}
    found = ((path.name, _NAME.fullmatch(path.name)) for path in folder.iterdir())
    return sorted(
        name
        for name, match in found
        if match and name not in written and (match["stem"] not in stems or match.lastgroup == format_name)
    )
