"""Standard output that cannot be written: a full disk, a reader that is gone, no output at all."""

import errno
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO


class LostOutputError(Exception):
    """Standard output cannot be written, and nothing that the command was asked for is left to do."""


class StandardStream:
    """Standard output or standard error while a command runs.

    Once it cannot be written it remembers why. What follows is swallowed if the command goes on without it, as one does
    that was asked for files; else the command ends.
    """

    def __init__(self, stream: TextIO | None, *, goes_on: bool = False) -> None:
        self._stream: TextIO = _Closed() if stream is None else stream
        self.goes_on = goes_on
        self.lost: OSError | None = None
        """why it cannot be written"""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write or swallow a text; LostOutputError."""
        self._try(lambda: self._stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Hand on what was written; LostOutputError."""
        self._try(self._stream.flush)

    def finish(self) -> None:
        """Hand on what was written when the command has ended."""
        self.goes_on = True
        self.flush()

    def require(self) -> None:
        """LostOutputError where it cannot be written."""
        if self.lost is not None:
            raise LostOutputError

    def _try(self, write: Callable[[], object]) -> None:
        if self.lost is None:
            try:
                write()
            except OSError as error:
                self.lost = error
                _drop_buffer(self._stream)
        if not self.goes_on:
            self.require()


class _Closed(io.StringIO):
    """In place of a stream that was closed before the program began."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "it is closed")


def _drop_buffer(stream: TextIO) -> None:
    """What is still buffered goes nowhere, or it would fail again at the end of the program."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def go_on_without_output() -> None:
    """The command is asked for files: it writes them even where standard output cannot be written."""
    stdout: object = sys.stdout
    if isinstance(stdout, StandardStream):
        stdout.goes_on = True


def require_output() -> None:
    """Before what has no end: LostOutputError where standard output cannot be written."""
    sys.stdout.flush()
    stdout: object = sys.stdout
    if isinstance(stdout, StandardStream):
        stdout.require()
