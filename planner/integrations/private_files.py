"""Files that belong to the planner: written whole or not at all, for the owner of their folder alone."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_UN, flock
from pathlib import Path

PRIVATE = 0o600


def write_private(path: Path, text: str, mode: int = PRIVATE) -> None:
    """Put `text` in place of what was there, on disk when this returns, owned by the owner of the folder.

    So root may write what a daemon without its rights will read.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
    try:
        _own(file, path.parent)
        os.fchmod(file, mode)
        with open(file, "w", encoding="utf-8", closefd=False) as stream:
            stream.write(text)
        os.fsync(file)
    finally:
        os.close(file)
    os.replace(draft, path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """What a name stands for is on disk too: without it a power cut brings back what was there before."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def make_private(folder: Path, mode: int = 0o700) -> None:
    """A folder, there for the owner of the folder around it alone; it may be there already."""
    with suppress(FileExistsError):
        folder.mkdir(mode=mode)
        if os.geteuid() == 0:
            status = folder.parent.stat()
            os.chown(folder, status.st_uid, status.st_gid)


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold the lock file `path`: one holder on this machine at a time.

    A process that is given the open file holds the lock with this one, and after it if this one dies.
    """
    file = open_lock(path)
    try:
        flock(file, LOCK_EX)
        yield file
    finally:
        flock(file, LOCK_UN)
        os.close(file)


def open_lock(path: Path) -> int:
    """An open file to lock, made where it is not there; the caller closes it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, PRIVATE)
    _own(file, path.parent)
    return file


def _own(file: int, folder: Path) -> None:
    """Give an open file to the owner of its folder, which root alone can do."""
    if os.geteuid() == 0:
        status = folder.stat()
        os.fchown(file, status.st_uid, status.st_gid)
