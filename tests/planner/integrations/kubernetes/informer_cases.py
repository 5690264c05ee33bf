"""Shared by the tests of `client`, `informer` and `watch_list`."""

from typing import Any

from planner.integrations.kubernetes.client import path_of

PATH = path_of("v1", "pods")


def pod(name: str, **labels: str) -> dict[str, Any]:
    about = {"name": name, "namespace": "a", "uid": name, "labels": labels}
    return {"metadata": about, "spec": {"containers": [{"name": "main", "image": "x"}]}}
