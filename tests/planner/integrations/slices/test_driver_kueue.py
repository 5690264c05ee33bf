"""Kueue admits a Workload on whole cubes once GKE has joined them, and not before."""

from pathlib import Path

import pytest

from planner.controller.switch_reconciler import SwitchReconciler
from planner.integrations.slices.driver import SliceDriver
from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.kubernetes.items import pod_set
from tests.planner.integrations.kubernetes.objects import SLICES
from tests.planner.integrations.kubernetes.world import World
from tests.planner.integrations.slices.cubes import PARTITIONS, cluster, site
from tests.planner.integrations.slices.gke import SliceController
from tests.planner.simulate.grounds import BERT


@pytest.mark.slow
def test_a_workload_waits_for_its_slice_and_takes_it_along(server: Server, tmp_path: Path) -> None:
    workloads = {"bert": BERT | {"global_batch": 1024}}
    world = World(server, tmp_path, cluster(), slices={"partitions": PARTITIONS}, workloads=workloads)
    gke, waited = SliceController(world.emulator, patience=0.0), [0.0]

    def sleep(time_s: float) -> None:
        waited[0] += time_s
        gke.step()

    world.applied = {}
    world.restart()
    driver = SliceDriver(tmp_path / "circuits", site("1 s"), world.api, clock=lambda: waited[0], sleep=sleep)
    switches = SwitchReconciler(world.controller, driver, clock=lambda: world.now_s)

    def settle(rounds: int) -> None:
        for _ in range(rounds):
            switches.tick()
            world.applied = switches.on()
            world.settle(1)
            gke.step()

    world.workload("train", pod_set(2, 64))
    settle(3)
    assert world.check("train")["state"] == "Pending"
    assert "circuits are being connected" in world.check("train")["message"]
    assert world.pods() == []
    gke.patience = 1.0
    settle(12)
    assert world.check("train")["state"] == "Ready"
    assert {pod["spec"].get("nodeName") for pod in world.pods()} <= {f"n{i}" for i in range(4)}
    (item,) = world.emulator.all(SLICES)
    assert (gke.state(item), item["spec"]["topology"]) == ("ACTIVE", "4x4x8")
    assert item["metadata"]["annotations"] == {"photonplan.io/job": "team/train"}
    world.finish("train")
    settle(8)
    assert world.emulator.all(SLICES) == []
    world.close()
