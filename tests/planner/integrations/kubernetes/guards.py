"""Who may do what, as an API server reads it from the installed manifests: rights (RBAC), and the expressions of a
ValidatingAdmissionPolicy."""

from functools import cache
from typing import Any

import celpy
import yaml

from tests.planner.integrations.kubernetes.published import Refused, require_published

ENVIRONMENT = celpy.Environment()
"""made before any test runs: it raises the limit of recursion"""
Right = tuple[str, str, str]
"""group, resource (with its subresource), verb"""


@cache
def installed(text: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Objects of manifests by kind and name, as `kubectl apply` has them stored; Refused where one is not taken."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for item in yaml.safe_load_all(text):
        require_published(item)
        assert found.setdefault((item["kind"], item["metadata"]["name"]), item) is item, "one would replace the other"
    return found


class Guards:
    """What the objects of one installation let requests do."""

    def __init__(self, text: str) -> None:
        found = installed(text)
        objects = {kind: item for (kind, _), item in found.items()}
        self.check = objects.get("AdmissionCheck")
        binding, role = objects["ClusterRoleBinding"], objects["ClusterRole"]
        assert binding["roleRef"]["name"] == role["metadata"]["name"]
        (subject,) = binding["subjects"]
        account, pod = objects["ServiceAccount"]["metadata"], objects["Deployment"]["spec"]["template"]["spec"]
        assert (subject["name"], subject["namespace"]) == (account["name"], account["namespace"])
        assert pod["serviceAccountName"] == account["name"]
        self.planner = f"system:serviceaccount:{subject['namespace']}:{subject['name']}"
        self.rights = frozenset(
            (group, resource, verb)
            for rule in role["rules"]
            for group in rule["apiGroups"]
            for resource in rule["resources"]
            for verb in rule["verbs"]
        )
        self.used: set[Right] = set()
        """of those, what was asked for"""
        bound = [item["spec"] for (kind, _), item in found.items() if kind == "ValidatingAdmissionPolicyBinding"]
        assert all(one["validationActions"] == ["Deny"] for one in bound)
        self.policies: list[dict[str, Any]] = [
            found["ValidatingAdmissionPolicy", one["policyName"]]["spec"] for one in bound
        ]

    def authorize(self, right: Right) -> None:
        """Refused for what the planner's role does not hold."""
        if right not in self.rights:
            said = f'cannot {right[2]} resource "{right[1]}" in API group "{right[0]}"'
            raise Refused(403, "Forbidden", f'{right[1]} is forbidden: User "{self.planner}" {said}')
        self.used.add(right)

    def admit(self, user: str, operation: str, resource: str, before: Any, after: Any, **more: Any) -> None:
        """Refused for a request of core/v1 that the policy denies; `more`: fields of the AdmissionRequest."""
        for policy in self.policies:
            rules = policy["matchConstraints"]["resourceRules"]
            if not any(operation in rule["operations"] and resource in rule["resources"] for rule in rules):
                continue
            sub = resource.partition("/")[2]
            about = more | ({"subResource": sub} if sub else {})
            if not allows(policy, user, before, after, operation=operation, **about):
                said = "; ".join(one.get("message", "denied") for one in policy["validations"])
                raise Refused(403, "Forbidden", f"ValidatingAdmissionPolicy: {said}")


@cache
def _program(expression: str) -> celpy.Runner:
    return ENVIRONMENT.program(ENVIRONMENT.compile(expression))


def allows(spec: dict[str, Any], user: str, before: Any, after: Any, *, operation: str = "", **more: Any) -> bool:
    """The verdict on a request: variables in their order, then all validations. An expression that cannot be
    evaluated denies, unless the policy says otherwise. Fields that are empty are not there, as in a real request."""
    operation = operation or ("CREATE" if before is None else "UPDATE")
    request = {"userInfo": {"username": user, "groups": more.pop("groups", [])}, "operation": operation, **more}
    known = {
        "request": celpy.json_to_cel(request),
        "oldObject": celpy.json_to_cel(before),
        "object": celpy.json_to_cel(after),
    }
    variables = celpy.json_to_cel({})
    for variable in spec.get("variables", ()):
        known["variables"] = variables
        value = _program(variable["expression"]).evaluate(known)
        variables[celpy.celtypes.StringType(variable["name"])] = value
    try:
        return all(bool(_program(each["expression"]).evaluate(known)) for each in spec["validations"])
    except celpy.CELEvalError:
        return bool(spec["failurePolicy"] == "Ignore")
