"""What an API server accepts of an object's form: the published OpenAPI schemas, read strictly, and the rules that its
validation adds to them.

Schemas of Kubernetes come from `kubernetes-validate`; those of Kueue from its CustomResourceDefinitions
(`config/components/crd/bases`), as far as objects here use them; that of Slice from its types and the page on it in the
manual of GKE, whose rules a webhook holds objects to.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from math import prod
from typing import Any

import kubernetes_validate
from jsonschema import Draft202012Validator
from kubernetes_validate.utils import schema_contents
from referencing import Registry, Resource

from tests.planner.integrations.kubernetes.contract import CONDITION, LABEL_VALUES, NAMES, TEXTS, WORKLOAD_STATUS

VERSION = "1.36"
CLUSTER_WIDE = frozenset(
    {"Namespace", "Node", "ClusterRole", "ClusterRoleBinding", "ValidatingAdmissionPolicy",
     "ValidatingAdmissionPolicyBinding", "AdmissionCheck", "Slice"}
)  # fmt: skip
"""kinds without a namespace, of those that are used here"""
_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_DNS_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_PATH_NAME = r"(?!\.{1,2}$)[^/%]+"
_NAME_RULES = {"Namespace": _DNS_LABEL, "Service": r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", "ClusterRole": _PATH_NAME,
               "ClusterRoleBinding": _PATH_NAME}  # fmt: skip
_QUANTITY = r"[+-]?(\d+(\.\d*)?|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?"
_PORT_NAME = r"(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?"
MOST_DATA = 2**20
"""bytes of all values of a ConfigMap"""
MOST_ANNOTATIONS, MOST_OBJECT = 262_144, 1_572_864
"""bytes of all annotations of an object, keys and values (`ValidateAnnotationsSize`); of a request to etcd"""
_META: dict[str, Any] = {"type": "object"}
_CHECK_SPEC = {
    "type": "object",
    "required": ["controllerName"],
    "properties": {"controllerName": {"type": "string"}, "parameters": {"type": "object"},
                   "retryDelayMinutes": {"type": "integer"}},
    "additionalProperties": False,
}  # fmt: skip
_CHECK = {
    "type": "object",
    "properties": {
        "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": _META, "spec": _CHECK_SPEC,
        "status": {"type": "object", "additionalProperties": False,
                   "properties": {"conditions": {"type": "array", "items": CONDITION}}},
    },
    "additionalProperties": False,
}  # fmt: skip
_POD_SET = {
    "type": "object",
    "required": ["count", "template"],
    "properties": {"name": {"type": "string", "maxLength": 63}, "count": {"type": "integer", "minimum": 0},
                   "minCount": {"type": "integer", "minimum": 1}, "topologyRequest": {"type": "object"},
                   "template": {"type": "object", "required": ["spec"]}},
    "additionalProperties": False,
}  # fmt: skip
_WORKLOAD = {
    "type": "object",
    "properties": {
        "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": _META,
        "spec": {
            "type": "object",
            "properties": {
                "queueName": {"type": "string"}, "active": {"type": "boolean"}, "priority": {"type": "integer"},
                "priorityClassName": {"type": "string"}, "priorityClassSource": {"type": "string"},
                "priorityClassRef": {"type": "object"},
                "maximumExecutionTimeSeconds": {"type": "integer", "minimum": 1},
                "podSets": {"type": "array", "minItems": 1, "maxItems": 8, "items": _POD_SET},
            },
            "additionalProperties": False,
        },
        "status": WORKLOAD_STATUS,
    },
    "additionalProperties": False,
}  # fmt: skip
_SLICE = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": _META,
        "spec": {
            "type": "object",
            "required": ["type", "topology", "partitionIds"],
            "properties": {
                "type": {"enum": ["v6e", "tpu7x"]}, "topology": {"type": "string", "pattern": r"^\d+x\d+(x\d+)?$"},
                "partitionIds": {"type": "array", "minItems": 1, "items": {"type": "string"}},
            },
            "additionalProperties": False,
        },
        "status": {"type": "object", "additionalProperties": False,
                   "properties": {"conditions": {"type": "array", "items": CONDITION}}},
    },
    "additionalProperties": False,
}  # fmt: skip
KUEUE = {
    (f"kueue.x-k8s.io/{version}", kind): schema
    for version in ("v1beta1", "v1beta2")
    for kind, schema in (("AdmissionCheck", _CHECK), ("Workload", _WORKLOAD))
}
CUSTOM = KUEUE | {("accelerator.gke.io/v1beta1", "Slice"): _SLICE}
SUB_SLICES = ("2x2x1", "2x2x2", "2x2x4", "2x4x4")
"""topologies inside a cube, in the order of sides that GKE gives them"""
MOST_SLICE_NAME, MOST_CHIPS, CHIPS_OF_PARTITION = 49, 9216, 64


class Refused(Exception):  # noqa: N818
    """The answer of an API server that does not do what it is asked."""

    def __init__(self, status: int, reason: str, said: str) -> None:
        super().__init__(f"{status} {reason}: {said}")
        self.status, self.reason, self.said = status, reason, said


def require_published(item: dict[str, Any], version: str = VERSION) -> None:
    """Refused for an object that an API server of this version would not store."""
    group, kind = item.get("apiVersion"), item.get("kind")
    validator = _validator(str(group), str(kind), version)
    for error in validator.iter_errors(item):
        raise Refused(422, "Invalid", f"{kind}: {'.'.join(map(str, error.path))}: {error.message}")
    for problem in _problems(item, str(kind)):
        raise Refused(422, "Invalid", f"{kind} {item['metadata'].get('name')}: {problem}")
    if len(json.dumps(item, separators=(",", ":")).encode()) > MOST_OBJECT:
        raise Refused(500, "InternalError", "etcdserver: request is too large")


@cache
def _validator(group: str, kind: str, version: str) -> Draft202012Validator:
    if (group, kind) in CUSTOM:
        return Draft202012Validator(CUSTOM[group, kind])
    folder = f"kubernetes-json-schema/v{version}.0-local-strict"
    short = re.sub(r"^([^./]*)(?:\.[^/]*)?/", r"\1-", group)
    try:
        schema = schema_contents(f"{folder}/{kind.lower()}-{short}.json", version)
    except FileNotFoundError:
        schema = {"properties": {"apiVersion": {"enum": []}, "kind": {"enum": []}}}
    if group not in schema["properties"]["apiVersion"]["enum"] or kind not in schema["properties"]["kind"]["enum"]:
        raise Refused(404, "NotFound", f'no matches for kind "{kind}" in version "{group}"')
    registry = Resource.from_contents(schema_contents(f"{folder}/_definitions.json", version)) @ Registry()
    return Draft202012Validator(schema, registry=registry)


def versions() -> list[str]:
    """Of Kubernetes, whose schemas there are."""
    return [".".join(one.split(".")[:2]) for one in kubernetes_validate.utils.all_versions()]


def _problems(item: dict[str, Any], kind: str) -> Iterator[str]:
    about = item.get("metadata") or {}
    yield from _of_name(about, kind)
    yield from _of_texts(about)
    spec = item.get("spec") or {}
    if kind == "ConfigMap":
        yield from _of_data(item.get("data") or {})
    elif kind == "ClusterRole":
        yield from _of_rules(item.get("rules") or ())
    elif kind == "ClusterRoleBinding":
        yield from _of_role_binding(item)
    elif kind == "Deployment":
        yield from _of_deployment(spec)
    elif kind == "Pod":
        yield from _of_pod(spec)
    elif kind == "Slice":
        yield from _of_slice(about, spec)
    elif kind == "Service":
        yield from (f"port name '{one['name']}'" for one in spec["ports"] if not re.fullmatch(_PORT_NAME, one["name"]))
    elif kind == "PersistentVolumeClaim":
        yield from _of_quantities(spec["resources"].get("requests") or {})


def _of_name(about: dict[str, Any], kind: str) -> Iterator[str]:
    name = about.get("name") or ""
    if len(name) > 253 or not re.fullmatch(_NAME_RULES.get(kind, _SUBDOMAIN), name):
        yield f"metadata.name: '{name}' is no name"
    has_namespace = bool(about.get("namespace"))
    if has_namespace == (kind in CLUSTER_WIDE):
        yield f"metadata.namespace: {'must not' if has_namespace else 'must'} be given"
    if has_namespace and not re.fullmatch(_DNS_LABEL, about["namespace"]):
        yield f"metadata.namespace: '{about['namespace']}'"


def _of_texts(about: dict[str, Any]) -> Iterator[str]:
    for schema, key in ((LABEL_VALUES, "labels"), (TEXTS | {"propertyNames": NAMES}, "annotations")):
        for error in Draft202012Validator(schema).iter_errors(about.get(key) or {}):
            yield f"metadata.{key}: {error.message}"
    if sum(len((key + text).encode()) for key, text in (about.get("annotations") or {}).items()) > MOST_ANNOTATIONS:
        yield f"metadata.annotations: Too long: may not be more than {MOST_ANNOTATIONS} bytes"


def _of_data(data: dict[str, str]) -> Iterator[str]:
    yield from (f"data: '{key}' is no key" for key in data if not re.fullmatch(r"[-._a-zA-Z0-9]{1,253}", key))
    if sum(len(text.encode()) for text in data.values()) > MOST_DATA:
        yield "data: too long: may not be more than 1048576 bytes"


def _of_rules(rules: Any) -> Iterator[str]:
    for rule in rules:
        for key in ("verbs", "apiGroups", "resources"):
            if not rule.get(key):
                yield f"rules: {key}: required"


def _of_role_binding(item: dict[str, Any]) -> Iterator[str]:
    if item["roleRef"]["apiGroup"] != "rbac.authorization.k8s.io" or item["roleRef"]["kind"] != "ClusterRole":
        yield f"roleRef: {item['roleRef']} is no role"
    for subject in item.get("subjects") or ():
        if subject["kind"] == "ServiceAccount" and (not subject.get("namespace") or subject.get("apiGroup")):
            yield "subjects: an account has a namespace and no group"


def _of_deployment(spec: dict[str, Any]) -> Iterator[str]:
    template = spec["template"]
    wanted, has = spec["selector"].get("matchLabels") or {}, template["metadata"].get("labels") or {}
    if not wanted or not wanted.items() <= has.items():
        yield "spec.selector: does not match the labels of the template"
    yield from _of_pod(template["spec"])


def _of_pod(spec: dict[str, Any]) -> Iterator[str]:
    volumes = [one["name"] for one in spec.get("volumes") or ()]
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    names = [one["name"] for one in containers]
    if not spec.get("containers") or len({*names}) != len(names) or len({*volumes}) != len(volumes):
        yield "spec: containers and volumes have names of their own, and there is a container"
    yield from (f"name '{name}'" for name in (*names, *volumes) if not re.fullmatch(_DNS_LABEL, name))
    for one in containers:
        yield from (f"volumeMounts: no volume {mount['name']}" for mount in one.get("volumeMounts") or ()
                    if mount["name"] not in volumes)  # fmt: skip
        if not one.get("image") or one["image"] != one["image"].strip():
            yield f"image: '{one.get('image')}' is empty or has spaces around it"
        yield from _of_container(one)


def _of_container(container: dict[str, Any]) -> Iterator[str]:
    ports = {port.get("name") for port in container.get("ports") or ()}
    yield from (f"port name '{name}'" for name in ports if name and not re.fullmatch(_PORT_NAME, name))
    for probe in (container.get("livenessProbe"), container.get("readinessProbe")):
        port = ((probe or {}).get("httpGet") or {}).get("port", 1)
        if isinstance(port, str) and port not in ports:
            yield f"probe: no port '{port}'"
    resources = container.get("resources") or {}
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    yield from _of_quantities(limits | requests)
    for name in limits | requests:
        if "/" in name and limits.get(name) != requests.get(name, limits.get(name)):
            yield f"resources: {name}: limit and request must be equal"
        if "/" in name and not re.fullmatch(r"\d+", str((limits | requests)[name])):
            yield f"resources: {name}: must be a whole number"


def _of_quantities(amounts: dict[str, Any]) -> Iterator[str]:
    yield from (f"'{one}' is no quantity" for one in amounts.values() if not re.fullmatch(_QUANTITY, str(one)))


def _of_slice(about: dict[str, Any], spec: dict[str, Any]) -> Iterator[str]:
    sides, ids = [int(side) for side in spec["topology"].split("x")], spec["partitionIds"]
    chips = prod(sides)
    if len(about["name"]) > MOST_SLICE_NAME or not re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", about["name"]):
        yield "metadata.name: at most 49 small letters, digits and hyphens, a letter first"
    if len({*ids}) < len(ids):
        yield "spec.partitionIds: one is given twice"
    if spec["topology"] in SUB_SLICES:
        if spec["type"] != "tpu7x" or len(ids) != 1:
            yield "spec.topology: a sub-slice is of tpu7x, and of one partition"
        return
    if len(sides) != 3 or sides != sorted(sides) or chips > MOST_CHIPS:
        yield "spec.topology: three dimensions in ascending order, of 9216 chips at most"
    elif any(side % 4 for side in sides) or chips != CHIPS_OF_PARTITION * len(ids):
        yield "spec.topology: multiples of 4, and 64 chips for each partition"
