"""Shared by the tests of `holders`."""

from collections.abc import Callable
from typing import Any

from tests.planner.integrations.kubernetes.objects import PODS
from tests.planner.integrations.kubernetes.world import World

OWN = "photonplan.io"
USER = "alice"
OTHER_OWNER = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": "x"}]


def edit(**about: Any) -> Callable[[World, str], None]:
    return lambda world, name: world.emulator.edit(USER, PODS, "team", name, metadata=about) and None


def annotate(name: str, text: str | None) -> Callable[[World, str], None]:
    return edit(annotations={f"{OWN}/{name}": text})


def delete(grace_s: int | None = None) -> Callable[[World, str], None]:
    return lambda world, name: world.emulator.remove(USER, "pods", "team", name, grace_s)


def hold_back(world: World, name: str) -> None:
    """A finalizer keeps the object; its kubelet has not stopped it yet."""
    edit(finalizers=["example.org/mine"])(world, name)
    delete()(world, name)


ALLOWED = {
    "label removed": edit(labels={f"{OWN}/gang": None}),
    "label of a gang that is not": edit(labels={f"{OWN}/gang": "elsewhere"}),
    "label of Kueue": edit(labels={f"{OWN}/gang": "planned"}),
    "other labels": edit(labels={"app": "x", "batch.kubernetes.io/job-completion-index": "0"}),
    "size of the gang": annotate("gang-size", "1"),
    "no size": annotate("gang-size", None),
    "workload": annotate("workload", "gpt"),
    "owner": edit(ownerReferences=OTHER_OWNER),
    "no owner": edit(ownerReferences=None),
    "finalizer": edit(finalizers=["example.org/mine"]),
    "deleted, still stopping": delete(),
    "deleted and held back": hold_back,
}
