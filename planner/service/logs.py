"""Logs as JSON lines on stderr, from which the token is struck out wherever it may have got in."""

import logging
import warnings
from datetime import UTC, datetime
from typing import Any

from pydantic_core import to_json

STRUCK = "***"


class JsonFormatter(logging.Formatter):
    """One line of JSON a record; `extra={"fields": {...}}` adds to it."""

    def __init__(self, secret: str) -> None:
        super().__init__()
        self._secret = secret

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return to_json(line, fallback=str).decode().replace(self._secret, STRUCK)


def set_up(level: str, secret: str) -> None:
    """All records of the service and of the HTTP server, from this level on."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter(secret))
    for name in ("planner", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level.upper())
    warnings.showwarning = _record


def _record(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning of Python, such as a number without a unit, as a line of the log."""
    logging.getLogger("planner").warning(str(message))
