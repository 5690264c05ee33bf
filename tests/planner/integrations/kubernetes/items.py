"""Objects as users, kubelets and controllers write them, and what is to be seen of them."""

from typing import Any

CHECK = "photonplan"
GPU = "nvidia.com/gpu"


def pod_spec(each: int, **more: Any) -> dict[str, Any]:
    limits = {"limits": {GPU: str(each)}} if each else {}
    return {"containers": [{"name": "main", "image": "x", "resources": limits}]} | more


def pod_set(pods: int, each: int, name: str = "main", **annotations: str) -> dict[str, Any]:
    about = {"annotations": {f"photonplan.io/{key.replace('_', '-')}": text for key, text in annotations.items()}}
    return {"name": name, "count": pods, "template": {"metadata": about, "spec": pod_spec(each)}}


def gpus(item: dict[str, Any]) -> int:
    return sum(int(one["resources"].get("limits", {}).get(GPU, 0)) for one in item["spec"]["containers"])


def node(name: str) -> dict[str, Any]:
    ready = {"type": "Ready", "status": "True"}
    about = {"name": name, "labels": {"kubernetes.io/hostname": f"{name}.local"}}
    return {"metadata": about, "spec": {}, "status": {"conditions": [ready]}}


def is_open(item: dict[str, Any]) -> bool:
    return item["status"]["conditions"][0]["status"] == "True" and not item["spec"].get("unschedulable")


def owner(item: dict[str, Any]) -> str:
    """Namespace and name of what made a pod; nothing for none."""
    about = item["metadata"]
    return "".join(f"{about['namespace']}/{one['name']}" for one in about.get("ownerReferences") or ())


def holds(status: dict[str, Any], kind: str) -> bool:
    """Whether a condition of an object is true."""
    return any(one["type"] == kind and one["status"] == "True" for one in status.get("conditions", ()))


def merged(*parts: dict[str, str] | None) -> dict[str, str]:
    """Additions only: Kueue refuses a key that is there already with another value."""
    found: dict[str, str] = {}
    for part in parts:
        for key, text in (part or {}).items():
            assert found.setdefault(key, text) == text, f"{key} is given twice"
    return found
