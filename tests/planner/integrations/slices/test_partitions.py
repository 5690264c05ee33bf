"""Slices inside cubes: the partition of a job's hosts by the labels of nodes, waited for, apart from all others."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from planner.controller.switch_reconciler import SwitchReconciler
from planner.integrations.slices.driver import SliceDriver
from planner.integrations.slices.partitions import LABEL, footprint, named_by, partition_of
from planner.integrations.switch_drivers import CircuitBusyError, CircuitError
from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.kubernetes.items import pod_set
from tests.planner.integrations.kubernetes.objects import NODES, SLICES
from tests.planner.integrations.kubernetes.world import World
from tests.planner.integrations.slices.cubes import (
    HOSTS,
    PARTITIONS,
    divided,
    divided_site,
    host_of,
    labels_of,
    nodes,
)
from tests.planner.integrations.slices.gke import SliceController
from tests.planner.simulate.grounds import BERT

NAMED = named_by(nodes(), [f"n{number}" for number in range(4 * HOSTS)])


def test_hosts_of_a_partition_have_its_label_and_nobody_else() -> None:
    assert partition_of("j", "2x2x2", ["n2", "n3"], NAMED) == "cube0-2x2x2-1"
    assert partition_of("j", "2x2x4", ["n20", "n21", "n22", "n23"], NAMED) == "cube1-2x2x4-1"
    for hosts in (["n1", "n2"], ["n2"], ["n2", "n3", "n4"], ["n2", "n99"]):
        with pytest.raises(ValueError, match="are no partition 2x2x2 by their labels"):
            partition_of("j", "2x2x2", hosts, NAMED)


def test_partitions_within_each_other_take_the_same_nodes() -> None:
    pair, column, cube = (footprint([one], NAMED) for one in ("cube0-2x2x2-1", "cube0-2x2x4-0", "cube0"))
    assert pair & column == pair & cube == {"n2", "n3"}
    assert not pair & footprint(["cube0-2x2x2-0"], NAMED)
    assert footprint(["cube9"], {}) == {"cube9"}


class Divided:
    """Four cubes of 16 nodes, the driver of Slices and GKE."""

    def __init__(self, server: Server, folder: Path) -> None:
        workloads = {"bert": BERT | {"global_batch": 1024}}
        known = {f"n[{HOSTS * i}-{HOSTS * i + HOSTS - 1}]": f"s{i}" for i in range(4)}
        self.world = World(
            server, folder, divided(), HOSTS, nodes=known, slices={"partitions": PARTITIONS}, workloads=workloads
        )
        for number in range(4 * HOSTS):
            labels = labels_of(*divmod(number, HOSTS))
            self.world.emulator.change(NODES, None, f"n{number}", metadata={"labels": labels})
        self.gke, self._waited_s = SliceController(self.world.emulator), 0.0
        self.world.applied = {}
        self.world.restart()
        self.driver = SliceDriver(
            folder / "circuits", divided_site("1 s"), self.world.api, clock=lambda: self._waited_s, sleep=self._sleep
        )
        self.switches = SwitchReconciler(self.world.controller, self.driver, clock=lambda: self.world.now_s)

    def _sleep(self, time_s: float) -> None:
        self._waited_s += time_s
        self.gke.step()

    def settle(self, rounds: int) -> None:
        for _ in range(rounds):
            self.switches.tick()
            self.world.applied = self.switches.on()
            self.world.settle(1)
            self.gke.step()


@pytest.fixture
def cubes(server: Server, tmp_path: Path) -> Iterator[Divided]:
    made = Divided(server, tmp_path)
    yield made
    made.world.close()


@pytest.mark.slow
def test_a_workload_inside_a_cube_is_ready_with_the_slice_of_its_hosts(cubes: Divided) -> None:
    cubes.gke.patience = 0.0
    cubes.world.workload("pair", pod_set(2, 4))
    cubes.world.workload("column", pod_set(4, 4))
    cubes.settle(3)
    for name in ("pair", "column"):
        assert "circuits are being connected" in cubes.world.check(name)["message"]
    assert cubes.world.pods() == []
    cubes.gke.patience = 1.0
    cubes.settle(14)
    for name, topology in (("pair", "2x2x2"), ("column", "2x2x4")):
        assert cubes.world.check(name)["state"] == "Ready"
        (item,) = [one for one in cubes.world.emulator.all(SLICES) if one["spec"]["topology"] == topology]
        hosts = {host_of(*device) for device in cubes.world.controller.running[f"team/{name}"].devices}
        assert cubes.gke.nodes(item) == hosts == {pod["spec"]["nodeName"] for pod in cubes.world.pods(f"team/{name}")}
        cubes.world.finish(name)
    cubes.settle(10)
    assert cubes.world.emulator.all(SLICES) == []


@pytest.mark.slow
def test_a_slice_of_others_on_a_part_of_a_cube_is_waited_for(cubes: Divided) -> None:
    spec = {"type": "tpu7x", "topology": "2x2x1", "partitionIds": ["cube0-2x2x1-3"]}
    cubes.world.emulator.put(SLICES, {"metadata": {"name": "other"}, "spec": spec})
    cubes.world.workload("half", pod_set(8, 4))
    cubes.world.kueue()
    cubes.world.loop.tick()
    circuits = cubes.world.controller.running["team/half"].circuits_json
    with pytest.raises(CircuitBusyError, match="node n3 is of Slice other"):
        cubes.driver.connect("team/half", circuits)
    assert cubes.driver.resync().strange == ("Slice other",)


@pytest.mark.slow
def test_nodes_that_are_not_in_the_order_of_their_hosts_are_named(cubes: Divided) -> None:
    swapped = {LABEL.format("2x2x2"): "cube0-2x2x2-1"}
    cubes.world.emulator.change(NODES, None, "n0", metadata={"labels": swapped})
    cubes.world.workload("pair", pod_set(2, 4))
    cubes.world.kueue()
    cubes.world.loop.tick()
    circuits = cubes.world.controller.running["team/pair"].circuits_json
    with pytest.raises(CircuitError, match="nodes n0, n1 are no partition 2x2x2"):
        cubes.driver.connect("team/pair", circuits)
