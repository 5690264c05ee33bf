"""Tables of measurements: read a CSV file, tell its kind by its columns, refuse what no model could read."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from costmodel.calibrate import FAMILIES
from costmodel.calibrate.family import Family, Table
from costmodel.hardware.device import load_device
from planner.model.errors import InputError
from planner.model.files import header_hint, read_text
from planner.model.files.rows import NO_PARQUET

if TYPE_CHECKING:
    import pandas as pd

MAX_FILE_BYTES = 256 * 2**20
TABLE_REMEDY = "name a .csv file with a header and one measurement a row"


@dataclass(frozen=True)
class Measurements:
    """One table, ready for its family."""

    path: Path
    kind: str
    columns: Table
    """shape (N,) each, those that the family reads"""
    lines: NDArray[np.int64]
    """line of each row in the file, from 1"""

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def family(self) -> Family:
        return FAMILIES[self.kind]


def read_table(path: Path, kind: str | None = None) -> Measurements:
    """A table of one kind; without `kind` the columns tell, and where they fit several kinds the file's name."""
    if kind is not None and kind not in FAMILIES:
        raise InputError("--kind", f"'{kind}'", f"is no kind of table; kinds are: {', '.join(FAMILIES)}")
    frame = _read(path, TABLE_REMEDY)
    kind = kind or _kind_of(path, frame)
    family = FAMILIES[kind]
    _require_columns(path, frame, family.columns, f"a table of kind {kind} has the columns {', '.join(family.columns)}")
    found = [name for name in (*family.columns, *family.optional) if name in frame.columns]
    lines = np.asarray(frame.index, dtype=np.int64)
    names, filled = [name for name in found if name in family.names], set(family.columns) - set(family.blank)
    columns: dict[str, NDArray[Any]] = {name: _names(path, frame, name, is_required=name in filled) for name in names}
    for name in found:
        if name not in columns:
            columns[name] = _numbers(path, frame, name, is_required=name in filled)
    if "device" in names:
        _require_devices(path, columns["device"], lines)
    _require_bounds(path, columns, lines, family)
    return Measurements(path, kind, columns, lines)


def read_columns(
    path: Path,
    numbers: Sequence[str],
    *,
    optional_numbers: Sequence[str] = (),
    optional_names: Sequence[str] = (),
    remedy: str = TABLE_REMEDY,
) -> tuple[Table, NDArray[np.int64]]:
    """Columns of a CSV or Parquet file, and the line (in Parquet the row) of each row, from 1.

    `numbers` must be there and finite in every row; an optional column that is absent is left out. Other columns are
    not read.
    """
    frame = _read(path, remedy)
    wanted = ", ".join(numbers)
    _require_columns(path, frame, numbers, f"a row has the columns {wanted}")
    columns: dict[str, NDArray[Any]] = {name: _numbers(path, frame, name, is_required=True) for name in numbers}
    for name in optional_numbers:
        if name in frame.columns:
            columns[name] = _numbers(path, frame, name, is_required=True)
    for name in optional_names:
        if name in frame.columns:
            columns[name] = _names(path, frame, name, is_required=False)
    return columns, np.asarray(frame.index, dtype=np.int64)


def computed_columns(
    path: Path, numbers: Mapping[str, str], names: Mapping[str, str], *, remedy: str = TABLE_REMEDY
) -> tuple[Table, NDArray[np.int64]]:
    """Columns computed from those of a CSV or Parquet file of another program, and the line (row) of each.

    `numbers`: an expression for each column, such as `end - submit`, in seconds where columns are times of day; NaN
    where a cell is blank or no number. `names`: the column that each is copied from.
    """
    import pandas as pd

    frame = _read(path, remedy)
    _require_columns(path, frame, list(names.values()), "name a column of the table")
    values = pd.DataFrame({name: _seconds_or_numbers(frame[name]) for name in frame.columns}, index=frame.index)
    columns: dict[str, NDArray[Any]] = {}
    for name, expression in numbers.items():
        try:
            found = values.eval(expression, engine="python")
            columns[name] = np.broadcast_to(np.asarray(found, dtype=np.float64), (len(frame),))
        except (SyntaxError, NameError, TypeError, ValueError, KeyError, NotImplementedError) as error:
            given = ", ".join(map(str, frame.columns))
            problem = f"cannot be computed: {error}; write columns and arithmetic, such as end - submit, of {given}"
            raise InputError(str(path), f"{name}={expression}", problem) from None
    columns |= {name: _names(path, frame, column, is_required=False) for name, column in names.items()}
    return columns, np.asarray(frame.index, dtype=np.int64)


