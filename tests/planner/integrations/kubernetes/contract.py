"""What Kubernetes and Kueue accept, as JSON Schema: fields, limits and enumerations of the published types.

Kueue: `apis/kueue/v1beta1/workload_types.go` and `admissioncheck_types.go`, and v1beta2 for `requeueAfterSeconds` and
`retryCount`. Kubernetes: core/v1 Binding and Condition, `k8s.io/kube-scheduler/extender/v1`, whose Go types have no
JSON tags: keys are the names of fields.
"""

import re
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

_WORD = {"type": "string", "minLength": 1}
TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
NAMES = {"pattern": r"^([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"}
"""of labels and annotations"""
LABEL_VALUES = {
    "type": "object",
    "additionalProperties": {
        "type": "string",
        "maxLength": 63,
        "pattern": r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$",
    },
    "propertyNames": NAMES,
}
_ANNOTATIONS = TEXTS | {"propertyNames": NAMES}
_TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"}
_POD_SET_UPDATE = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
        "labels": LABEL_VALUES,
        "annotations": _ANNOTATIONS,
        "nodeSelector": LABEL_VALUES,
        "tolerations": {"type": "array", "maxItems": 8},
    },
    "additionalProperties": False,
}
_CHECK_STATE = {
    "type": "object",
    "required": ["name", "state", "lastTransitionTime", "message"],
    "properties": {
        "name": {"type": "string", "maxLength": 316},
        "state": {"enum": ["Pending", "Ready", "Retry", "Rejected"]},
        "lastTransitionTime": _TIME,
        "message": {"type": "string", "maxLength": 32768},
        "requeueAfterSeconds": {"type": "integer", "minimum": 0},
        "retryCount": {"type": "integer", "minimum": 0},
        "podSetUpdates": {"type": "array", "maxItems": 8, "items": _POD_SET_UPDATE},
    },
    "additionalProperties": False,
}
CONDITION = {
    "type": "object",
    "required": ["type", "status", "lastTransitionTime", "reason", "message"],
    "properties": {
        "type": {"type": "string", "maxLength": 316},
        "status": {"enum": ["True", "False", "Unknown"]},
        "observedGeneration": {"type": "integer", "minimum": 0},
        "lastTransitionTime": _TIME,
        "reason": {"type": "string", "minLength": 1, "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"},
        "message": {"type": "string", "maxLength": 32768},
    },
    "additionalProperties": False,
}
WORKLOAD_STATUS = {
    "type": "object",
    "properties": {
        "conditions": {"type": "array", "maxItems": 16, "items": CONDITION},
        "admissionChecks": {"type": "array", "maxItems": 8, "items": _CHECK_STATE},
        "admission": {"type": "object", "required": ["clusterQueue", "podSetAssignments"]},
        **{key: {"type": "array"} for key in ("reclaimablePods", "resourceRequests", "unhealthyNodes")},
        **{key: {"type": "object"} for key in ("requeueState", "schedulingStats")},
        "accumulatedPastExecutionTimeSeconds": {"type": "integer"},
        "clusterName": {"type": "string"},
        "nominatedClusterNames": {"type": "array"},
    },
    "additionalProperties": False,
}


def _status_patch(field: str, item: dict[str, Any], most: int) -> dict[str, Any]:
    """A merge patch of one list of a status, with the version that it was made from."""
    return {
        "type": "object",
        "required": ["metadata", "status"],
        "properties": {
            "metadata": {"required": ["resourceVersion"], "additionalProperties": False,
                         "properties": {"resourceVersion": {"type": "string"}}},
            "status": {"required": [field], "additionalProperties": False,
                       "properties": {field: {"type": "array", "maxItems": most, "items": item}}},
        },
        "additionalProperties": False,
    }  # fmt: skip


_POD_PATCH = {
    "type": "object",
    "required": ["metadata"],
    "properties": {
        "metadata": {
            "required": ["annotations", "uid"],
            "properties": {"annotations": {"propertyNames": {"const": "photonplan.io/ready"}}, "uid": _WORD},
            "additionalProperties": False,
        }
    },
    "additionalProperties": False,
}
_BINDING = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "target"],
    "properties": {
        "apiVersion": {"const": "v1"},
        "kind": {"const": "Binding"},
        "metadata": {
            "required": ["name", "namespace", "uid"],
            "properties": {"name": {}, "namespace": {}, "uid": _WORD, "annotations": _ANNOTATIONS},
            "additionalProperties": False,
        },
        "target": {
            "required": ["kind", "name"],
            "properties": {"apiVersion": {"const": "v1"}, "kind": {"const": "Node"}, "name": _WORD},
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}  # fmt: skip
_DELETE = {
    "type": "object",
    "required": ["preconditions"],
    "properties": {
        "apiVersion": {"const": "v1"}, "kind": {"const": "DeleteOptions"},
        "preconditions": {"required": ["uid"], "properties": {"uid": {"type": "string"}}},
    },
    "additionalProperties": False,
}  # fmt: skip
FILTER_RESULT = {
    "type": "object",
    "properties": {
        "Nodes": {"type": ["object", "null"], "required": ["items"]},
        "NodeNames": {"type": ["array", "null"], "items": {"type": "string"}},
        "FailedNodes": TEXTS,
        "FailedAndUnresolvableNodes": TEXTS,
        "Error": {"type": "string"},
    },
    "additionalProperties": False,
}
HOST_PRIORITIES = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["Host", "Score"],
        "properties": {"Host": {"type": "string"}, "Score": {"type": "integer", "minimum": 0, "maximum": 10}},
        "additionalProperties": False,
    },
}
BINDING_RESULT = {"type": "object", "properties": {"Error": {"type": "string"}}, "additionalProperties": False}

_SLICE = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"const": "accelerator.gke.io/v1beta1"}, "kind": {"const": "Slice"},
        "metadata": {"required": ["name", "annotations"], "additionalProperties": False,
                     "properties": {"name": _WORD, "annotations": {"propertyNames": {"const": "photonplan.io/job"}}}},
        "spec": {"type": "object"},
    },
    "additionalProperties": False,
}  # fmt: skip
_NAME = "[^/]+"
WRITES = (
    ("PATCH", rf"/apis/kueue.x-k8s.io/v1beta[12]/namespaces/{_NAME}/workloads/{_NAME}/status",
     _status_patch("admissionChecks", _CHECK_STATE, 8)),
    ("PATCH", rf"/apis/kueue.x-k8s.io/v1beta[12]/admissionchecks/{_NAME}/status",
     _status_patch("conditions", CONDITION, 100)),
    ("PATCH", rf"/api/v1/namespaces/{_NAME}/pods/{_NAME}", _POD_PATCH),
    ("POST", rf"/api/v1/namespaces/{_NAME}/pods/{_NAME}/binding", _BINDING),
    ("DELETE", rf"/api/v1/namespaces/{_NAME}/pods/{_NAME}", _DELETE),
    ("POST", r"/apis/accelerator\.gke\.io/v1beta1/slices", _SLICE),
    ("DELETE", rf"/apis/accelerator\.gke\.io/v1beta1/slices/{_NAME}", _DELETE),
)  # fmt: skip
"""all that the planner may ever write: method, path, body"""


def require(schema: Any, value: object) -> None:
    Draft202012Validator(schema, format_checker=FormatChecker()).validate(value)


def require_write(method: str, path: str, body: object) -> None:
    """AssertionError for a write that is none of those, ValidationError for a body that the API would refuse."""
    for known, pattern, schema in WRITES:
        if method == known and re.fullmatch(pattern, path):
            require(schema, body)
            return
    raise AssertionError(f"{method} {path} is written by nobody")
