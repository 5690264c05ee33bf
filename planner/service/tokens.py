"""The token of the service: in a file that nobody else may read."""

import os
import re
import secrets
from pathlib import Path

from planner.model.errors import InputError

FEWEST_CHARACTERS, MOST_CHARACTERS = 16, 1000
_TOKEN = re.compile(rb"[A-Za-z0-9._~+/-]+=*")


def read_token(path: Path) -> bytes:
    """The token in a file; InputError, which never shows it, where it is none or others may read it."""
    name = str(path)
    try:
        with path.open("rb") as file:
            mode, text = os.fstat(file.fileno()).st_mode, file.read(MOST_CHARACTERS + 2).strip()
    except (OSError, ValueError) as error:
        problem = f"cannot be read: {getattr(error, 'strerror', None) or error}; --new-token writes one"
        raise InputError(name, "", problem) from None
    if mode & 0o077:
        raise InputError(name, "", f"may be read or written by others (mode {mode & 0o777:o}); chmod 600 it")
    if not FEWEST_CHARACTERS <= len(text) <= MOST_CHARACTERS:
        problem = f"must hold one token of {FEWEST_CHARACTERS} to {MOST_CHARACTERS} characters; --new-token writes one"
        raise InputError(name, "", problem)
    if not _TOKEN.fullmatch(text):
        raise InputError(name, "", "holds other characters than letters, digits and ._~+/-, or more than one token")
    return text


def write_token(path: Path) -> None:
    """A new token in a new file of mode 0600."""
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(str(path), "--new-token", "exists already; use it with --token-file") from None
    except (OSError, ValueError) as error:
        problem = f"cannot be written: {getattr(error, 'strerror', None) or error}"
        raise InputError(str(path), "--new-token", problem) from None
    with open(file, "w", encoding="ascii") as stream:
        stream.write(f"{secrets.token_urlsafe(32)}\n")
