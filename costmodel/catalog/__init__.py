"""Parts and models as data files; each number carries its source."""

import json
import os
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

OWN_CALIBRATIONS = "PLANNER_CALIBRATIONS"
"""environment variable: files of `planner calibrate` that go before the catalog's, joined as PATH is"""


@cache
def documents() -> Mapping[str, dict[str, Any]]:
    """Content of every catalog file, by file name without .json; the key "kind" says what it describes."""
    found = sorted((f for f in files(__name__).iterdir() if f.name.endswith(".json")), key=lambda f: f.name)
    return MappingProxyType({f.name.removesuffix(".json"): json.loads(f.read_text("utf-8")) for f in found})


@cache
def calibration_documents() -> tuple[dict[str, Any], ...]:
    """Content of every file in calibrations/, by file name; one file a device and kernel family."""
    folder = files(__name__).joinpath("calibrations")
    found = sorted((f for f in folder.iterdir() if f.name.endswith(".json")), key=lambda f: f.name)
    return tuple(json.loads(f.read_text("utf-8")) for f in found)


def own_calibrations() -> tuple[Path, ...]:
    """The user's calibration files, which the environment names; worker processes inherit it."""
    return tuple(Path(name) for name in os.environ.get(OWN_CALIBRATIONS, "").split(os.pathsep) if name)


def unknown_name(what: str, name: str, known: Iterable[str]) -> ValueError:
    """The error for a name that the catalog lacks, with the nearest names first."""
    names = sorted(known)
    nearest = get_close_matches(name.lower(), names, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(nearest)}? " if nearest else ""
    return ValueError(f"unknown {what} '{name}'; {hint}known: {', '.join(names)}")
