"""Cubes of 16 nodes, as on GKE: Workloads of Kueue take whole cubes, pod by pod, over Slices that come and go."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from planner.controller.switch_reconciler import SwitchReconciler
from planner.integrations.kubernetes.config import SliceSettings
from planner.integrations.kubernetes.pods import Pod
from planner.integrations.slices.config import SliceSite
from planner.integrations.slices.driver import SliceDriver
from planner.model.cluster import Cluster
from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.kubernetes.items import pod_set
from tests.planner.integrations.kubernetes.objects import NODES, SLICES
from tests.planner.integrations.kubernetes.world import World
from tests.planner.integrations.slices.cubes import CLUSTER, FABRIC, PARTITIONS
from tests.planner.integrations.slices.gke import SliceController
from tests.planner.simulate.grounds import BERT

CUBES = Cluster.model_validate(CLUSTER | {"fabric": FABRIC | {"servers": 2}})
NAMES = {cube: PARTITIONS[cube] for cube in ("s0", "s1")}
PER_CUBE, CHIPS = 16, 4


class Cubes:
    """Two cubes, 32 nodes, the driver of Slices and GKE."""

    def __init__(self, server: Server, folder: Path) -> None:
        workloads = {"bert": BERT | {"global_batch": 1024}}
        nodes = {"n[0-15]": "s0", "n[16-31]": "s1"}
        self.world = World(
            server, folder, CUBES, PER_CUBE, nodes=nodes, slices={"partitions": NAMES}, workloads=workloads
        )
        self.gke, self._waited_s, self._folder = SliceController(self.world.emulator), 0.0, folder / "circuits"
        self.restart()

    def restart(self) -> None:
        """The planner has died, and another begins."""
        self.world.applied = {}
        self.world.restart()
        site = SliceSite(SliceSettings.model_validate({"partitions": NAMES, "ready": "1 s"}), CUBES, "tpu7x", None)
        driver = SliceDriver(self._folder, site, self.world.api, clock=lambda: self._waited_s, sleep=self._sleep)
        self.switches = SwitchReconciler(self.world.controller, driver, clock=lambda: self.world.now_s)

    def _sleep(self, time_s: float) -> None:
        self._waited_s += time_s
        self.gke.step()

    def settle(self, rounds: int) -> None:
        for _ in range(rounds):
            self.switches.tick()
            self.world.applied = self.switches.on()
            self.world.settle(1)
            self.gke.step()

    def state(self, name: str) -> tuple[str, str]:
        check = self.world.check(name)
        return check["state"], check["message"]

    def partitions(self) -> list[list[str]]:
        return sorted(item["spec"]["partitionIds"] for item in self.world.emulator.all(SLICES))

    def nodes(self, name: str) -> list[str]:
        """Nodes of the pods of a Workload, by the numbers of the pods."""
        pods = sorted(map(Pod, self.world.pods(f"team/{name}")), key=lambda pod: int(pod.name.rpartition("-")[2]))
        return [pod.node for pod in pods]

    def be_ready(self, node: str, status: str) -> None:
        self.world.emulator.change(NODES, None, node, status={"conditions": [{"type": "Ready", "status": status}]})


@pytest.fixture
def cubes(server: Server, tmp_path: Path) -> Iterator[Cubes]:
    made = Cubes(server, tmp_path)
    yield made
    made.world.close()


def names(cube: int) -> set[str]:
    return {f"n{number}" for number in range(cube * PER_CUBE, (cube + 1) * PER_CUBE)}


@pytest.mark.slow
def test_a_workload_of_32_pods_has_the_nodes_of_both_cubes_in_the_order_of_ranks(cubes: Cubes) -> None:
    cubes.world.workload("wide", pod_set(32, CHIPS))
    cubes.settle(5)
    assert cubes.state("wide")[0] == "Ready"
    assert cubes.partitions() == [sorted(NAMES.values())]
    devices = cubes.world.controller.running["team/wide"].devices
    seats = [cubes.world.seat(device) for device in devices]
    (update,) = cubes.world.check("wide")["podSetUpdates"]
    told = json.loads(update["annotations"]["photonplan.io/assignment"])
    assert [one["node"] for one in told] == list(dict.fromkeys(node for node, _ in seats))
    assert {one["node"] for one in told} == names(0) | names(1)
    for one in told:
        assert [(one["node"], index) for index in one["indices"]] == [seats[rank] for rank in one["ranks"]]
    assert sorted(cubes.nodes("wide")) == sorted(one["node"] for one in told)
    cubes.world.finish("wide")
    cubes.settle(4)
    assert cubes.partitions() == []


@pytest.mark.slow
def test_a_failed_node_takes_its_chips_and_its_workload_goes_to_the_other_cube(cubes: Cubes) -> None:
    cubes.world.workload("one", pod_set(16, CHIPS))
    cubes.settle(8)
    assert set(cubes.nodes("one")) == names(0)
    cubes.be_ready("n5", "Unknown")
    cubes.world.loop.tick()
    assert set(cubes.world.controller.down) == {f"s0.c{chip}" for chip in range(20, 24)}
    cubes.restart()
    cubes.settle(12)
    assert cubes.state("one")[0] == "Ready"
    assert (set(cubes.nodes("one")), cubes.partitions()) == (names(1), [[NAMES["s1"]]])
    cubes.world.workload("wide", pod_set(32, CHIPS))
    cubes.settle(2)
    assert cubes.state("wide")[0] == "Pending"
    cubes.restart()
    cubes.world.finish("one")
    cubes.be_ready("n5", "True")
    cubes.settle(8)
    assert cubes.world.controller.down == ()
    assert (cubes.state("wide")[0], set(cubes.nodes("wide"))) == ("Ready", names(0) | names(1))
