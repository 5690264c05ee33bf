"""A ValidatingAdmissionPolicy: annotations by which the planner tells pods their accelerators are its own to write.

Users may edit their pods, and what the planner reads of bound pods decides which accelerators are free. Pods of a
Workload of Kueue are made from a template that holds the annotations already, by controllers that the configuration
names; a pod that is bound takes them from nobody but the planner.
"""

import json
from typing import Any

from planner.schedulers.kubernetes.config import Kubernetes
from planner.schedulers.kubernetes.seats import ASSIGNMENT, DEVICES, JOB, VISIBLE

NAME = "photonplan-annotations"
VERSION = "admissionregistration.k8s.io/v1"
"""since Kubernetes 1.30"""
OWN = (JOB, DEVICES, ASSIGNMENT, VISIBLE)
"""annotations that the planner writes"""
MESSAGE = f"{', '.join(OWN)}: annotations that the planner alone writes; leave them as they are"
IS_NEW = "request.operation == 'CREATE'"
UPDATED = ("pods", "pods/status", "pods/ephemeralcontainers", "pods/resize")
CREATED = ("pods", "pods/binding", "bindings")


def policy(config: Kubernetes, account: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The policy and what puts it to work; `account` is the user name of the planner."""
    controllers = [f"system:serviceaccount:{name}" for name in config.controllers] if config.kueue else []
    variables = {
        "user": "request.userInfo.username",
        "before": f"{IS_NEW} || !has(oldObject.metadata.annotations) ? {{}} : oldObject.metadata.annotations",
        "after": "has(object.metadata.annotations) ? object.metadata.annotations : {}",
        "isSame": f"{_list(OWN)}.all(key, (key in variables.before) == (key in variables.after) && "
        "(!(key in variables.after) || variables.after[key] == variables.before[key]))",
        "isBound": f"{IS_NEW} ? has(object.spec) && has(object.spec.nodeName) && object.spec.nodeName != '' : "
        "has(oldObject.spec.nodeName) && oldObject.spec.nodeName != ''",
        "isFromTemplate": f"variables.user in {_list(controllers)} && !variables.isBound",
    }
    expression = f"variables.isSame || variables.user == {_text(account)} || variables.isFromTemplate"
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [_rule("UPDATE", UPDATED), _rule("CREATE", CREATED)]},
        "variables": [{"name": name, "expression": text} for name, text in variables.items()],
        "validations": [{"expression": expression, "message": MESSAGE, "reason": "Forbidden"}],
    }
    about = {"apiVersion": VERSION, "metadata": {"name": NAME}}
    return (
        {**about, "kind": "ValidatingAdmissionPolicy", "spec": spec},
        {
            **about,
            "kind": "ValidatingAdmissionPolicyBinding",
            "spec": {"policyName": NAME, "validationActions": ["Deny"]},
        },
    )


def _rule(operation: str, resources: tuple[str, ...]) -> dict[str, Any]:
    return {"apiGroups": [""], "apiVersions": ["v1"], "operations": [operation], "resources": list(resources)}


def _list(names: tuple[str, ...] | list[str]) -> str:
    return f"[{', '.join(map(_text, names))}]"


def _text(name: str) -> str:
    """A literal of CEL, whose quotes and escapes are those of JSON."""
    return json.dumps(name, ensure_ascii=False)