def csv_text(records: Sequence[Mapping[str, object]]) -> str:
    """Records of equal keys as CSV with a header; an empty cell is None."""
    text = io.StringIO()
    if records:
        writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
    return text.getvalue()


def write_parquet(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Rows of equal keys as a Parquet file."""
    import pandas as pd

    try:
        pd.DataFrame(list(rows)).to_parquet(path, index=False)
    except ImportError:
        raise InputError(str(path), "", NO_PARQUET) from None
    except OSError as error:
        raise InputError(str(path), "", f"cannot be written: {error.strerror or error}") from None


def concatenate(tables: Sequence[Measurements]) -> Table:
    """Rows of tables of one kind below each other, blank in the columns that only others of them have."""
    columns = dict.fromkeys(name for table in tables for name in table.columns)
    names = tables[0].family.names
    return {
        name: np.concatenate([
            table.columns.get(name, np.full(len(table), "" if name in names else np.nan)) for table in tables
        ])
        for name in columns
    }  # fmt: skip


def _read(path: Path, remedy: str) -> "pd.DataFrame":
    """All cells as text, the index being the line in the file; blank lines are left out."""
    import pandas as pd

    if path.suffix == ".parquet":
        return _read_parquet(path)
    text = read_text(path, wanted="a .csv file", remedy=remedy, most_bytes=MAX_FILE_BYTES)
    try:
        frame = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False, skip_blank_lines=False, header=None)
    except pd.errors.ParserError as error:
        problem = str(error).replace("Error tokenizing data. C error: ", "").strip()
        raise InputError(str(path), "", f"is no table with one row a line and commas between: {problem}") from None
    frame.index = pd.RangeIndex(1, len(frame) + 1)
    frame = frame[(frame.fillna("") != "").any(axis=1)]
    if frame.empty:
        raise InputError(str(path), "", "is empty; give a header and one measurement a row")
    header = [str(name).strip() for name in frame.iloc[0].fillna("")]
    repeated = sorted({name for name in header if name and header.count(name) > 1})
    if repeated:
        raise InputError(str(path), repeated[0], "is the name of two columns; keep one")
    frame = frame.iloc[1:].fillna("")
    frame.columns = pd.Index(header)
    if frame.empty:
        raise InputError(str(path), "", "has a header but no rows; give at least one measurement")
    return frame


def _read_parquet(path: Path) -> "pd.DataFrame":
    """All cells as text, the index being the number of the row, from 1."""
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except FileNotFoundError:
        raise InputError(str(path), "", "does not exist; name a .csv or .parquet file") from None
    except ImportError:
        raise InputError(str(path), "", NO_PARQUET) from None
    except (OSError, ValueError) as error:
        raise InputError(str(path), "", f"is no Parquet file that can be read: {error}") from None
    if frame.empty:
        raise InputError(str(path), "", "has no rows; give at least one")
    cells = frame.astype(str).where(frame.notna(), "")
    cells.index = pd.RangeIndex(1, len(frame) + 1)
    return cells


def _kind_of(path: Path, frame: "pd.DataFrame") -> str:
    """The kind whose columns the table has, the one that reads most of them; else that in the file's name."""
    given = set(frame.columns)
    fitting = [kind for kind, family in FAMILIES.items() if given >= set(family.columns)]
    most = max((len(FAMILIES[kind].columns) for kind in fitting), default=0)
    best = [kind for kind in fitting if len(FAMILIES[kind].columns) == most]
    if len(best) == 1:
        return best[0]
    named = [kind for kind in best if kind in path.stem]
    if len(named) == 1:
        return named[0]
    if best:
        raise InputError(str(path), "", f"fits several kinds; say which with --kind: {' or '.join(best)}")
    if not given & {name for family in FAMILIES.values() for name in family.columns}:
        hint = header_hint(list(frame.columns), "device")
        raise InputError(str(path), "", f"has columns of no kind of table; {hint}kinds are: {', '.join(FAMILIES)}")
    nearest = max(FAMILIES, key=lambda kind: len(given & set(FAMILIES[kind].columns)))
    missing = [name for name in FAMILIES[nearest].columns if name not in given]
    raise InputError(
        str(path),
        ", ".join(missing),
        f"missing for a table of kind {nearest}, the nearest by its columns; add what is missing, or give --kind",
    )


def _require_columns(path: Path, frame: "pd.DataFrame", wanted: Sequence[str], words: str) -> None:
    """InputError for a column that is not there; `words` say which there should be."""
    given = [str(name) for name in frame.columns]
    missing = [name for name in wanted if name not in given]
    if not missing:
        return
    raise InputError(str(path), ", ".join(missing), f"missing; {header_hint(given, missing[0])}{words}")


def _names(path: Path, frame: "pd.DataFrame", name: str, *, is_required: bool) -> NDArray[np.str_]:
    values = np.asarray([str(value).strip() for value in frame[name]], dtype=np.str_)
    blank = np.flatnonzero(values == "")
    if is_required and len(blank):
        raise InputError(str(path), name, f"row at line {frame.index[blank[0]]} is blank; fill it or drop the row")
    return values


def _numbers(path: Path, frame: "pd.DataFrame", name: str, *, is_required: bool) -> NDArray[np.float64]:
    """Finite numbers; NaN for blank cells of a column that may be absent."""
    import pandas as pd

    text = frame[name].str.strip()
    values = np.asarray(pd.to_numeric(text, errors="coerce"), dtype=np.float64)
    is_wrong = ~np.isfinite(values)
    if not is_required:
        is_wrong &= np.asarray(text != "", dtype=np.bool_)
    wrong = np.flatnonzero(is_wrong)
    if len(wrong):
        cell, line = text.iloc[wrong[0]], frame.index[wrong[0]]
        shown = f"'{cell[:40]}' at line {line} is no finite number" if cell else f"the cell at line {line} is blank"
        raise InputError(str(path), name, f"{shown}; correct it or drop the row")
    return values


def _seconds_or_numbers(cells: "pd.Series[str]") -> "pd.Series[float]":
    """Numbers, or seconds since 1970 where a column has times of day; NaN for what is neither."""
    import pandas as pd

    text = cells.str.strip()
    numbers = pd.to_numeric(text, errors="coerce")
    if numbers.notna().any() or not (text != "").any():
        return numbers.astype(float)
    times = pd.to_datetime(text, errors="coerce", utc=True, format="mixed")
    return (times - pd.Timestamp(0, tz="UTC")).dt.total_seconds()


def _require_devices(path: Path, devices: NDArray[np.str_], lines: NDArray[np.int64]) -> None:
    names, first = np.unique(devices, return_index=True)
    for name, row in zip(names, first, strict=True):
        try:
            load_device(str(name))
        except ValueError as error:
            raise InputError(str(path), "device", f"line {lines[row]}: {error}") from None


def _require_bounds(path: Path, columns: Table, lines: NDArray[np.int64], family: Family) -> None:
    for name, (least, most) in family.bounds.items():
        values = columns.get(name, np.zeros(0))
        wrong = np.flatnonzero((values < least) | (values > most))
        if len(wrong):
            up_to = f"to {most:,.0f}" if np.isfinite(most) else "up"
            problem = f"line {lines[wrong[0]]}: {values[wrong[0]]:g} is none of {least:,.0f} {up_to}; correct it"
            raise InputError(str(path), name, problem)
