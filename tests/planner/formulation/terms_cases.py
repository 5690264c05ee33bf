"""Shared by the tests of `terms`."""

from typing import Any

from planner.model.instance import Instance
from tests.planner.checks.plans import FAT_TREE, TRAINING

Fields = dict[str, Any]


def instance_of(*jobs: Fields, **more: Any) -> Instance:
    """One server of four accelerators, so that any jobs fit that ask for no more."""
    cluster = {"device": "h100-sxm", "fabric": FAT_TREE | {"servers": 1}}
    return Instance.parse({"schema_version": 2, "name": "wide", "cluster": cluster, "jobs": list(jobs), **more})


def job(name: str, accelerators: Any, weight: float) -> Fields:
    return {"name": name, "workload": TRAINING, "accelerators": accelerators, "weight": weight}
