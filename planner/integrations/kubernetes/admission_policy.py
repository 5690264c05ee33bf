"""Two ValidatingAdmissionPolicies: the planner's annotations are its own to write, and pods leave only when they have
stopped.

Users may edit their pods, and what the planner reads of bound pods decides which accelerators are free. Pods of a
Workload of Kueue are made from a template that holds the annotations already, by controllers that the configuration
names; a pod that is bound takes them from nobody but the planner. A pod that is deleted without grace is gone from the
API while its processes still run, on accelerators that would seem free: kubelets and Kubernetes' own controllers, who
know better, may do so.
"""

import json
from collections.abc import Sequence
from typing import Any

from planner.integrations.kubernetes.config import CONTROLLER_MANAGER, Kubernetes
from planner.integrations.kubernetes.pod_assignment import JOB, OWN

NAME, KILLS = "photonplan-annotations", "photonplan-kills"
VERSION = "admissionregistration.k8s.io/v1"
"""since Kubernetes 1.30"""
MESSAGE = f"{', '.join(OWN)}: annotations that the planner alone writes; leave them as they are"
IS_NEW = "request.operation == 'CREATE'"
SUBRESOURCE = "(has(request.subResource) ? request.subResource : '')"
"""a request has the field where it is of a subresource alone (admission.k8s.io/v1: omitempty)"""
UPDATED = ("pods", "pods/status", "pods/ephemeralcontainers", "pods/resize")
CREATED = ("pods", "pods/binding", "bindings")


def policies(config: Kubernetes, account: str) -> tuple[dict[str, Any], ...]:
    """Both, and what puts them to work; `account` is the user name of the planner."""
    return *_put_to_work(NAME, _annotations(config, account)), *_put_to_work(KILLS, _kills(config, account))


def _annotations(config: Kubernetes, account: str) -> dict[str, Any]:
    names = (name if name == CONTROLLER_MANAGER else f"system:serviceaccount:{name}" for name in config.controllers)
    controllers = [*names] if config.kueue else []
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
    return {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [_rule("UPDATE", UPDATED), _rule("CREATE", CREATED)]},
        "variables": [{"name": name, "expression": text} for name, text in variables.items()],
        "validations": [{"expression": expression, "message": MESSAGE, "reason": "Forbidden"}],
    }


def _kills(config: Kubernetes, account: str) -> dict[str, Any]:
    """The rule lets through what it cannot judge: nothing may stand in the way of a cluster that deletes pods."""
    resources = _list(config.resources)
    takes = f"has(c.resources) && has(c.resources.limits) && {resources}.exists(r, r in c.resources.limits)"
    variables = {
        "user": "request.userInfo.username",
        "knows": f"variables.user in {_list((account, CONTROLLER_MANAGER))} || "
        "variables.user.startsWith('system:node:') || variables.user.startsWith('system:serviceaccount:kube-system:')",
    }
    is_held = (
        "has(oldObject.spec.nodeName) && oldObject.spec.nodeName != '' && has(oldObject.metadata.annotations) && "
        f"{_text(JOB)} in oldObject.metadata.annotations && "
        "!(has(oldObject.status) && has(oldObject.status.phase) && oldObject.status.phase in ['Succeeded', 'Failed'])"
    )
    said = "while it runs on accelerators: whoever gets them next would find them in use"
    checks = {
        f"request.operation != 'DELETE' || variables.knows || oldObject == null || !({is_held}) || "
        f"!({_is_zero('request.options')})": f"a pod is not deleted without grace {said}",
        f"request.operation == 'DELETE' || {SUBRESOURCE} != 'eviction' || variables.knows || "
        f"!({_is_zero('object.deleteOptions')})": f"a pod is not evicted without grace {said}",
        f"request.operation == 'DELETE' || {SUBRESOURCE} != '' || !object.spec.containers.exists(c, {takes}) || "
        "!has(object.spec.terminationGracePeriodSeconds) || object.spec.terminationGracePeriodSeconds != 0":
        f"terminationGracePeriodSeconds: give at least 1; a pod would be gone {said}",
    }  # fmt: skip
    return {
        "failurePolicy": "Ignore",
        "matchConstraints": {"resourceRules": [_rule("DELETE", ("pods",)), _rule("CREATE", ("pods", "pods/eviction"))]},
        "variables": [{"name": name, "expression": text} for name, text in variables.items()],
        "validations": [{"expression": one, "message": text, "reason": "Forbidden"} for one, text in checks.items()],
    }


def _is_zero(options: str) -> str:
    return f"has({options}) && has({options}.gracePeriodSeconds) && {options}.gracePeriodSeconds == 0"


def _put_to_work(name: str, spec: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A policy and its binding."""
    about = {"apiVersion": VERSION, "metadata": {"name": name}}
    return (
        {**about, "kind": "ValidatingAdmissionPolicy", "spec": spec},
        {
            **about,
            "kind": "ValidatingAdmissionPolicyBinding",
            "spec": {"policyName": name, "validationActions": ["Deny"]},
        },
    )


def _rule(operation: str, resources: tuple[str, ...]) -> dict[str, Any]:
    return {"apiGroups": [""], "apiVersions": ["v1"], "operations": [operation], "resources": list(resources)}


def _list(names: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, names))}]"


def _text(name: str) -> str:
    """A literal of CEL, whose quotes and escapes are those of JSON."""
    return json.dumps(name, ensure_ascii=False)
