"""Locks by name within one open file: whoever inherits the file holds them too, and the last to close it frees them."""

import fcntl
import struct
from collections.abc import Collection
from zlib import crc32

_FLOCK = "hhqqi"
"""struct flock of Linux: type, whence, start, length, process; the last is 0 for locks of an open file"""


def try_lock(file: int, names: Collection[str]) -> str | None:
    """Hold all of these names, or none and the name of one that somebody else holds. Two names may be one lock."""
    held: list[str] = []
    for name in sorted(names):
        try:
            _set(file, name, fcntl.F_WRLCK)
        except (BlockingIOError, PermissionError):
            for each in held:
                _set(file, each, fcntl.F_UNLCK)
            return name
        held.append(name)
    return None


def free(file: int) -> None:
    """Hold nothing any more, whoever has inherited the file."""
    fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack(_FLOCK, fcntl.F_UNLCK, 0, 0, 0, 0))


def _set(file: int, name: str, kind: int) -> None:
    fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack(_FLOCK, kind, 0, crc32(name.encode()), 1, 0))
