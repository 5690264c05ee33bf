"""Cells of a table, as text, and where they are."""

from pathlib import Path

import pandas as pd
import pytest

from planner.model.errors import InputError
from planner.model.files.rows import read_rows


def test_blank_lines_count_but_hold_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\n a , b\r\n\n1, x y \n,\n2,z\n", encoding="utf-8")
    rows = read_rows(path, remedy="write one")
    assert (rows.header, rows.top, rows.numbers) == (["a", "b"], 2, [4, 6])
    assert rows.cells == {"a": ["1", "2"], "b": ["x y", "z"]}
    assert str(rows.error(1, "b", "is odd")) == f"{path}: line 6, column 'b': is odd"
    assert str(rows.error(None, "b", "is odd")) == f"{path}: line 2, column 'b': is odd"


def test_values_of_parquet_are_cells(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"n": [1.0, None, 2.5], "l": [[1, 2], None, []], "m": [{"x": 1}, None, {"x": 2}], "t": "a"})
    frame.to_parquet(path)
    rows = read_rows(path, remedy="write one")
    assert rows.cells == {
        "n": ["1", "", "2.5"],
        "l": ["1;2", "", ""],
        "m": ['{"x": 1}', "", '{"x": 2}'],
        "t": ["a"] * 3,
    }
    assert str(rows.error(2, "n", "is odd")) == f"{path}: row 3, column 'n': is odd"


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("t.csv", b"a,b\n1\n", "line 2: has 1 cells for 2 columns"),
        ("t.csv", b'a,b\n"1', "line 2: is no valid CSV"),
        ("t.parquet", b"a,b", "is no Parquet file that can be read"),
    ],
)
def test_what_is_no_table_is_told(tmp_path: Path, name: str, content: bytes, problem: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=problem):
        read_rows(path, remedy="write one")
