"""Versions of the format of instances: all are read alike, and what an older one took for absent fields is known.

Version 1 (photonplan 0.1) had other defaults for some fields, which version 2 (0.2) leaves to the planner or to the
part. They plan worse, so that a file of either version has those of today; `planner migrate --old-defaults` writes
down what version 1 took.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

NEWEST = 2
KEY = "schema_version"
OLD_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "transformer_training": {"expert": 1, "context": 1, "uneven_stages": False, "overlap": {"context": 0.7}},
    "transformer_inference": {"expert": 1, "kv_precision": "bf16"},
    "appliances": {"hit": 1.0, "link_energy": 0.0},
}
"""what version 1 took for absent fields, by the kind of the object that lacks them"""


class Unsaid(NamedTuple):
    """A field that a file leaves out, and what its version took for it."""

    path: tuple[str | int, ...]
    value: Any


def is_old(data: Mapping[str, Any]) -> bool:
    """Whether what a file holds is an instance of an older version."""
    return data.get(KEY) == 1 and type(data[KEY]) is int


def unsaid(data: Mapping[str, Any]) -> list[Unsaid]:
    """Fields whose default has changed since the version of an instance, and that it leaves out."""
    return [
        Unsaid((*path, key), value)
        for path, holder in _objects(data)
        for key, value in OLD_DEFAULTS[holder["kind"]].items()
        if key not in holder
    ]


def upgraded(data: dict[str, Any]) -> dict[str, Any]:
    """An instance as the newest version has it."""
    return data | {KEY: NEWEST} if is_old(data) else data


def _objects(data: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    """Objects of an instance whose kind has other defaults now, with the way to each."""
    ways: list[tuple[str | int, ...]] = [("cluster", "fabric", "memory")]
    for jobs in ("residents", "jobs"):
        listed = data.get(jobs)
        if isinstance(listed, Sequence) and not isinstance(listed, str):
            ways += [(jobs, number, "workload") for number in range(len(listed))]
    for way in ways:
        holder: Any = data
        for step in way:
            holder = _entry(holder, step)
        if isinstance(holder, Mapping) and holder.get("kind") in OLD_DEFAULTS:
            yield way, holder


def _entry(holder: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return holder[step]
    return holder.get(step) if isinstance(holder, Mapping) else None
