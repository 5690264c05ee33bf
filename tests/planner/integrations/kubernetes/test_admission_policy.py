"""Annotations of the planner are its own: the expressions of the policy, evaluated as the API server would."""

from typing import Any

import pytest

from planner.integrations.kubernetes.admission_policy import policies
from planner.integrations.kubernetes.config import CONTROLLER_MANAGER, CONTROLLERS, Kubernetes
from planner.integrations.kubernetes.manifests import Deployment, manifests
from tests.planner.integrations.kubernetes.guards import Guards, allows, installed
from tests.planner.integrations.kubernetes.manifests_cases import config
from tests.planner.integrations.kubernetes.published import Refused

PLANNER = "system:serviceaccount:ns:photonplan"
JOBS = "system:serviceaccount:kube-system:job-controller"
USER = "alice"
OWN = ("job", "devices", "assignment", "cuda-visible-devices")


def found(namespace: str = "ns", name: str = "photonplan-annotations", **changes: Any) -> dict[str, Any]:
    """The specification of a policy that is put to work."""
    objects = installed(manifests(config(**changes), {}, Deployment(namespace, "image")))
    binding = objects["ValidatingAdmissionPolicyBinding", name]
    assert binding["spec"] == {"policyName": name, "validationActions": ["Deny"]}
    policy: dict[str, Any] = objects["ValidatingAdmissionPolicy", name]["spec"]
    return policy


def pod(node: str = "", **own: str) -> dict[str, Any]:
    """A pod that shows these annotations of the planner beside one of somebody else."""
    told = {f"photonplan.io/{name.replace('_', '-')}": text for name, text in own.items()}
    return {
        "metadata": {"name": "a", "annotations": {"other": "x", **told}},
        "spec": {"containers": [], **({"nodeName": node} if node else {})},
    }


BARE = {"metadata": {"name": "a"}, "spec": {"containers": []}}


@pytest.mark.slow
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
    spec = found()
    assert {user for user in (USER, JOBS, PLANNER) if allows(spec, user, before, after)} == who


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_each_annotation_is_guarded(name: str) -> None:
    spec = found()
    one, other = (pod("n0", **{name: text}) for text in ("1", "2"))
    assert not allows(spec, USER, one, other)
    binding = {"metadata": {"name": "a", "annotations": one["metadata"]["annotations"]}, "target": {"name": "n0"}}
    assert not allows(spec, USER, None, binding)
    assert allows(spec, PLANNER, None, binding)


def test_who_makes_pods_is_configured() -> None:
    jobs = "system:serviceaccount:mine:jobs"
    for changes, who in (({"controllers": ["mine:jobs"]}, {jobs}), ({"kueue": None}, set())):
        spec = found(**changes)
        assert {user for user in (jobs, JOBS) if allows(spec, user, None, pod(job="j"))} == who
    assert "kube-system:job-controller" in CONTROLLERS
    assert allows(found(), CONTROLLER_MANAGER, None, pod(job="j")), "who has no accounts for its controllers"


def test_names_are_no_expressions() -> None:
    odd = "x' || true || '\" + \\"
    spec = policies(Kubernetes.model_validate({"nodes": "n0"}), odd)[0]["spec"]
    assert allows(spec, odd, None, pod(job="j"))
    assert not allows(spec, USER, None, pod(job="j"))


def test_the_policy_is_put_to_work_on_all_ways_to_write_a_pod() -> None:
    matched = {
        (operation, resource)
        for rule in found()["matchConstraints"]["resourceRules"]
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


NODE, GARBAGE = "system:node:n0", "system:serviceaccount:kube-system:pod-garbage-collector"
ALL = {USER, JOBS, PLANNER, NODE, GARBAGE, CONTROLLER_MANAGER}
ENDED = pod("n0", job="j") | {"status": {"phase": "Failed"}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "options", "who"),
    [
        (pod("n0", job="j"), {}, ALL),
        (pod("n0", job="j"), {"gracePeriodSeconds": 30}, ALL),
        (pod("n0", job="j"), {"gracePeriodSeconds": 0}, ALL - {USER}),
        (pod("n0", job="j") | {"status": {"phase": "Running"}}, {"gracePeriodSeconds": 0}, ALL - {USER}),
        (ENDED, {"gracePeriodSeconds": 0}, ALL),
        (pod(job="j"), {"gracePeriodSeconds": 0}, ALL),
        (pod("n0"), {"gracePeriodSeconds": 0}, ALL),
        (BARE, {"gracePeriodSeconds": 0}, ALL),
        (None, {"gracePeriodSeconds": 0}, ALL),
    ],
)
def test_who_may_delete_at_once(before: Any, options: dict[str, int], who: set[str]) -> None:
    spec = found(name="photonplan-kills")
    allowed = {user for user in ALL if allows(spec, user, before, None, operation="DELETE", options=options)}
    assert allowed == who


def test_evictions_and_pods_without_grace() -> None:
    spec = found(name="photonplan-kills")
    for grace, is_taken in ((None, True), (5, True), (0, False)):
        options = {} if grace is None else {"deleteOptions": {"gracePeriodSeconds": grace}}
        eviction = {"metadata": {"name": "a"}} | options
        assert allows(spec, USER, None, eviction, subResource="eviction") == is_taken
        for limits in ({"nvidia.com/gpu": "1"}, {"cpu": "1"}):
            containers = [{"name": "a"}, {"name": "b", "resources": {"limits": limits}}]
            term = {} if grace is None else {"terminationGracePeriodSeconds": grace}
            made = {"metadata": {"name": "a"}, "spec": {"containers": containers} | term}
            assert allows(spec, USER, None, made) == (is_taken or "cpu" in limits)


def test_a_rule_that_cannot_be_judged_is_in_nobody_s_way() -> None:
    spec = found(name="photonplan-kills")
    assert spec["failurePolicy"] == "Ignore"
    assert allows(spec, USER, {"spec": 1}, None, operation="DELETE", options={"gracePeriodSeconds": 0})


def test_the_emulated_api_does_as_the_policies_say() -> None:
    guards = Guards(manifests(config(), {}, Deployment("ns", "image")))
    for subresource in ("pods", "pods/status"):
        with pytest.raises(Refused, match="alone writes"):
            guards.admit(USER, "UPDATE", subresource, pod("n0", job="j"), BARE)
    guards.admit(USER, "CONNECT", "pods", pod("n0", job="j"), BARE)
