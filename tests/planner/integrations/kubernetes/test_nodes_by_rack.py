"""Nodes of each rack that pods ask for by an annotation."""

from typing import Any

import pytest

from costmodel.pricing.servers_by_rack import ServersOfRack
from planner.integrations.kubernetes.nodes_by_rack import KEY as NODES_BY_RACK
from planner.integrations.kubernetes.pod_groups import PodGroupError, PodSet, pod_group_of
from tests.planner.integrations.kubernetes.pod_groups_cases import SHARED, SITE


@pytest.mark.parametrize(
    ("pods", "each", "asked", "per_node", "limits"),
    [
        (8, 8, "1,3,4", None, (8, (1, 3, 4))),
        (8, 2, "1,3", None, (4, (1, 3))),
        (8, 2, "1,3", "2", (4, (1, 3))),
        (6, 8, "1-2", None, (8, ServersOfRack(min=1, max=2))),
        (6, 2, "2-3", "1", (2, ServersOfRack(min=2, max=3))),
    ],
)
def test_nodes_by_rack(pods: int, each: int, asked: str, per_node: str | None, limits: Any) -> None:
    said = {NODES_BY_RACK: asked} | ({} if per_node is None else {"photonplan.io/pods-per-node": per_node})
    pod_group = pod_group_of([PodSet("a", pods, each)], {"name": "j"}, said, SITE)
    assert pod_group.even == ()
    found = pod_group.request.constraints
    assert (found.per_server, found.servers_by_rack) == limits


@pytest.mark.parametrize(
    ("pods", "each", "asked", "message"),
    [
        (7, 8, "1,3,4", "8 nodes do not take 7 pods"),
        (16, 8, "1,3,4", "8 nodes do not take 16 pods"),
        (6, 2, "2-3", "bounds need photonplan.io/pods-per-node, as 4 pods fit"),
        *((8, 8, text, "is neither nodes of racks") for text in ("", "0,8", "8,", "3-2", "1-2,3", "all", "٨")),
    ],
)
def test_nodes_by_rack_that_cannot_be(pods: int, each: int, asked: str, message: str) -> None:
    with pytest.raises(PodGroupError, match=message):
        pod_group_of([PodSet("a", pods, each)], {"name": "j"}, {NODES_BY_RACK: asked}, SITE)


def test_racks_give_whole_servers_where_these_are_two_nodes() -> None:
    said = {NODES_BY_RACK: "2,4"}
    pod_group = pod_group_of([PodSet("a", 6, 4)], {"name": "j"}, said, SHARED)
    assert pod_group.request.constraints.servers_by_rack == (1, 2)
    with pytest.raises(PodGroupError, match="ask for multiples of 2"):
        pod_group_of([PodSet("a", 6, 4)], {"name": "j"}, {NODES_BY_RACK: "3,3"}, SHARED)
