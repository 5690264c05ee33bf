"""What an API server adds to an object that it stores: identity, defaults, and who wrote it.

Only what a client may stumble on: fields that users did not write, and fields that this project knows nothing of.
"""

from typing import Any
from uuid import NAMESPACE_OID, uuid5

MADE = "2027-01-15T07:59:00Z"
Raw = dict[str, Any]
_CONTAINER = {
    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "imagePullPolicy": "Always",
}  # fmt: skip
_POD_SPEC: Raw = {
    "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "securityContext": {},
    "terminationGracePeriodSeconds": 30, "enableServiceLinks": True, "preemptionPolicy": "PreemptLowerPriority",
    "serviceAccountName": "default", "priority": 0,
}  # fmt: skip


def stored(item: Raw, version: int) -> Raw:
    """An object as it is stored first, at a version."""
    about = item["metadata"]
    about.setdefault("uid", str(uuid5(NAMESPACE_OID, f"{item['kind']} {about['name']} {version}")))
    about.setdefault("creationTimestamp", MADE)
    about.setdefault("generation", 1)
    about.setdefault(
        "managedFields",
        [{"manager": "kubectl", "operation": "Update", "apiVersion": item["apiVersion"], "time": MADE,
          "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:labels": {}}}}],
    )  # fmt: skip
    if item["kind"] == "Pod":
        _default_pod(item["spec"])
        item.setdefault("status", {}).setdefault("phase", "Pending")
        item["status"].setdefault("qosClass", "Burstable")
    elif item["kind"] == "Workload":
        item["spec"].setdefault("active", True)
        item["spec"].setdefault("priority", 0)
        for one in item["spec"].get("podSets") or ():
            one.setdefault("name", "main")
    return item


def _default_pod(spec: Raw) -> None:
    for key, value in _POD_SPEC.items():
        spec.setdefault(key, value)
    for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
        for key, value in _CONTAINER.items():
            container.setdefault(key, value)
        resources = container.setdefault("resources", {})
        if "limits" in resources:
            resources["requests"] = dict(resources["limits"]) | (resources.get("requests") or {})
