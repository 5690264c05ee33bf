"""Logs of commands that go on until they are stopped."""

import json
import sys
from datetime import UTC, datetime


def log_line(what: str, **details: object) -> None:
    """One line of JSON on the standard error output: when, what, and its details by name."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    print(json.dumps({"at": at, "what": what, **details}, default=str), file=sys.stderr, flush=True)
