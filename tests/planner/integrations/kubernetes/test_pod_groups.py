"""Pods as jobs, and devices as pods, against plain reckoning."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.integrations.kubernetes.client import path_of
from planner.integrations.kubernetes.config import Kubernetes, KubernetesSite
from planner.integrations.kubernetes.pod_assignment import (
    ASSIGNMENT,
    JOB,
    VISIBLE,
    PodAssignment,
    SplitError,
    pod_assignments_of,
    written,
)
from planner.integrations.kubernetes.pod_groups import (
    PodGroupError,
    PodSet,
    accelerators_of,
    clipped,
    job_name,
    pod_group_of,
)
from planner.integrations.kubernetes.pods import Pod, annotated_job, bound, in_the_way
from planner.placement.placement import Place
from tests.planner.simulate.grounds import BERT, cluster

SITE = KubernetesSite(
    Kubernetes.model_validate({"nodes": "n[0-3]", "workloads": {"bert": BERT}, "default_workload": "bert"}),
    cluster("fat_tree"),
    {f"n{i}": f"s{i}" for i in range(4)},
)
GPU, AMD = "nvidia.com/gpu", "amd.com/gpu"


def place(devices: list[tuple[int, int]]) -> Place:
    row = SimpleNamespace(options=SimpleNamespace(fabric=SITE.cluster.fabric))
    return cast(Place, SimpleNamespace(row=row, devices=tuple(devices)))


@pytest.mark.slow
@given(st.data(), st.integers(1, 4))
def test_seats_are_a_partition_or_there_are_none(data: st.DataObject, each: int) -> None:
    slots = [(server, slot) for server in range(4) for slot in range(8)]
    devices = data.draw(st.lists(st.sampled_from(slots), min_size=1, unique=True))
    counts = {server: sum(one == server for one, _ in devices) for server, _ in devices}
    if any(count % each for count in counts.values()):
        with pytest.raises(SplitError):
            pod_assignments_of(place(devices), each, SITE.node_of)
        return
    assignments = pod_assignments_of(place(devices), each, SITE.node_of)
    assert sorted(rank for assignment in assignments for rank in assignment.ranks) == list(range(len(devices)))
    for one in assignments:
        assert len(one.indices) == each
        assert [(int(one.node[1:]), index) for index in one.indices] == [devices[rank] for rank in one.ranks]
    assert [one.ranks[0] for one in assignments] == sorted(one.ranks[0] for one in assignments)


@given(st.integers(1, 12), st.integers(1, 8))
def test_forms_of_a_pod_group_are_all_even_splits(pods: int, each: int) -> None:
    pod_group = pod_group_of([PodSet("a", pods, each)], {"name": "j"}, {}, SITE)
    told = pod_group.request.constraints.per_server
    even = [request.constraints.per_server for request in pod_group.even]
    assert all(request.accelerators == pods * each for request in pod_group.requests)
    if pods == 1 or 2 * each > 8:
        assert (told, even) == (each, [])
    else:
        assert told is None
        splits = [k * each for k in range(8, 0, -1) if k * each <= 8 and pods % k == 0]
        assert even == (splits if each > 1 else [])


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sampled_from([GPU, AMD, "cpu"]), st.integers(0, 9), st.booleans(), st.booleans()), max_size=5)
)
def test_accelerators_of_a_pod(parts: list[tuple[str, int, bool, bool]]) -> None:
    containers, first = [], []
    together, alone = 0, [0]
    for resource, amount, is_init, is_sidecar in parts:
        one: dict[str, Any] = {"resources": {"limits": {resource: str(amount)}}}
        counted = amount if resource != "cpu" else 0
        if is_init:
            first.append(one | ({"restartPolicy": "Always"} if is_sidecar else {}))
        else:
            containers.append(one)
        if is_init and not is_sidecar:
            alone.append(counted)
        else:
            together += counted
    assert accelerators_of({"containers": containers, "initContainers": first}, (GPU, AMD)) == max(together, *alone)


@pytest.mark.parametrize("amount", ["1.5", "500m", "1k", "-1", "", "٣", "9" * 30])
def test_amounts_that_are_no_whole_number(amount: str) -> None:
    with pytest.raises(PodGroupError, match="whole number"):
        accelerators_of({"containers": [{"resources": {"requests": {GPU: amount}}}]}, (GPU,))


@pytest.mark.slow
@given(st.text(max_size=63), st.text(max_size=300))
def test_names_of_jobs_are_short_and_differ(namespace: str, name: str) -> None:
    found = job_name(namespace, name)
    assert len(found) <= 100
    assert found != job_name(namespace, name + "x")


def test_priorities_are_clipped() -> None:
    assert [clipped(one) for one in (None, 0, 7, 2_000_000_000, -2_147_483_648)] == [0, 0, 7, 10**6, -(10**6)]


@pytest.mark.parametrize(
    "text",
    ["", "x", "null", "3", "[1]", "[{}]", '{"a": 1}', '[{"node": "n0"}]', "[" * 10**5,
     '[{"node": "n0", "indices": ["a"], "ranks": []}]', '[{"node": "n0", "indices": [Infinity], "ranks": []}]'],
)  # fmt: skip
def test_an_annotation_that_anybody_wrote_breaks_nothing(text: str) -> None:
    item = {"metadata": {"name": "p", "namespace": "a", "annotations": {ASSIGNMENT: text}}, "spec": {"nodeName": "n0"}}
    assert Pod(item).indices == frozenset()
    with pytest.raises(ValueError, match="not what the planner wrote"):
        written(text)


def test_what_was_written_is_read_again() -> None:
    assignments = (PodAssignment("n0", (0, 3), (1, 2)), PodAssignment("n1", (4, 5), (0, 3)))
    assert written(str([assignment.body() for assignment in assignments]).replace("'", '"')) == assignments


def test_a_job_of_another_namespace_is_not_believed() -> None:
    item = {"metadata": {"name": "p", "namespace": "a", "annotations": {JOB: "b/train"}}, "spec": {}}
    assert annotated_job(Pod(item)) == ""
    item["metadata"] = {"name": "p", "namespace": "b", "annotations": {JOB: "b/train"}}
    assert annotated_job(Pod(item)) == "b/train"


def test_who_is_in_the_way() -> None:
    text = '[{"node": "n0", "indices": [2], "ranks": [0]}]'
    item = {
        "metadata": {"name": "p", "uid": "u", "namespace": "a", "annotations": {ASSIGNMENT: text}},
        "spec": {"nodeName": "n0"}, "status": {"phase": "Running"},
    }  # fmt: skip
    assert in_the_way([PodAssignment("n0", (1, 2), (0, 1))], [Pod(item)]) == Pod(item)
    assert in_the_way([PodAssignment("n0", (1, 2), (0, 1))], [Pod(item)], "u") is None
    assert in_the_way([PodAssignment("n0", (1, 3), (0, 1)), PodAssignment("n1", (2,), (2,))], [Pod(item)]) is None


@pytest.mark.parametrize(
    ("phase", "gpus", "is_bound"),
    [("Running", "1", True), ("Running", "0", False), ("Failed", "1", False), ("Running", "1k", True)],
)
def test_who_holds_accelerators(phase: str, gpus: str, is_bound: bool) -> None:
    container = {"resources": {"limits": {"x/gpu": gpus}}}
    about = {"name": "p", "annotations": {VISIBLE: "0"}}
    item = {"metadata": about, "spec": {"nodeName": "n0", "containers": [container]}, "status": {"phase": phase}}
    assert list(bound([item], ["x/gpu"])) == [Pod(item)] * is_bound


def test_paths() -> None:
    assert path_of("v1", "pods", "a", "b", "binding") == "/api/v1/namespaces/a/pods/b/binding"
    assert path_of("kueue.x-k8s.io/v1beta1", "workloads") == "/apis/kueue.x-k8s.io/v1beta1/workloads"
    assert path_of("v1", "nodes", name="../x?y") == "/api/v1/nodes/..%2Fx%3Fy"
