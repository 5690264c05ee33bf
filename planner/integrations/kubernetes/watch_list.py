"""A list as the first events of a watch (KEP-3157), so that one object at a time is held of those that nobody keeps."""

from collections.abc import Callable
from contextlib import closing

from planner.integrations.kubernetes.client import ApiError, KubernetesClient
from planner.integrations.kubernetes.config import Object

INITIAL_END = "k8s.io/initial-events-end"
"""annotation of the bookmark after the last object of the list"""
LIST_S = 30
"""time that a list may take as a stream"""
Objects = dict[tuple[str, str], Object]
"""by namespace, or nothing, and name"""


def watch_list(
    api: KubernetesClient, path: str, keeps: Callable[[Object], bool], wait_s: int = LIST_S
) -> tuple[Objects, str] | None:
    """Objects of interest under a path, and the version that they had then.

    None where the stream ends, in good order, before it has said that these are all: the API does not know how, or
    there are too many. ApiError where it refuses, breaks off, or falls silent."""
    objects: Objects = {}
    with closing(api.watch(path, None, wait_s)) as events:
        for kind, item in events:
            if kind == "ERROR":
                raise error_of(item)
            about = item["metadata"]
            if kind == "BOOKMARK" and (about.get("annotations") or {}).get(INITIAL_END) == "true":
                return objects, str(about.get("resourceVersion") or "")
            apply(objects, kind, item, keeps)
    return None


def apply(objects: Objects, kind: str, item: Object, keeps: Callable[[Object], bool]) -> None:
    """Enter one event of a watch."""
    if kind == "BOOKMARK":
        return
    if kind == "DELETED" or not keeps(item):
        objects.pop(key(item), None)
    else:
        objects[key(item)] = item


def error_of(status: Object) -> ApiError:
    """What an ERROR event of a watch says."""
    return ApiError(int(status.get("code") or 0), str(status.get("message") or "the watch has ended"))


def key(item: Object) -> tuple[str, str]:
    """Namespace, or nothing, and name."""
    about = item["metadata"]
    return str(about.get("namespace") or ""), str(about["name"])
