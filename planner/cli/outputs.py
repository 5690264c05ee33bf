"""Kinds of output files: an output replaces an earlier one of its kind, and nothing else."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from planner.plotting import SUFFIXES

HEAD_BYTES = 1 << 16
JSON, WEB, TABLES, CSV, XML = (".json",), (".html", ".htm"), (".csv", ".parquet"), (".csv",), (".xml",)
FOREIGN = (".txt", ".md", ".pdf", ".ps", ".eps", ".jpg", ".jpeg", ".gif", ".bmp", ".tsv", ".xls", ".xlsx", ".gz")
"""endings of what no command writes"""
ENDINGS = {*JSON, *WEB, *TABLES, *XML, *SUFFIXES, *FOREIGN}
"""that mean a kind of file"""
PICTURES = (b"\x89PNG", b"<?xml", b"<svg", b"%PDF")


@dataclass(frozen=True)
class Output:
    """One kind of file that a command writes."""

    name: str
    """with its article"""
    is_one: Callable[[Path], bool]
    """whether a file is of this kind"""
    endings: tuple[str, ...] = JSON
    """of names of such files"""
    goes_by_ending: bool = False
    """whether the ending says how it is written"""

    def wrong_ending(self, path: Path) -> str | None:
        """What is wrong with the name of a file to write; None where it ends in nothing that means another kind."""
        ending, remedy = path.suffix.lower(), f"use {' or '.join(self.endings)}"
        if ending in self.endings:
            return None
        if self.goes_by_ending:
            return f"ends in no known format; {remedy}"
        return f"ends in {ending}, and is {self.name}; {remedy}" if ending in ENDINGS else None


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()


def _is_json_with(*keys: str) -> Callable[[Path], bool]:
    """A JSON mapping, or the first of a list of mappings, has these keys."""

    def test(path: Path) -> bool:
        if not _head(path).startswith((b"{", b"[")):
            return False
        try:
            data = json.loads(path.read_text("utf-8-sig"))
        except (ValueError, RecursionError):
            return False
        first = data[0] if isinstance(data, list) and data else data
        return isinstance(first, dict) and all(key in first for key in keys)

    return test


def _is_table_with(*columns: str) -> Callable[[Path], bool]:
    """A CSV file whose header has these columns, or a Parquet file."""

    def test(path: Path) -> bool:
        head = _head(path)
        names = head.partition(b"\n")[0].decode("utf-8", "replace").strip().split(",")
        return head.startswith(b"PAR1") or set(columns) <= set(names)

    return test


def holds_database(path: Path) -> bool:
    """True if a file is empty or one of SQLite."""
    head = _head(path)
    return not head or head.startswith(b"SQLite format 3")


PLAN = Output("a plan", _is_json_with("instance", "assignments"))
PAGE_PLAN = Output("a plan of pages", _is_json_with("schema_version", "instance", "jobs"))
CALIBRATION = Output("a calibration", _is_json_with("device", "families"))
RUNS = Output("a list of runs", _is_json_with("instance", "policy"))
RUNS_TABLE = Output("a table of runs", _is_table_with("instance", "policy"), TABLES)
CELLS_TABLE = Output("a table of a replay", _is_table_with("cluster", "policy"), TABLES)
FRONT_TABLE = Output("a table of a front", _is_table_with("tokens_per_s_of_a_user", "tokens_per_s_of_a_device"), CSV)
MEASUREMENTS = Output("a table of measurements", _is_table_with("device"), CSV)
MSCCL = Output("an algorithm of MSCCL", lambda path: _head(path).startswith(b"<algo"), XML)
SHIFTS = Output("shifts of lines", _is_json_with("kind", "cubes", "weights"))
TRACE = Output("a trace", _is_table_with("arrival_s", "duration_s"), CSV)
WEB_PAGE = Output("a web page", lambda path: _head(path).lower().startswith(b"<!doctype html"), WEB)
PICTURE = Output("a picture", lambda path: _head(path).startswith(PICTURES), SUFFIXES, goes_by_ending=True)
