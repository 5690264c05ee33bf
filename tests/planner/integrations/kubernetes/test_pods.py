"""Pods that take accelerators, and the job that they stand for."""

import pytest

from planner.integrations.kubernetes.pod_assignment import (
    ASSIGNMENT,
    JOB,
    VISIBLE,
    PodAssignment,
)
from planner.integrations.kubernetes.pods import Pod, annotated_job, bound, in_the_way


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
