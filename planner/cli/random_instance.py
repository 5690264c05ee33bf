"""A random instance to measure with: a fabric of a kind, jobs that load it, one seed."""

import json
from collections.abc import Mapping
from typing import Any

from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.studies.random_instances import random_datacenter

ACCELERATORS, JOBS = 1024, 100
"""unless given"""


def require_meaningful(given: Mapping[str, object], is_random: bool) -> None:
    """InputError for an option that the chosen way to write an instance does not read; None was not given."""
    unread = ("servers", "tiles", "fibers") if is_random else ("accelerators", "seed", "most")
    for name in unread:
        if given[name] is not None:
            remedy = "its size is --accelerators" if is_random else "give --random too"
            said = "means nothing with --random" if is_random else "is of random instances alone"
            raise InputError("new", f"--{name}", f"{said}; {remedy}, or leave it out")


def random_text(
    fabric: str, *, accelerators: int | None, jobs: str | None, seed: int | None, most: int | None, device: str
) -> str:
    """JSON, a line for each job; InputError where numbers do not go together."""
    size = ACCELERATORS if accelerators is None else accelerators
    number = _number(jobs)
    try:
        data = random_datacenter(fabric, size, number, seed or 0, most=most, device=device)
    except InputError as error:
        raise InputError("new", f"--{error.field}", error.problem) from None
    instance = Instance.parse(data | {"jobs": data["jobs"][:1]}, "the new instance")
    limit = instance.cluster.fabric.most_devices_of_a_job
    if most is not None and most > limit:
        raise InputError("new", "--most", f"a job of {most} finds {limit} at most on this fabric; give at most {limit}")
    Instance.parse(data, "the new instance")
    return _lines(data)


def _number(jobs: str | None) -> int:
    """How many jobs `--jobs` asks for."""
    if jobs is None:
        return JOBS
    if not jobs.isdecimal() or not 1 <= int(jobs) <= 10**6:
        raise InputError("new", "--jobs", f"'{jobs[:40]}' is no number of jobs; with --random give one up to 1000000")
    return int(jobs)


def _lines(data: dict[str, Any]) -> str:
    rest = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in data.items() if key != "jobs")
    jobs = ",\n".join(f"  {json.dumps(job)}" for job in data["jobs"])
    return f'{{\n{rest},\n "jobs": [\n{jobs}\n ]\n}}\n'
