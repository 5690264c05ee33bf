"""Annotations of the planner are its own: the expressions of the policy, evaluated as the API server would."""

from typing import Any

import celpy
import pytest
from jsonschema import Draft202012Validator

from planner.schedulers.kubernetes.config import CONTROLLERS
from planner.schedulers.kubernetes.manifests import Installation, manifests
from tests.planner.schedulers.kubernetes.test_manifests import ODD, config, objects

PLANNER = "system:serviceaccount:ns:photonplan"
JOBS = "system:serviceaccount:kube-system:job-controller"
USER = "alice"
OWN = ("job", "devices", "assignment", "cuda-visible-devices")
_RULE = {
    "type": "object",
    "required": ["apiGroups", "apiVersions", "operations", "resources"],
    "properties": {
        "apiGroups": {"type": "array", "items": {"type": "string"}},
        "apiVersions": {"type": "array", "items": {"type": "string"}},
        "operations": {"type": "array", "items": {"enum": ["CREATE", "UPDATE", "DELETE", "CONNECT", "*"]}},
        "resources": {"type": "array", "items": {"type": "string"}},
    },
    "additionalProperties": False,
}
_NAMED = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"pattern": "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"}},
}
_REASONS = ["Unauthorized", "Forbidden", "Invalid", "RequestEntityTooLarge"]
_TEXT = {"type": "string", "minLength": 1}
POLICY = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"const": "admissionregistration.k8s.io/v1"},
        "kind": {"const": "ValidatingAdmissionPolicy"},
        "metadata": _NAMED,
        "spec": {
            "type": "object",
            "required": ["matchConstraints", "validations"],
            "properties": {
                "failurePolicy": {"enum": ["Fail", "Ignore"]},
                "matchConstraints": {
                    "properties": {"resourceRules": {"type": "array", "minItems": 1, "items": _RULE}},
                    "additionalProperties": False,
                },
                "variables": {
                    "type": "array",
                    "items": {
                        "required": ["name", "expression"],
                        "properties": {"name": {"pattern": "^[a-zA-Z_][a-zA-Z0-9_]*$"}, "expression": _TEXT},
                        "additionalProperties": False,
                    },
                },
                "validations": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "required": ["expression"],
                        "properties": {"expression": _TEXT, "message": _TEXT, "reason": {"enum": _REASONS}},
                        "additionalProperties": False,
                    },
                },
            },
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}
"""of `k8s.io/api/admissionregistration/v1`: what is used of it"""
BINDING = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"const": "admissionregistration.k8s.io/v1"},
        "kind": {"const": "ValidatingAdmissionPolicyBinding"},
        "metadata": _NAMED,
        "spec": {
            "required": ["policyName", "validationActions"],
            "properties": {
                "policyName": _TEXT,
                "validationActions": {"type": "array", "items": {"enum": ["Deny", "Warn", "Audit"]}},
            },
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}


def found(namespace: str = "ns", **changes: Any) -> dict[str, dict[str, Any]]:
    return objects(manifests(config(**changes), {}, Installation(namespace, "image")))


def allows(spec: dict[str, Any], user: str, before: Any, after: Any) -> bool:
    """The verdict on a request: variables in their order, then all validations."""
    operation = "CREATE" if before is None else "UPDATE"
    known = {
        "request": celpy.json_to_cel({"userInfo": {"username": user}, "operation": operation}),
        "oldObject": celpy.json_to_cel(before),
        "object": celpy.json_to_cel(after),
    }
    environment = celpy.Environment()

    def value(expression: str) -> Any:
        return environment.program(environment.compile(expression)).evaluate(known)

    variables = celpy.json_to_cel({})
    for variable in spec["variables"]:
        known["variables"] = variables
        variables[celpy.celtypes.StringType(variable["name"])] = value(variable["expression"])
    return all(bool(value(each["expression"])) for each in spec["validations"])


