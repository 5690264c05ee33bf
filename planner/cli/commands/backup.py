"""planner backup: a copy of a journal, also while a controller writes it."""

from pathlib import Path
from typing import Annotated

import typer

Journal = Annotated[
    Path, typer.Argument(metavar="JOURNAL", help="As of `planner serve --journal`; whoever writes it goes on.")
]
Copy = Annotated[Path, typer.Argument(metavar="COPY", help="A new file.")]


def backup(journal: Journal, copy: Copy) -> int:
    """Copy a journal as it is at this moment, and check every record of the copy."""
    from planner.controller.journal_copies import back_up

    print(f"{copy}: {back_up(str(journal), str(copy))} events, every record as it was written")
    return 0
