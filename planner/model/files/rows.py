"""Cells of a table as text, column by column, and where in the file each row is: CSV or Parquet."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.model.errors import InputError
from planner.model.files.texts import MAX_FILE_BYTES, read_text

NO_PARQUET = "Parquet needs pyarrow, which is not installed; run `pip install '.[parquet]'`, or take a .csv file"


@dataclass(frozen=True)
class TextTable:
    """A table; no two of its rows are in the same place."""

    path: Path
    header: Sequence[str]
    cells: Mapping[str, Sequence[str]]
    """of each column, without blanks around them"""
    unit: str
    """what rows are counted in: lines of CSV, rows of Parquet"""
    numbers: Sequence[int]
    """of each row, from 1"""
    top: int
    """number of the header's line"""

    def error(self, row: int | None, column: str, problem: str) -> InputError:
        """InputError about a cell, or the header."""
        place = f"{self.unit} {self.top if row is None else self.numbers[row]}, " if row is not None or self.top else ""
        return InputError(str(self.path), f"{place}column '{column}'", problem)


def read_rows(path: Path, *, remedy: str) -> TextTable:
    """All rows that hold something; InputError for what is no table."""
    return _parquet(path, remedy) if path.suffix == ".parquet" else _csv(path, remedy)


def _csv(path: Path, remedy: str) -> TextTable:
    reader = csv.reader(io.StringIO(read_text(path, wanted="a .csv file", remedy=remedy), newline=""), strict=True)
    header: list[str] = []
    top, found, numbers = 1, [], []
    try:
        for cells in reader:
            if not any(map(str.strip, cells)):
                continue
            if not header:
                header, top = [cell.strip() for cell in cells], reader.line_num
                continue
            if len(cells) != len(header):
                problem = f"has {len(cells)} cells for {len(header)} columns; join several values by ; not by ,"
                raise InputError(str(path), f"line {reader.line_num}", problem)
            found.append(cells)
            numbers.append(reader.line_num)
    except csv.Error as error:
        raise InputError(str(path), f"line {reader.line_num}", f"is no valid CSV: {error}") from None
    columns = [[cell.strip() for cell in column] for column in zip(*found, strict=True)] or [[] for _ in header]
    return TextTable(path, header, dict(zip(header, columns, strict=True)), "line", numbers, top)


def _parquet(path: Path, remedy: str) -> TextTable:
    try:
        from pyarrow.parquet import read_table
    except ImportError:
        raise InputError(str(path), "", NO_PARQUET) from None
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            limit = MAX_FILE_BYTES // 2**20
            raise InputError(str(path), "", f"is larger than {limit} MiB, the most that is read; is it the right file?")
        table = read_table(path)
    except FileNotFoundError:
        raise InputError(str(path), "", f"does not exist; {remedy}") from None
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = str(error).splitlines()[0]
        raise InputError(str(path), "", f"is no Parquet file that can be read: {reason}") from None
    header = [str(name) for name in table.column_names]
    columns: list[Sequence[str]] = [[*map(_cell, column.to_pylist())] for column in table.columns]
    return TextTable(path, header, dict(zip(header, columns, strict=True)), "row", range(1, table.num_rows + 1), 0)


def _cell(value: Any) -> str:
    """A value of Parquet as a cell of CSV has it."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ";".join(map(_cell, value))
    if isinstance(value, dict):
        return json.dumps(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