def pod(node: str = "", **own: str) -> dict[str, Any]:
    """A pod that shows these annotations of the planner beside one of somebody else."""
    told = {f"photonplan.io/{name.replace('_', '-')}": text for name, text in own.items()}
    return {
        "metadata": {"name": "a", "annotations": {"other": "x", **told}},
        "spec": {"containers": [], **({"nodeName": node} if node else {})},
    }


BARE = {"metadata": {"name": "a"}, "spec": {"containers": []}}


@pytest.mark.parametrize(
    ("before", "after", "who"),
    [
        (None, BARE, {USER, JOBS, PLANNER}),
        (BARE, pod(), {USER, JOBS, PLANNER}),
        (pod("n0", job="j"), pod("n0", job="j"), {USER, JOBS, PLANNER}),
        (None, pod(workload="bert", gang_size="2"), {USER, JOBS, PLANNER}),
        (None, pod(job="j"), {JOBS, PLANNER}),
        (None, pod("n0", job="j"), {PLANNER}),
        (BARE, pod(assignment="[]"), {JOBS, PLANNER}),
        (pod(job="j"), pod(job="k"), {JOBS, PLANNER}),
        (pod("n0", job="j"), pod("n0", job="k"), {PLANNER}),
        (pod("n0", job="j"), pod("n0"), {PLANNER}),
        (pod("n0", job="j"), BARE, {PLANNER}),
        (pod("n0"), pod("n0", cuda_visible_devices="0"), {PLANNER}),
    ],
)
def test_who_may_change_what(before: Any, after: Any, who: set[str]) -> None:
    spec = found()["ValidatingAdmissionPolicy"]["spec"]
    assert {user for user in (USER, JOBS, PLANNER) if allows(spec, user, before, after)} == who


@pytest.mark.parametrize("name", OWN)
def test_each_annotation_is_guarded(name: str) -> None:
    spec = found()["ValidatingAdmissionPolicy"]["spec"]
    one, other = (pod("n0", **{name: text}) for text in ("1", "2"))
    assert not allows(spec, USER, one, other)
    binding = {"metadata": {"name": "a", "annotations": one["metadata"]["annotations"]}, "target": {"name": "n0"}}
    assert not allows(spec, USER, None, binding)
    assert allows(spec, PLANNER, None, binding)


def test_who_makes_pods_is_configured() -> None:
    jobs = "system:serviceaccount:mine:jobs"
    for changes, who in (({"controllers": ["mine:jobs"]}, {jobs}), ({"kueue": None}, set())):
        spec = found(**changes)["ValidatingAdmissionPolicy"]["spec"]
        assert {user for user in (jobs, JOBS) if allows(spec, user, None, pod(job="j"))} == who
    assert "kube-system:job-controller" in CONTROLLERS


def test_odd_text_stays_text() -> None:
    spec = found(ODD + "\\")["ValidatingAdmissionPolicy"]["spec"]
    assert allows(spec, f"system:serviceaccount:{ODD}\\:photonplan", None, pod(job="j"))
    assert not allows(spec, USER, None, pod(job="j"))


def test_the_api_takes_both() -> None:
    both = found()
    policy, binding = both["ValidatingAdmissionPolicy"], both["ValidatingAdmissionPolicyBinding"]
    Draft202012Validator(POLICY).validate(policy)
    Draft202012Validator(BINDING).validate(binding)
    assert binding["spec"] == {"policyName": policy["metadata"]["name"], "validationActions": ["Deny"]}
    matched = {
        (operation, resource)
        for rule in policy["spec"]["matchConstraints"]["resourceRules"]
        for operation in rule["operations"]
        for resource in rule["resources"]
    }
    assert {
        ("UPDATE", "pods"),
        ("UPDATE", "pods/status"),
        ("CREATE", "pods"),
        ("CREATE", "pods/binding"),
        ("CREATE", "bindings"),
    } <= matched
