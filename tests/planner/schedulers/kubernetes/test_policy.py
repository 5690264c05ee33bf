"""Annotations of the planner are its own: the expressions of the policy, evaluated as the API server would."""

from typing import Any

import pytest

from planner.schedulers.kubernetes.config import CONTROLLERS
from planner.schedulers.kubernetes.manifests import Installation, manifests
from tests.planner.schedulers.kubernetes.guards import allows
from tests.planner.schedulers.kubernetes.test_manifests import ODD, config, objects

PLANNER = "system:serviceaccount:ns:photonplan"
JOBS = "system:serviceaccount:kube-system:job-controller"
USER = "alice"
OWN = ("job", "devices", "assignment", "cuda-visible-devices")


def found(namespace: str = "ns", **changes: Any) -> dict[str, dict[str, Any]]:
    return objects(manifests(config(**changes), {}, Installation(namespace, "image")))


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


def test_the_policy_is_put_to_work_on_all_ways_to_write_a_pod() -> None:
    both = found()
    policy, binding = both["ValidatingAdmissionPolicy"], both["ValidatingAdmissionPolicyBinding"]
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
