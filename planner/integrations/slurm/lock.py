"""One daemon for each state folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from planner.integrations.private_files import open_lock


@contextmanager
def is_alone(state: Path) -> Iterator[bool]:
    """Lock a folder while the block lasts; False where another process holds the lock."""
    file = open_lock(state / "daemon.lock")
    try:
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(file)
