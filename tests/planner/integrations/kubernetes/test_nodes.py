"""Nodes and servers: who is cordoned or lost here is drained or failed there, and back."""

import pytest

from tests.planner.integrations.kubernetes.admission_cases import Make
from tests.planner.integrations.kubernetes.emulator import NODES
from tests.planner.integrations.kubernetes.world import node, pod_set


@pytest.mark.slow
def test_nodes_that_are_cordoned_or_lost(make_world: Make) -> None:
    world = make_world()
    emulator = world.emulator
    world.workload("train", pod_set(4, 8))
    world.settle(4)
    emulator.change(NODES, None, "n1", spec={"unschedulable": True})
    world.settle(2)
    assert world.controller.down == ("s1",)
    assert world.check("train")["state"] == "Ready", "who runs there may end there"
    emulator.change(NODES, None, "n2", status={"conditions": [{"type": "Ready", "status": "Unknown"}]})
    world.loop.tick()
    assert world.check("train")["state"] == "Retry"
    assert set(world.controller.down) == {"s1", "s2"}
    world.restart()
    emulator.change(NODES, None, "n1", spec={"unschedulable": False})
    emulator.change(NODES, None, "n2", status={"conditions": [{"type": "Ready", "status": "True"}]})
    world.settle(12)
    assert world.controller.down == ()
    assert world.check("train")["state"] == "Ready"
    world.controller.drain("s3")
    world.settle(2)
    assert world.controller.down == ("s3",), "what an operator has drained stays so"


@pytest.mark.slow
@pytest.mark.parametrize("is_ready", ["True", "False"])
def test_a_node_that_is_gone_and_comes_back_after_a_restart(make_world: Make, is_ready: str) -> None:
    world = make_world()
    world.loop.tick()
    world.emulator.drop(NODES, None, "n3")
    world.loop.tick()
    assert world.controller.down == ("s3",)
    world.restart()
    world.loop.tick()
    ready = {"status": {"conditions": [{"type": "Ready", "status": is_ready}]}}
    world.emulator.put(NODES, node("n3") | ready)
    for _ in range(2):
        world.loop.tick()
        assert world.controller.down == (() if is_ready == "True" else ("s3",))
    world.restart()
    world.emulator.put(NODES, node("n3") | {"metadata": world.emulator.get(NODES, None, "n3")["metadata"]})
    world.loop.tick()
    assert world.controller.down == ()
