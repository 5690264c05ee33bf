"""The API of the tests is as strict as a real one: options of requests, versions, finalizers, rights."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.kubernetes.items import node, pod_set
from tests.planner.integrations.kubernetes.kueue_webhook import require_kueue
from tests.planner.integrations.kubernetes.objects import NODES, PODS, SLICES, WORKLOADS
from tests.planner.integrations.kubernetes.published import Refused, require_published

PATH = "/api/v1/pods"
SLICE: dict[str, Any] = {
    "apiVersion": "accelerator.gke.io/v1beta1", "kind": "Slice", "metadata": {"name": "a"},
    "spec": {"type": "tpu7x", "topology": "4x4x8", "partitionIds": ["c0", "c1"]},
}  # fmt: skip


def pod(name: str, namespace: str = "a", node_name: str = "", **labels: str) -> dict[str, Any]:
    about = {"name": name, "namespace": namespace, "labels": labels}
    placed = {"nodeName": node_name} if node_name else {}
    return {"metadata": about, "spec": {"containers": [{"name": "main", "image": "x"}]} | placed}


@pytest.fixture
def http(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url) as one:
        yield one


@pytest.mark.parametrize(
    ("params", "status"),
    [
        ({"labelSelector": "a=b,c in (d,e),!f,g"}, 200),
        ({"labelSelector": "a=b=c"}, 400),
        ({"labelSelector": "a in d"}, 400),
        ({"fieldSelector": "spec.nodeName=n0,status.phase!=Failed,metadata.namespace=a"}, 200),
        ({"fieldSelector": "spec.priority=1"}, 400),
        ({"fieldSelector": "spec.nodeName"}, 400),
        ({"resourceVersion": "x"}, 400),
        ({"limit": "-1"}, 400),
        ({"resourceVersion": "999"}, 504),
        ({"resourceVersionMatch": "Exact"}, 422),
        ({"resourceVersionMatch": "Exact", "resourceVersion": "0"}, 422),
        ({"resourceVersionMatch": "Newest", "resourceVersion": "1"}, 422),
        ({"continue": "nonsense"}, 400),
        ({"continue": "e30", "resourceVersion": "1"}, 400),
        ({"sendInitialEvents": "true"}, 422),
        ({"watch": "true", "sendInitialEvents": "true"}, 422),
        ({"watch": "true", "resourceVersionMatch": "NotOlderThan", "resourceVersion": "1"}, 422),
        (
            {
                "watch": "true",
                "sendInitialEvents": "true",
                "resourceVersionMatch": "NotOlderThan",
                "timeoutSeconds": "1",
            },
            200,
        ),
        ({"watch": "true", "resourceVersion": "999"}, 504),
        ({"watch": "true", "limit": "1"}, 400),
    ],
)
def test_options_of_reads(server: Server, http: httpx.Client, params: dict[str, str], status: int) -> None:
    server.emulator.put(PODS, pod("a"))
    answer = http.get(PATH, params=params)
    assert answer.status_code == status
    if status != 200:
        assert {key: answer.json()[key] for key in ("kind", "code")} == {"kind": "Status", "code": status}


@pytest.mark.parametrize(
    ("params", "names"),
    [
        ({"labelSelector": "x=1"}, {"a"}),
        ({"labelSelector": "x!=1"}, {"b", "c"}),
        ({"labelSelector": "x in (1,2)"}, {"a", "b"}),
        ({"labelSelector": "x notin (1)"}, {"b", "c"}),
        ({"labelSelector": "x"}, {"a", "b"}),
        ({"labelSelector": "!x"}, {"c"}),
        ({"fieldSelector": "spec.nodeName=n0"}, {"a"}),
        ({"fieldSelector": "spec.nodeName=,metadata.name!=c"}, {"b"}),
        ({"labelSelector": "x", "fieldSelector": "status.phase=Pending"}, {"a", "b"}),
    ],
)
def test_selectors(server: Server, http: httpx.Client, params: dict[str, str], names: set[str]) -> None:
    for one in (pod("a", x="1", node_name="n0"), pod("b", x="2"), pod("c")):
        server.emulator.put(PODS, one)
    assert {item["metadata"]["name"] for item in http.get(PATH, params=params).json()["items"]} == names


def test_nodes_are_selected_by_whether_they_take_pods(server: Server, http: httpx.Client) -> None:
    for name, is_cordoned in (("n0", True), ("n1", False)):
        server.emulator.put(NODES, node(name) | {"spec": {"unschedulable": True} if is_cordoned else {}})
    found = http.get("/api/v1/nodes", params={"fieldSelector": "spec.unschedulable=false"}).json()["items"]
    assert [item["metadata"]["name"] for item in found] == ["n1"]


def test_a_page_has_as_many_as_were_asked_for(server: Server, http: httpx.Client) -> None:
    for i in range(9):
        server.emulator.put(PODS, pod(f"p{i}"))
    assert len(http.get(PATH).json()["items"]) == 9
    page = http.get(PATH, params={"limit": "4"}).json()
    assert (page["kind"], len(page["items"]), page["metadata"]["remainingItemCount"]) == ("PodList", 4, 5)
    server.emulator.put(PODS, pod("p00"))
    rest = http.get(PATH, params={"limit": "9", "continue": page["metadata"]["continue"]}).json()
    assert [item["metadata"]["name"] for item in rest["items"]] == [f"p{i}" for i in range(4, 9)]
    server.emulator.forget()
    late = http.get(PATH, params={"limit": "9", "continue": page["metadata"]["continue"]})
    assert (late.status_code, late.json()["reason"]) == (410, "Expired")


def test_bookmarks_come_with_long_watches_and_after_initial_events(server: Server, http: httpx.Client) -> None:
    server.emulator.put(PODS, pod("a"))
    watch = {"watch": "true", "allowWatchBookmarks": "true", "resourceVersion": "1"}
    for more, kinds in (
        ({"timeoutSeconds": "1"}, []),
        ({"timeoutSeconds": "60"}, ["BOOKMARK"]),
        ({"timeoutSeconds": "60", "allowWatchBookmarks": "false"}, []),
        ({"timeoutSeconds": "1", "sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"},
         ["ADDED", "BOOKMARK"]),
        ({"timeoutSeconds": "1", "sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan",
          "allowWatchBookmarks": "false"}, ["ADDED"]),
    ):  # fmt: skip
        events = [json.loads(line) for line in http.get(PATH, params=watch | more).text.splitlines() if line]
        assert [event["type"] for event in events] == kinds
        if kinds == ["ADDED", "BOOKMARK"]:
            assert events[-1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_finalizers_keep_an_object_and_a_second_deletion_changes_nothing(server: Server) -> None:
    emulator = server.emulator
    emulator.put(SLICES, copy.deepcopy(SLICE) | {"metadata": {"name": "a", "finalizers": ["x/y"]}})
    emulator.remove("alice", "slices", None, "a")
    version = emulator.version
    emulator.remove("alice", "slices", None, "a")
    assert emulator.version == version
    assert emulator.get(SLICES, None, "a") is not None
    emulator.change(SLICES, None, "a", metadata={"finalizers": None})
    assert emulator.get(SLICES, None, "a") is None
    assert [change.after is None for change in emulator.events] == [False, False, False, True]


def test_writes_that_change_nothing_are_none_and_generations_count_specs(server: Server) -> None:
    emulator = server.emulator
    emulator.put(SLICES, copy.deepcopy(SLICE))
    before = emulator.change(SLICES, None, "a", spec={"topology": "4x4x8"})
    assert (before["metadata"]["resourceVersion"], before["metadata"]["generation"]) == ("1", 1)
    emulator.change(SLICES, None, "a", status={"conditions": []})
    after = emulator.change(SLICES, None, "a", spec={"partitionIds": ["c2", "c3"]})
    assert (after["metadata"]["resourceVersion"], after["metadata"]["generation"]) == ("3", 2)


def test_who_creates_gets_a_name_no_status_and_no_second_one(server: Server) -> None:
    emulator = server.emulator
    made = emulator.create(SLICES, None, copy.deepcopy(SLICE) | {"metadata": {"generateName": "a-"}, "status": {}})
    assert made["metadata"]["name"].startswith("a-")
    assert "status" not in made
    emulator.create(SLICES, None, copy.deepcopy(SLICE))
    with pytest.raises(Refused, match="already exists"):
        emulator.create(SLICES, None, copy.deepcopy(SLICE))
    with pytest.raises(Refused, match="does not match the namespace"):
        emulator.create(PODS, "b", pod("a", "a"))


def test_a_right_comes_before_the_question_whether_there_is_such_a_thing(http: httpx.Client) -> None:
    assert http.get("/api/v1/secrets").status_code == 403
    assert http.get("/apis/example.org/v1/things").status_code == 403


@pytest.mark.parametrize(
    "parts",
    [
        {"spec": {"topology": "4x8x4"}},
        {"spec": {"topology": "4x4"}},
        {"spec": {"topology": "4x4x6"}},
        {"spec": {"topology": "4x4x4"}},
        {"spec": {"partitionIds": ["c0", "c0"]}},
        {"spec": {"partitionIds": []}},
        {"spec": {"type": "tpu9"}},
        {"spec": {"topologie": "4x4x8"}},
        {"metadata": {"name": "a" * 50}},
        {"metadata": {"name": "1a"}},
        {"metadata": {"name": "a", "namespace": "b"}},
    ],
)
def test_slices_that_the_webhook_refuses(parts: dict[str, Any]) -> None:
    require_published(copy.deepcopy(SLICE))
    broken = copy.deepcopy(SLICE)
    for key, value in parts.items():
        broken[key] |= value
    with pytest.raises(Refused):
        require_published(broken)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("Pending", [{"name": "a"}], "same number"),
        ("Pending", [{"name": "a"}, {"name": "c"}], "Unsupported"),
        ("Pending", [{"name": "a"}, {"name": "a"}], "Unsupported"),
        ("Ready", [{"name": "a"}, {"name": "b"}], "immutable"),
        ("Pending", [{"name": "a"}, {"name": "b"}], ""),
        ("Pending", [], ""),
    ],
)
def test_updates_of_pod_sets_that_kueue_refuses(before: str, after: list[dict[str, str]], said: str) -> None:
    spec = {"podSets": [pod_set(1, 1, "a"), pod_set(1, 1, "b")]}
    old = {"spec": spec, "status": {"admissionChecks": [{"name": "x", "state": before}]}}
    new = {"spec": spec, "status": {"admissionChecks": [{"name": "x", "state": "Ready", "podSetUpdates": after}]}}
    if said:
        with pytest.raises(Refused, match=said):
            require_kueue(old, new)
    else:
        require_kueue(old, new)


def test_fields_that_others_write_are_kept(server: Server) -> None:
    """A Workload as Kueue has it, with all that this project does not read."""
    about = {"name": "w", "namespace": "a"}
    status = {"requeueState": {"count": 1}, "unhealthyNodes": [{"name": "n0"}], "schedulingStats": {}}
    server.emulator.put(WORKLOADS, {"metadata": about, "spec": {"podSets": [pod_set(1, 1)]}, "status": status})
    condition = {"name": "x", "state": "Pending", "message": "", "lastTransitionTime": "2027-01-15T08:00:00Z"}
    found = server.emulator.change(WORKLOADS, "a", "w", status={"admissionChecks": [condition]})
    assert found["status"] == status | {"admissionChecks": [condition]}
    assert found["spec"]["active"] is True
