"""The file of a session on disk: read, and written only where nobody else has written since."""

import hashlib
import json
import os
import tempfile
from pathlib import Path

import yaml

from planner.model import files
from planner.model.errors import ConflictError, InputError

SUFFIXES = (".yaml", ".yml", ".json")


class KnownFiles:
    """Files that a session has read or written, by what they held then."""

    def __init__(self) -> None:
        self._digests: dict[Path, str] = {}

    def read(self, path: Path) -> str:
        """The text of a file, which may be written again while it stays like this."""
        text = files.read_text(path)
        self._digests[path.resolve()] = digest(path)
        return text

    def write(self, path: Path, text: str, *, replaces: str | None = None) -> None:
        """Write a text, in JSON where the suffix says so; all of it or nothing.

        ConflictError for a file that has changed since it was read or written here, or that never was; with
        `replaces`, the digest of what it holds now, it is written all the same.
        """
        _require_writable(path)
        place = path.resolve()
        now = digest(place) if place.exists() else None
        if now is not None and now not in (self._digests.get(place), replaces):
            known = "has changed on disk since it was read" if place in self._digests else "exists already"
            raise ConflictError(str(path), "", f"{known}; save under another name, or replace it")
        _write_whole(place, _in_format_of(path, text))
        self._digests[place] = digest(place)


def digest(path: Path) -> str:
    """Of what a file holds."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(str(path), "", f"cannot be read: {error.strerror}") from None


def _require_writable(path: Path) -> None:
    if "\0" in str(path):
        raise InputError(repr(str(path)), "", "is no name of a file; choose another one")
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(str(path), "", f"ends in no suffix of an instance; use {', '.join(SUFFIXES)}")
    if path.is_dir():
        raise InputError(str(path), "", "is a directory; name a file in it")
    if not path.parent.is_dir():
        raise InputError(str(path), "", f"the folder {path.parent} does not exist; create it first")
    if path.exists() and not path.is_file():
        raise InputError(str(path), "", "is no plain file; choose another name")


def _in_format_of(path: Path, text: str) -> str:
    """JSON for .json; YAML stays as it is written, and JSON becomes YAML where the suffix asks for that."""
    is_json = text.lstrip().startswith("{")
    if path.suffix.lower() == ".json":
        return text if is_json else json.dumps(files.parse_text(text, str(path)), indent=2, ensure_ascii=False) + "\n"
    if is_json:
        return yaml.safe_dump(files.parse_text(text, str(path)), sort_keys=False, allow_unicode=True)
    return text if text.endswith("\n") else text + "\n"


def _write_whole(path: Path, text: str) -> None:
    """Beside it first, then in its place, with its mode."""
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    name = ""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask if mode is None else mode)
        os.replace(name, path)
    except OSError as error:
        if name:
            Path(name).unlink(missing_ok=True)
        raise InputError(str(path), "", f"cannot be written: {error.strerror}") from None
