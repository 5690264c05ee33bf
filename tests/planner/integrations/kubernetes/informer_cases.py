"""Shared by the tests of `client`, `informer` and `watch_list`."""

from typing import Any

from planner.integrations.kubernetes.client import path_of
from tests.planner.integrations.kubernetes.emulator import Emulator
from tests.planner.integrations.kubernetes.objects import PODS

PATH = path_of("v1", "pods")


def pod(name: str, **labels: str) -> dict[str, Any]:
    about = {"name": name, "namespace": "a", "uid": name, "labels": labels}
    return {"metadata": about, "spec": {"containers": [{"name": "main", "image": "x"}]}}


def write(emulator: Emulator, step: str, number: int) -> None:
    """Put a new pod, change the first one, or drop the last one; nothing where there is none, or for other steps."""
    names = sorted(item["metadata"]["name"] for item in emulator.all(PODS))
    if step == "put":
        emulator.put(PODS, pod(f"p{number}"))
    elif step == "change" and names:
        emulator.change(PODS, "a", names[0], spec={"nodeName": str(number)})
    elif step == "drop" and names:
        emulator.drop(PODS, "a", names[-1])
