"""planner restore: a copy takes the place of a journal."""

from pathlib import Path
from typing import Annotated

import typer

Copy = Annotated[Path, typer.Argument(metavar="COPY", help="As `planner backup` made it; it stays as it is.")]
Journal = Annotated[
    Path,
    typer.Argument(
        metavar="JOURNAL", help="As of `planner serve --journal`; nobody may write it. What is there is kept beside it."
    ),
]


def restore(copy: Copy, journal: Journal) -> int:
    """Put a copy in the place of a journal, and check every record of it. Stop all who use the journal before."""
    from planner.controller.journal_copies import restore as restored

    found = restored(str(copy), str(journal))
    was = "" if found.replaced is None else f"; what was there is {found.replaced}"
    print(f"{journal}: {found.seq} events, every record as it was written{was}")
    return 0
