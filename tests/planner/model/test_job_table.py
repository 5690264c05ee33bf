"""Jobs of a table are those of the list that says the same, and what is wrong has a line and a column."""

import csv
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from planner.model import files
from planner.model.errors import InputError, UnitWarning
from planner.model.instance import Instance
from planner.model.job_table import read_job_table
from planner.studies.random_instances import datacenter, random_jobs
from tests.fabrics import FABRICS
from tests.paths import ROOT

HEADER = "name,model,kind,accelerators,weight,global_batch,sequence,limits.ttft,concurrency,input_tokens,output_tokens"
GOOD = "a,bert-large,training,8,1,64,512,,,,"
SHIPPED = ("lumorph/rack64.yaml", "serving/rack16.yaml", "sipam/mixed.yaml", "joint/rack48.yaml", "torus/pod64.yaml")


def _flat(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A job as a row of a table."""
    row: dict[str, Any] = {}
    for key, value in fields.items():
        if key == "workload":
            row |= _flat(value)
        elif key == "accelerators" and isinstance(value, dict):
            row[key] = f"{value['min']}-{value['max']}"
        elif isinstance(value, list) and not any(isinstance(each, dict | list) for each in value):
            row[key] = ";".join(map(str, value))
        else:
            row[key] = json.dumps(value) if isinstance(value, dict | list) else value
    return row


def _as_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*dict.fromkeys(key for row in rows for key in row)])
        writer.writeheader()
        writer.writerows(rows)


def _as_parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    frame = pd.DataFrame(list(rows))
    mixed = {name for name in frame if len({type(value) for value in frame[name].dropna()}) > 1}
    frame.astype(dict.fromkeys(mixed, "str")).where(frame.notna(), None).to_parquet(path)


def _instance(folder: Path, data: Mapping[str, Any], table: str) -> Path:
    path = folder / "instance.json"
    path.write_text(json.dumps({**data, "jobs": table}), encoding="utf-8")
    return path


@pytest.mark.parametrize(("suffix", "write"), [("csv", _as_csv), ("parquet", _as_parquet)])
@pytest.mark.parametrize("shipped", [*SHIPPED, "random"])
def test_a_table_is_the_list_that_says_the_same(
    tmp_path: Path, shipped: str, suffix: str, write: Callable[[Path, Sequence[Mapping[str, Any]]], None]
) -> None:
    if shipped == "random":
        data = datacenter(FABRICS["fat_tree"], random_jobs(40, 64, 1, most=32), "random")
    else:
        data = files.parse_text((ROOT / "instances" / shipped).read_text("utf-8"), shipped)
    write(tmp_path / f"jobs.{suffix}", [_flat(job) for job in data["jobs"]])
    assert Instance.load(_instance(tmp_path, data, f"jobs.{suffix}")) == Instance.parse(data)


def test_jobs_of_equal_workloads_share_one(tmp_path: Path) -> None:
    table = tmp_path / "jobs.csv"
    table.write_text(f"{HEADER}\n{GOOD}\nb{GOOD[1:]}\nc,bert-large,training,4,2,32,512,,,,\n", encoding="utf-8")
    first, second, third = (job["workload"] for job in read_job_table(table).validated())
    assert first is second
    assert third.global_batch == 32


@pytest.mark.parametrize(
    ("rows", "place", "problem"),
    [
        ("a,bert-large,training,8,heavy,64,512,,,,", "line 2, column 'weight'", "must be a number (got 'heavy')"),
        (f"{GOOD}\n\nb,bert,training,8,1,64,512,,,,", "line 4, column 'model'", "did you mean bert-base or bert-large"),
        ("a,bert-large,training,8,1,,512,,,,", "line 2, column 'global_batch'", "is missing; give it"),
        ("a,bert-large,training,8,1,64,512,,7,,", "line 2, column 'concurrency'", "means nothing to training"),
        ("a,llama-3.1-8b,inference,8,1,,,soon,8,64,64", "line 2, column 'limits.ttft'", "'soon'"),
        ("a,bert-large,training,{,1,64,512,,,,", "line 2, column 'accelerators'", "is no valid JSON; correct it"),
        ("a,bert-large,training,500,1,64,512,,,,", "line 2, column 'accelerators'", "needs at least 500 accelerators"),
        (f"{GOOD}\n{GOOD}", "line 3, column 'name'", "'a' is the name of line 2 too; names must differ"),
    ],
)
def test_what_is_wrong_has_a_line_and_a_column(tmp_path: Path, rows: str, place: str, problem: str) -> None:
    table = tmp_path / "jobs.csv"
    table.write_text(f"{HEADER}\n{rows}\n", encoding="utf-8")
    data = datacenter(FABRICS["fat_tree"], [], "few")
    with pytest.raises(InputError) as error:
        Instance.load(_instance(tmp_path, data, "jobs.csv"))
    assert str(error.value).startswith(f"{table}: {place}: ")
    assert problem in str(error.value)


def test_rows_of_parquet_are_counted(tmp_path: Path) -> None:
    row = {"name": "a", "model": "bert-large", "kind": "training", "accelerators": [4, 8], "global_batch": 64}
    _as_parquet(tmp_path / "jobs.parquet", [row | {"sequence": 512}, row | {"name": "b", "sequence": -1}])
    table = read_job_table(tmp_path / "jobs.parquet")
    assert table.jobs[0]["accelerators"] == [4, 8]
    with pytest.raises(InputError, match="row 2, column 'sequence': must be at least 1"):
        table.validated()


def test_what_cannot_be_read_has_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = datacenter(FABRICS["fat_tree"], [], "few")
    with pytest.raises(
        InputError, match=r"none\.parquet: does not exist; write one with the columns name, model, kind"
    ):
        Instance.load(_instance(tmp_path, data, "none.parquet"))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError, match=r"run `pip install '\.\[parquet\]'`, or take a .csv file"):
        Instance.load(_instance(tmp_path, data, "none.parquet"))


def test_a_table_is_read_with_its_file_alone() -> None:
    data = datacenter(FABRICS["fat_tree"], [], "few")
    with pytest.raises(InputError, match="jobs: names a table, which is read with the file that names it"):
        Instance.parse(data | {"jobs": "jobs.csv"})


def test_numbers_without_a_unit_are_told(tmp_path: Path) -> None:
    data = datacenter(FABRICS["fat_tree"], [], "few")
    (tmp_path / "jobs.csv").write_text(f"{HEADER},deadline\n{GOOD},90\n", encoding="utf-8")
    with pytest.warns(UnitWarning, match=r"jobs.csv: without a unit, read in SI: jobs\[a\].deadline 90 s"):
        assert Instance.load(_instance(tmp_path, data, "jobs.csv")).jobs[0].deadline_s == 90
