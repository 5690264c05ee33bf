"""Write a commented instance to start from, with jobs from a CSV file if there is one."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import indent
from typing import Any

import yaml

from planner.candidates.expand import list_options
from planner.candidates.unlisted import why_unlisted
from planner.fabrics import fabrics
from planner.fabrics.usual_numbers import with_usual_numbers
from planner.model import files
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.job_table import read_job_table
from planner.model.schema_versions import NEWEST

DEFAULTS = {
    "training": {"global_batch": 256, "sequence": 2048},
    "inference": {"concurrency": 32, "input_tokens": 1024, "output_tokens": 512},
    "dlrm_training": {"batch": 65536},
    "dlrm_inference": {"batch": 4096},
}
"""of the workload columns that are empty, by kind"""

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
    device: str | Mapping[str, Any],
    jobs: Sequence[Mapping[str, Any]] | None = None,
) -> str:
    """YAML of an instance on a kind of fabric with comments, valid as written; example jobs unless some are given.

    The device has a name of the catalog, or the fields of one. NVLink and network are those of the catalog's server
    with such accelerators, or with those that it is like, where there is one.
    """
    sold = device if isinstance(device, str) else str(device.get("like", ""))
    template = fabrics()[fabric].template
    text = (
        f"# An instance for `planner solve`; `planner schema` describes every field.\n"
        f"schema_version: {NEWEST}\nname: {_scalar(name)}\ncluster:\n"
        + _device_text(device)
        + with_usual_numbers(template.text(servers=servers, tiles=tiles, fibers=fibers), sold)
        + JOBS
        + "\n".join(_job_text(job) for job in (jobs or example_jobs(servers * tiles)))
        + OBJECTIVES.format(objectives=", ".join(template.objectives))
    )
    Instance.parse(files.parse_text(text, name), "the new instance")
    return text


def _device_text(device: str | Mapping[str, Any]) -> str:
    if isinstance(device, str):
        return f"  device: {_scalar(device):<26} # from the catalog, or all fields inline\n"
    fields = yaml.safe_dump(dict(device), allow_unicode=True, width=10**6, default_flow_style=None, sort_keys=False)
    return "  device:\n" + indent(fields, "    ")


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
    """Jobs of a table with a header; InputError names file, line and column of what is wrong."""
    table = read_job_table(path, DEFAULTS)
    for row, given in enumerate(table.jobs):
        try:
            least = min(files.validate(Job, given, str(path)).sizes)
        except InputError as error:
            raise table.of_row(row, error) from None
        if least > max_devices:
            problem = f"{least} is more than the {max_devices} there are; ask for fewer"
            raise table.error(row, "accelerators", problem)
    return [job | {"weight": float(job["weight"])} if "weight" in job else job for job in table.jobs]


def left_out(text: str, where: str) -> list[str]:
    """Jobs that no size they accept can run, whatever else runs, each with the reason.

    InputError for one that is required, or where no job is left.
    """
    instance = Instance.parse(files.parse_text(text, where), where)
    found = []
    for job in instance.jobs:
        field = f"jobs[{job.name}]"
        try:
            options = list_options(instance, job)
        except ValueError as error:
            raise InputError(where, f"{field}.workload", str(error)) from None
        if not len(options):
            reason = f"no candidate: {why_unlisted(instance.cluster, job)}; ask for more or other sizes"
            found.append(f"{field}.accelerators: {reason}")
            if job.required or len(found) == len(instance.jobs):
                raise InputError(where, f"{field}.accelerators", reason)
    return found
