"""What only one process at a time may do, where tests run on several."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone(what: str) -> Iterator[None]:
    """Wait until no other process of these tests does this; each account has a file of its own."""
    with (Path(tempfile.gettempdir()) / f"photonplan-tests-{os.getuid()}-{what}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
