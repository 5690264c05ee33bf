"""Write a commented instance to start from, with jobs from a CSV file if there is one."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from planner.candidates.expand import list_options
from planner.candidates.unlisted import why_unlisted
from planner.fabrics import fabrics
from planner.model import files
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.job import Job

NUMBERS = ("global_batch", "sequence", "concurrency", "input_tokens", "output_tokens", "batch")
REQUIRED = ("name", "model", "kind", "accelerators")
COLUMNS = (*REQUIRED, "tenant", "weight", "required", "precision", *NUMBERS)
DEFAULTS = {
    "training": {"global_batch": 256, "sequence": 2048},
    "inference": {"concurrency": 32, "input_tokens": 1024, "output_tokens": 512},
    "dlrm_training": {"batch": 65536},
    "dlrm_inference": {"batch": 4096},
}
"""of the workload columns, by kind; those of the other kinds must be empty"""
YES_NO = {"": False, "no": False, "false": False, "0": False, "yes": True, "true": True, "1": True}

JOBS = """
# Who wants to run. `accelerators` is a number, a list such as [4, 8], or {min: 4, max: 16}: the planner picks
# the size and how the job is divided. A higher `weight` counts for more; a job that is `required` must run.
jobs:
"""
OBJECTIVES = """
# In this order; each may let the next ones spend a part of it: {{name: value, tolerance: 0.5 %}}
objectives: [{objectives}]
"""


def instance_text(
    name: str,
    *,
    fabric: str,
    servers: int,
    tiles: int,
    fibers: int,
    device: str,
    jobs: Sequence[Mapping[str, Any]] | None = None,
) -> str:
    """YAML of an instance on a kind of fabric with comments, valid as written; example jobs unless some are given."""
    template = fabrics()[fabric].template
    text = (
        f"# An instance for `planner solve`; `planner schema` describes every field.\n"
        f"schema_version: 1\nname: {_scalar(name)}\ncluster:\n"
        f"  device: {_scalar(device):<26} # from the catalog, or all fields inline\n"
        + template.text(servers=servers, tiles=tiles, fibers=fibers)
        + JOBS
        + "\n".join(_job_text(job) for job in (jobs or example_jobs(servers * tiles)))
        + OBJECTIVES.format(objectives=", ".join(template.objectives))
    )
    Instance.parse(files.parse_text(text, name), "the new instance")
    return text


def example_jobs(num_devices: int) -> list[dict[str, Any]]:
    """A chat service and a training job, of sizes that the cluster has."""
    half = max(1, num_devices // 2)
    chat = {"kind": "transformer_inference", "model": "llama-3.1-8b", **DEFAULTS["inference"]}
    training = {"kind": "transformer_training", "model": "bert-large", "global_batch": 64, "sequence": 512}
    sizes = sorted({min(size, half) for size in (1, 2, 4)})
    return [
        {"name": "chat", "tenant": "search", "workload": chat, "accelerators": sizes, "weight": 5.0},
        {
            "name": "pretrain",
            "tenant": "research",
            "workload": training,
            "accelerators": {"min": 1, "max": min(8, num_devices)},
        },
    ]


def _job_text(job: Mapping[str, Any]) -> str:
    """One job as an item of the list, each field on a line."""
    lines = [f"    {key}: {_scalar(value)}" for key, value in job.items()]
    return "  - " + "\n".join(lines).lstrip() + "\n"


def _scalar(value: object) -> str:
    """A value on one line of YAML, quoted where it must be."""
    text: str = yaml.safe_dump(value, allow_unicode=True, width=10**6, default_flow_style=True, sort_keys=False)
    return text.removesuffix("...\n").strip()


def read_jobs(path: Path, *, max_devices: int) -> list[dict[str, Any]]:
    """Jobs of a CSV file with a header; InputError names file, line and column of what is wrong."""
    remedy = f"write one with the columns {', '.join(REQUIRED)}; instances/jobs.csv of the project is one"
    text = files.read_text(path, wanted="a .csv file", remedy=remedy)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    jobs: list[dict[str, Any]] = []
    names: dict[str, int] = {}
    header: list[str] = []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = _header(path, reader.line_num, cells)
                continue
            row = _Row(path, reader.line_num, header, cells)
            job = row.job(max_devices)
            if job["name"] in names:
                problem = f"'{job['name']}' is the name of line {names[job['name']]} too; names must differ"
                raise row.error("name", problem)
            names[job["name"]] = reader.line_num
            jobs.append(job)
    except csv.Error as error:
        raise InputError(str(path), f"line {reader.line_num}", f"is no valid CSV: {error}") from None
    if not jobs:
        problem = f"holds no job; give a header ({','.join(REQUIRED)}, ...) and a row for each"
        raise InputError(str(path), "", problem)
    return jobs


def _header(path: Path, line: int, cells: Sequence[str]) -> list[str]:
    header, known = [cell.strip() for cell in cells], f"columns are {', '.join(COLUMNS)}"
    for name in REQUIRED:
        if name not in header:
            hint = files.header_hint(header, name)
            raise InputError(str(path), f"line {line}, column '{name}'", f"is missing; {hint}{known}")
    for name in header:
        if name not in COLUMNS or header.count(name) > 1:
            near = get_close_matches(name.casefold(), COLUMNS, n=1)
            hint = f"did you mean '{near[0]}'? " if near else ""
            problem = "is given twice" if name in COLUMNS else f"is no known column; {hint}{known}"
            raise InputError(str(path), f"line {line}, column '{name}'", problem)
    return header


class _Row:
    """One line of the CSV file."""

    def __init__(self, path: Path, line: int, header: Sequence[str], cells: Sequence[str]) -> None:
        self._path, self._line = path, line
        if len(cells) != len(header):
            problem = f"has {len(cells)} cells for {len(header)} columns; join several sizes by ; not by ,"
            raise InputError(str(path), f"line {line}", problem)
        self._cells = {name: cell.strip() for name, cell in zip(header, cells, strict=True)}

    def error(self, column: str, problem: str) -> InputError:
        return InputError(str(self._path), f"line {self._line}, column '{column}'", problem)

    def job(self, max_devices: int) -> dict[str, Any]:
        """The job as it is written in an instance."""
        for column in REQUIRED:
            if not self._cells[column]:
                raise self.error(column, "is empty; give a value")
        job: dict[str, Any] = {"name": self._cells["name"]}
        if tenant := self._cells.get("tenant"):
            job["tenant"] = tenant
        job["workload"] = self._workload()
        job["accelerators"] = self._accelerators(max_devices)
        if weight := self._cells.get("weight"):
            job["weight"] = self._number("weight", weight)
        required = self._cells.get("required", "").lower()
        if required not in YES_NO:
            raise self.error("required", f"'{required}' is neither yes nor no")
        if YES_NO[required]:
            job["required"] = True
        self._validate(job)
        return job

    def _workload(self) -> dict[str, Any]:
        kind = self._cells["kind"].removeprefix("transformer_")
        if kind not in DEFAULTS:
            raise self.error("kind", f"'{kind}' is unknown; give {' or '.join(DEFAULTS)}")
        workload: dict[str, Any] = {"kind": f"transformer_{kind}"}
        if kind.startswith("dlrm_"):
            workload = {"kind": "dlrm", "mode": kind.removeprefix("dlrm_")}
        workload["model"] = self._cells["model"]
        if precision := self._cells.get("precision"):
            workload["precision"] = precision
        for column in NUMBERS:
            cell = self._cells.get(column)
            if cell and column not in DEFAULTS[kind]:
                raise self.error(column, f"means nothing to {kind}; leave it empty")
            if column in DEFAULTS[kind]:
                workload[column] = self._integer(column, cell) if cell else DEFAULTS[kind][column]
        return workload

    def _accelerators(self, max_devices: int) -> int | list[int] | dict[str, int]:
        cell = self._cells["accelerators"]
        if not re.fullmatch(r"\d+(\s*-\s*\d+|(\s*;\s*\d+)*)", cell):
            raise self.error("accelerators", f"cannot read '{cell}'; write 8, 4-16 or 4;8")
        sizes = [self._integer("accelerators", part.strip()) for part in re.split("[;-]", cell)]
        if min(sizes) > max_devices:
            raise self.error("accelerators", f"{min(sizes)} is more than the {max_devices} there are; ask for fewer")
        if "-" in cell:
            return {"min": sizes[0], "max": sizes[1]}
        return sizes[0] if len(sizes) == 1 else sizes

    def _integer(self, column: str, cell: str) -> int:
        if not re.fullmatch(r"\d{1,9}", cell) or int(cell) < 1:
            raise self.error(column, f"'{cell}' is no whole number above 0")
        return int(cell)

    def _number(self, column: str, cell: str) -> float:
        try:
            return float(cell)
        except ValueError:
            raise self.error(column, f"'{cell}' is no number") from None

    def _validate(self, job: dict[str, Any]) -> None:
        """The rules of instances, by column."""
        try:
            files.validate(Job, job, str(self._path))
        except InputError as error:
            field = error.field.split(".")
            column = next((part for part in reversed(field) if part in COLUMNS), field[0])
            raise self.error(column, error.problem) from None


def require_runnable(text: str, where: str) -> None:
    """InputError for a job that no size it accepts can run, whatever else runs."""
    instance = Instance.parse(files.parse_text(text, where), where)
    for job in instance.jobs:
        field = f"jobs[{job.name}]"
        try:
            options = list_options(instance, job)
        except ValueError as error:
            raise InputError(where, f"{field}.workload", str(error)) from None
        if not len(options):
            reason = why_unlisted(instance.cluster, job)
            raise InputError(where, f"{field}.accelerators", f"no candidate: {reason}; ask for more or other sizes")
