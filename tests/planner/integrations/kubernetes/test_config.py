"""Jobs inside a cube whose nodes are hosts of 2 x 2 x 1 chips: each takes the hosts of its box, and shares none."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.integrations.kubernetes.config import load_site
from planner.integrations.kubernetes.pod_groups import PodGroupError, PodSet, pod_group_of
from planner.integrations.kubernetes.pods import Pod
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from tests.planner.integrations.kubernetes.admission_cases import Make
from tests.planner.integrations.kubernetes.items import pod_set
from tests.planner.integrations.kubernetes.objects import NODES
from tests.planner.integrations.kubernetes.world import World
from tests.planner.integrations.slices.cubes import CLUSTER, FABRIC
from tests.planner.simulate.grounds import BERT

PARTITIONS = [[2, 2, 1], [2, 2, 2], [2, 2, 4], [2, 4, 4]]
CUBES = Cluster.model_validate(CLUSTER | {"fabric": FABRIC | {"servers": 2, "partitions": PARTITIONS}})
KNOWN: dict[str, Any] = {
    "nodes": {"n[0-15]": "s0", "n[16-31]": "s1"},
    "workloads": {"bert": BERT | {"global_batch": 1024}},
}


def nodes_of(world: World, name: str) -> list[int]:
    found = [pod.node for pod in map(Pod, world.pods(f"team/{name}"))]
    assert all(found), "every pod is bound"
    return sorted(int(node[1:]) for node in found)


def hosts_at(number: int) -> tuple[int, int, int, int]:
    """Cube of a node, and where its host begins: hosts lie along z first, then along y."""
    return number // 16, number % 16 // 8 * 2, number % 8 // 4 * 2, number % 4


@pytest.mark.slow
def test_jobs_of_all_partitions_lie_side_by_side_on_the_hosts_of_their_boxes(make_world: Make) -> None:
    world = make_world(fabric=CUBES, shared_by=16, **KNOWN)
    sizes = {"host": 1, "pair": 2, "column": 4, "half": 8, "cube": 16}
    for name, pods in sizes.items():
        world.workload(name, pod_set(pods, 4))
    world.settle(6)
    lie = {name: nodes_of(world, name) for name in sizes}
    taken = [node for nodes in lie.values() for node in nodes]
    assert len({*taken}) == len(taken) == 31
    for name, box in (("host", (1, 1, 1)), ("pair", (1, 1, 2)), ("column", (1, 1, 4)), ("half", (1, 2, 4))):
        cubes, *axes = (sorted({*each}) for each in zip(*map(hosts_at, lie[name]), strict=True))
        assert ([len(axis) for axis in axes], len(cubes)) == ([*box], 1), name
        assert axes[2] == [*range(axes[2][0], axes[2][0] + box[2])]
        assert axes[2][0] % box[2] == 0
    (update,) = world.check("pair")["podSetUpdates"]
    for one in json.loads(update["annotations"]["photonplan.io/assignment"]):
        devices = [world.controller.running["team/pair"].devices[rank] for rank in one["ranks"]]
        assert [world.seat(device) for device in devices] == [(one["node"], index) for index in one["indices"]]


@pytest.mark.slow
def test_a_host_that_fails_takes_the_jobs_on_its_chips_alone(make_world: Make) -> None:
    world = make_world(fabric=CUBES, shared_by=16, **KNOWN)
    for name in ("one", "two"):
        world.workload(name, pod_set(2, 4))
    world.settle(5)
    before = {name: nodes_of(world, name) for name in ("one", "two")}
    lost = before["one"][0]
    world.emulator.change(NODES, None, f"n{lost}", status={"conditions": [{"type": "Ready", "status": "Unknown"}]})
    world.loop.tick()
    world.restart()
    assert {world.seat(CUBES.fabric.parse_device(name))[0] for name in world.controller.down} == {f"n{lost}"}
    assert len(world.controller.down) == 4
    world.settle(14)
    assert nodes_of(world, "two") == before["two"]
    assert lost not in nodes_of(world, "one")
    assert world.check("one")["state"] == "Ready"


@pytest.mark.slow
def test_what_fills_no_hosts_is_refused(make_world: Make) -> None:
    site = make_world(fabric=CUBES, shared_by=16, **KNOWN).site
    fabric = FABRIC | {"servers": 2}
    without = replace(site, cluster=Cluster.model_validate(CLUSTER | {"fabric": fabric}))
    for pods, each, where, said in (
        (3, 2, site, "6 accelerators, and nodes of 4 are taken whole; ask for a multiple of that"),
        (1, 3, site, "do not fill a node of 4"),
        (2, 4, without, "a server is 16 nodes with 64 together, taken whole"),
    ):
        with pytest.raises(PodGroupError, match=said):
            pod_group_of([PodSet("main", pods, each)], {"name": "team/j", "tenant": "team"}, {}, where)


def test_a_host_is_one_node(tmp_path: Path) -> None:
    path = tmp_path / "kubernetes.yaml"
    path.write_text(json.dumps({"nodes": {"n[0-7]": "s0", "n[8-15]": "s1"}}))
    with pytest.raises(
        InputError, match="nodes: 8 for each server, which has 16 hosts by the partitions of the cluster"
    ):
        load_site(path, CUBES)
