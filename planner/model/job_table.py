"""Jobs from a table, a row each, CSV or Parquet: a column is a field of the job or of its workload.

A cell is empty (the field is left out), a scalar, several scalars joined by `;`, a range of accelerators such as 4-16,
or JSON in braces or brackets. A dot leads to a field of a field, as in `limits.ttft`. Equal cells are read once, and
jobs of equal workloads share one.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeGuard, get_args

from costmodel.spec import file_key
from costmodel.workloads import Workload
from planner.model import files
from planner.model.errors import InputError
from planner.model.files.rows import TextTable, read_rows
from planner.model.job import Job

Fields = dict[str, Any]
Defaults = Mapping[str, Mapping[str, int]]
"""values of workload fields whose cells are empty, by short kind"""
REQUIRED = ("name", "model", "kind", "accelerators")
JOB_FIELDS = tuple(file_key(name) for name in Job.model_fields if name != "workload")
KINDS = {
    "training": {"kind": "transformer_training"},
    "inference": {"kind": "transformer_inference"},
    "dlrm_training": {"kind": "dlrm", "mode": "training"},
    "dlrm_inference": {"kind": "dlrm", "mode": "inference"},
    "network_training": {"kind": "network_training"},
}
"""short names of kinds; the name of a schema does as well"""
WORKLOAD_FIELDS = {
    str(model.model_fields["kind"].default): frozenset(map(file_key, model.model_fields))
    for model in get_args(get_args(Workload)[0])
}
COLUMNS = frozenset(JOB_FIELDS).union(*WORKLOAD_FIELDS.values())
TEXTS = frozenset({"name", "tenant", "kind", "mode", "model", "utility"})
"""columns whose cells are never numbers"""
TRUTHS = {"yes": True, "true": True, "no": False, "false": False}
SIZES = re.compile(r"\d{1,9}(\s*-\s*\d{1,9}|(\s*;\s*\d{1,9})*)")
INTEGER = re.compile(r"[-+]?\d{1,15}")
NUMBER = re.compile(r"[-+]?(\d{1,15}\.?\d{0,20}|\.\d{1,20})(e[-+]?\d{1,3})?", re.IGNORECASE)


@dataclass(frozen=True)
class JobTable:
    """Jobs as instances have them, beside the rows that they are from."""

    rows: TextTable
    jobs: Sequence[Fields]
    """workloads of equal cells are one object"""

    def error(self, row: int, column: str, problem: str) -> InputError:
        return self.rows.error(row, column, problem)

    def validated(self) -> list[Fields]:
        """The jobs with workloads that are read already; InputError names file, line and column."""
        made: dict[int, Any] = {}
        for row, job in enumerate(self.jobs):
            if id(job["workload"]) not in made:
                alone = {"name": "job", "workload": job["workload"], "accelerators": 1}
                try:
                    read = files.validate(Job, alone, str(self.rows.path))
                except InputError as error:
                    raise self.of_row(row, error) from None
                files.warn_of_missing_units(read, alone, str(self.rows.path))
                made[id(job["workload"])] = read.workload
        return [job | {"workload": made[id(job["workload"])]} for job in self.jobs]

    def located(self, error: InputError) -> InputError:
        """The error of an instance of these jobs, at its line if it is about one of them."""
        named = [row for row, job in enumerate(self.jobs) if error.field.startswith(f"jobs[{job['name']}]")]
        if not named:
            return error
        row = max(named, key=lambda each: len(self.jobs[each]["name"]))
        field = error.field.removeprefix(f"jobs[{self.jobs[row]['name']}]").removeprefix(".")
        return self.of_row(row, InputError(error.where, field, error.problem))

    def of_row(self, row: int, error: InputError) -> InputError:
        """The error about a field of one job, at its line and column."""
        field = error.field.removeprefix("workload.")
        near = [column for column in self.rows.header if field.startswith(column) or column.startswith(f"{field}.")]
        column = max(near, key=len) if near else {"workload": "kind"}.get(field, field)
        return self.error(row, column, error.problem)


def names_table(jobs: object) -> TypeGuard[str]:
    """Whether what stands under `jobs` is the name of a table."""
    return isinstance(jobs, str) and jobs.endswith((".csv", ".parquet"))


def with_jobs_listed(data: Fields, path: Path) -> Fields:
    """What the file of an instance holds, the rows of the table that it may name in the place of the name."""
    jobs = data.get("jobs")
    return data | {"jobs": list(read_job_table(path.parent / jobs).jobs)} if names_table(jobs) else data


def read_job_table(path: Path, defaults: Defaults | None = None) -> JobTable:
    """Jobs of a .csv or .parquet file; InputError names file, line (in Parquet row), column and remedy."""
    remedy = f"write one with the columns {', '.join(REQUIRED)}; instances/jobs.csv of the project is one"
    rows = read_rows(path, remedy=remedy)
    _require_columns(rows)
    if not rows.numbers:
        raise InputError(str(path), "", f"holds no job; {remedy}")
    for column in REQUIRED:
        if "" in rows.cells[column]:
            raise rows.error(rows.cells[column].index(""), column, "is empty; give a value")
    _require_names(rows)
    workloads = _workloads(rows, defaults or {})
    columns = {name: _read(rows, name) for name in rows.header if _head(name) in JOB_FIELDS}
    ordered = sorted(columns, key=lambda name: JOB_FIELDS.index(_head(name)))
    jobs: list[Fields] = [{} for _ in workloads]
    for row, job in enumerate(jobs):
        for name in ordered:
            if name == "accelerators":
                job["workload"] = workloads[row]
            if (value := columns[name][row]) is not None:
                _put(job, name, value)
    return JobTable(rows, jobs)


def _require_columns(rows: TextTable) -> None:
    own = ", ".join(name for name in JOB_FIELDS if name not in REQUIRED)
    known = f"columns are {', '.join(REQUIRED)}, {own}, and fields of the workload, which `planner schema` lists"
    for name in REQUIRED:
        if name not in rows.header:
            raise rows.error(None, name, f"is missing; {files.header_hint(rows.header, name)}{known}")
    for name in rows.header:
        if _head(name) not in COLUMNS or rows.header.count(name) > 1:
            near = get_close_matches(name.casefold(), COLUMNS, n=1)
            hint = f"did you mean '{near[0]}'? " if near else ""
            raise rows.error(None, name, "is given twice" if name in COLUMNS else f"is no known column; {hint}{known}")


def _require_names(rows: TextTable) -> None:
    seen: dict[str, int] = {}
    for row, name in enumerate(rows.cells["name"]):
        if name in seen:
            first = f"{rows.unit} {rows.numbers[seen[name]]}"
            raise rows.error(row, "name", f"'{name}' is the name of {first} too; names must differ")
        seen[name] = row


def _workloads(rows: TextTable, defaults: Defaults) -> list[Fields]:
    """A workload for each row, one object for rows whose cells of it are equal."""
    names = [name for name in rows.header if _head(name) not in JOB_FIELDS]
    columns = [_read(rows, name) for name in names]
    made: dict[tuple[str, ...], Fields] = {}
    found = []
    for row, cells in enumerate(zip(*(rows.cells[name] for name in names), strict=True)):
        workload = made.get(cells)
        if workload is None:
            given = {name: column[row] for name, column in zip(names, columns, strict=True) if column[row] is not None}
            workload = made[cells] = _workload(rows, row, given, defaults)
        found.append(workload)
    return found


def _workload(rows: TextTable, row: int, given: Fields, defaults: Defaults) -> Fields:
    kind = str(given["kind"])
    short = kind.removeprefix("transformer_")
    workload: Fields = dict(KINDS.get(short, {"kind": kind}))
    if workload["kind"] not in WORKLOAD_FIELDS:
        raise rows.error(row, "kind", f"'{kind}' is unknown; give {' or '.join(KINDS)}")
    for name in [name for name in ("model", "precision") if name in given] + [*given]:
        if _head(name) not in WORKLOAD_FIELDS[workload["kind"]]:
            raise rows.error(row, name, f"means nothing to {short}; leave it empty")
        if name != "kind":
            _put(workload, name, given[name])
    filled = defaults.get(short if short in KINDS else f"{kind}_{workload.get('mode')}", {})
    return workload | {name: value for name, value in filled.items() if name not in workload}


def _put(fields: Fields, name: str, value: Any) -> None:
    """Set a field, or a field of a field."""
    head, _, rest = name.partition(".")
    if rest:
        _put(fields.setdefault(head, {}), rest, value)
    else:
        fields[head] = value


def _head(name: str) -> str:
    return name.partition(".")[0]


def _read(rows: TextTable, name: str) -> list[Any]:
    """Values of a column; None where it is empty."""
    read = _sizes if name == "accelerators" else _text if name in TEXTS else _value
    known: dict[str, Any] = {"": None}
    for row, cell in enumerate(rows.cells[name]):
        if cell not in known:
            try:
                known[cell] = _json(cell) if cell[0] in "{[" else read(cell)
            except ValueError as error:
                raise rows.error(row, name, str(error)) from None
    return [known[cell] for cell in rows.cells[name]]


def _json(cell: str) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        raise ValueError(f"'{cell[:40]}' is no valid JSON; correct it, or leave out its brackets") from None


def _text(cell: str) -> str:
    return cell


def _value(cell: str) -> Any:
    """A scalar, or a list of them."""
    if ";" in cell:
        return [_value(part.strip()) for part in cell.split(";")]
    if INTEGER.fullmatch(cell):
        return int(cell)
    return float(cell) if NUMBER.fullmatch(cell) else TRUTHS.get(cell.lower(), cell)


def _sizes(cell: str) -> Any:
    if not SIZES.fullmatch(cell):
        raise ValueError(f"cannot read '{cell[:40]}'; write 8, 4-16 or 4;8")
    sizes = [int(part) for part in re.split("[;-]", cell)]
    if min(sizes) < 1:
        raise ValueError(f"'{cell[:40]}' is no whole number above 0")
    if "-" in cell:
        return {"min": sizes[0], "max": sizes[1]}
    return sizes[0] if len(sizes) == 1 else sizes
