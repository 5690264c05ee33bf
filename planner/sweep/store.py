"""Finished cells on disk: one file each, written whole, so that a run that was stopped goes on where it was."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from planner.model.errors import InputError

Document = dict[str, Any]
"""what a cell gave, as JSON has it"""


class Store:
    """Documents by key in a folder, which other runs may share."""

    def __init__(self, folder: Path, option: str = "--results") -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(str(folder), option, f"cannot be made: {error.strerror}; name a folder") from None

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"

    def load(self, key: str) -> Document | None:
        """Stored result of a cell, None where it must be run."""
        try:
            found = json.loads(self._path(key).read_text("utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def save(self, key: str, document: Document) -> None:
        """Write a cell; a reader sees all of it or nothing."""
        path = self._path(key)
        part = path.with_suffix(f".{os.getpid()}.part")
        try:
            part.write_text(json.dumps(document) + "\n", encoding="utf-8")
            os.replace(part, path)
        except OSError as error:
            raise InputError(str(path), "", f"cannot be written: {error.strerror}; make room and run again") from None


def key_of(*inputs: object) -> str:
    """A digest of all that a cell depends on, plain data each."""
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:32]
