"""Pods as jobs, and devices as pods, against plain reckoning."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.integrations.kubernetes.pod_groups import (
    PodGroupError,
    PodSet,
    accelerators_of,
    clipped,
    job_name,
    pod_group_of,
)
from tests.planner.integrations.kubernetes.pod_groups_cases import SHARED, SITE

GPU, AMD = "nvidia.com/gpu", "amd.com/gpu"


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


@given(st.integers(1, 12), st.integers(1, 5))
def test_where_a_server_is_two_nodes_pods_take_whole_servers(pods: int, each: int) -> None:
    wanted = [PodSet("a", pods, each)]
    if each in (1, 2, 4) and pods * each % 8 == 0:
        pod_group = pod_group_of(wanted, {"name": "j"}, {}, SHARED)
        assert [one.constraints.per_server for one in pod_group.requests] == [None, 8]
        return
    with pytest.raises(PodGroupError, match=r"ask for fewer|ask for all|ask for a multiple"):
        pod_group_of(wanted, {"name": "j"}, {}, SHARED)


def test_pods_on_a_node_fill_it_where_a_server_is_two() -> None:
    key = "photonplan.io/pods-per-node"
    pod_group = pod_group_of([PodSet("a", 8, 2)], {"name": "j"}, {key: "2"}, SHARED)
    assert [one.constraints.per_server for one in pod_group.requests] == [8]
    with pytest.raises(PodGroupError, match="do not fill a node of 4; ask for all, or an equal share"):
        pod_group_of([PodSet("a", 8, 2)], {"name": "j"}, {key: "1"}, SHARED)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sampled_from([GPU, AMD, "cpu"]), st.integers(0, 9), st.booleans(), st.booleans()), max_size=5)
)
def test_accelerators_of_a_pod(parts: list[tuple[str, int, bool, bool]]) -> None:
    """At each moment of its life: while each init container runs, and when all have ended but sidecars."""
    containers, first = [], []
    running: list[list[tuple[str, int, bool, bool]]] = []
    for resource, amount, is_init, is_sidecar in parts:
        one: dict[str, Any] = {"resources": {"limits": {resource: str(amount)}}}
        if is_init:
            first.append(one | ({"restartPolicy": "Always"} if is_sidecar else {}))
        else:
            containers.append(one)
    inits = [part for part in parts if part[2]]
    for number, init in enumerate(inits):
        running.append([init, *(part for part in inits[:number] if part[3])])
    running.append([part for part in parts if part[3] or not part[2]])
    most = max(sum(amount for resource, amount, *_ in now if resource != "cpu") for now in running)
    assert accelerators_of({"containers": containers, "initContainers": first}, (GPU, AMD)) == most


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
