"""What the form of an instance shows: what its file gives, as it is written, valid or not."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from planner.model.errors import InputError
from planner.model.health import FailedFiber, FailedLaser, FailedReceiver
from planner.reference.fields import Field, Object, at_path, objects_of
from planner.reference.file_kinds import json_schema
from planner.studio.text_edits import in_one_line

MOST_CHARACTERS = 300
"""of a value in one line of the form; longer ones are changed in the text"""
MOST_JOBS = 400
"""of an instance that the form lists"""
SERVING = "transformer_inference"
"""kind of the workloads that have limits"""
Data = Mapping[str, Any]
_NAMED: Mapping[str, type[FailedFiber | FailedLaser]] = {
    "failed_fibers": FailedFiber,
    "failed_lasers": FailedLaser,
    "failed_receivers": FailedReceiver,
}
"""parts that `Health` does not record by a name"""


def form_of(data: Data) -> dict[str, Any]:
    """Jobs, fields of the cluster and failed parts of what a file holds, fit for JSON."""
    cluster = data.get("cluster")
    cluster = cluster if isinstance(cluster, dict) else {}
    given = data.get("jobs")
    jobs = given if isinstance(given, list) else []
    return {
        "name": _line(data.get("name")),
        "jobs": [_job(job) for job in jobs[:MOST_JOBS]],
        "jobs_in": given if isinstance(given, str) else None,
        "jobs_more": max(len(jobs) - MOST_JOBS, 0),
        "fields": [*_general(data, cluster), *_fabric(cluster.get("fabric"))],
        "failed": failed_names(cluster.get("health")),
    }


def failed_names(health: object) -> list[str]:
    """Names of failed parts as the file has them, each as `--failed` takes it."""
    if not isinstance(health, dict):
        return []
    return [_name(kind, entry) for kind, parts in health.items() for entry in _listed(parts) if _name(kind, entry)]


def without_part(health: Data, name: str) -> dict[str, Any]:
    """Failed parts of a file without those of a name; kinds without any are left out."""
    kept = {kind: [each for each in _listed(parts) if _name(kind, each) != name] for kind, parts in health.items()}
    return {kind: parts for kind, parts in kept.items() if parts}


def _listed(parts: object) -> list[object]:
    """Entries of a kind; none where the file has no list, which its errors tell."""
    return parts if isinstance(parts, list) else []


def _name(kind: str, entry: object) -> str:
    """s0.t1, s0.t1:port, s0>s1#2, s0.t1:w3, s0.t1:rx:w3; nothing for what is none."""
    if isinstance(entry, str):
        return f"{entry}:port" if kind == "failed_ports" else entry
    try:
        return _NAMED[kind].model_validate(entry).name if kind in _NAMED else ""
    except ValueError:
        return ""


def _job(job: object) -> dict[str, Any]:
    """One row; values as they are written in one line."""
    given = job if isinstance(job, dict) else {}
    workload = given.get("workload")
    workload = workload if isinstance(workload, dict) else {}
    model = workload.get("model")
    return {
        "name": _line(given.get("name")),
        "what": str(workload.get("kind", "")).replace("_", " "),
        "model": model if isinstance(model, str) else "",
        "accelerators": _line(given.get("accelerators")),
        "weight": _line(given.get("weight")),
        "required": given.get("required") is True,
        "limits": _line(workload.get("limits")) if workload.get("kind") == SERVING else None,
    }


def _general(data: Data, cluster: Data) -> Iterator[dict[str, Any]]:
    """Name and objectives of the instance, and what accelerators it has."""
    objects = _objects()
    whole, of_cluster = at_path(objects, "")[0], at_path(objects, "cluster")[0]
    yield from _shown(("name", "objectives"), whole, data, ())
    yield from _shown(("device",), of_cluster, cluster, ("cluster",))


def _fabric(fabric: object) -> Iterator[dict[str, Any]]:
    """Every field of the kind of fabric, those that are given first."""
    if not isinstance(fabric, dict):
        return
    try:
        known = at_path(_objects(), f"cluster.fabric.{fabric.get('kind')}")[0]
    except InputError:
        return
    keys = [each.key for each in known.fields if each.key != "kind"]
    yield from _shown(sorted(keys, key=lambda key: key not in fabric), known, fabric, ("cluster", "fabric"))


def _shown(keys: Sequence[str], known: Object, given: Data, path: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    fields = {each.key: each for each in known.fields}
    for key in keys:
        value = _line(given.get(key))
        yield {
            "path": [*path, key],
            "key": key,
            "value": value,
            "is_given": key in given,
            "is_long": len(value) > MOST_CHARACTERS,
            "default": fields[key].default,
            "meaning": _meaning(fields[key]),
        }


def _meaning(field: Field) -> str:
    example = f"; such as {field.example}" if field.example else ""
    return f"{field.meaning} ({field.type}{example})" if field.meaning else f"{field.type}{example}"


def _line(value: object) -> str:
    return "" if value is None else in_one_line(value)


@cache
def _objects() -> dict[str, Object]:
    return objects_of(json_schema("instance"), "an instance")
