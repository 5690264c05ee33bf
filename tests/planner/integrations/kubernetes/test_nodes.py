"""Nodes and servers: who is cordoned or lost here is drained or failed there, and back."""

import pytest

from tests.planner.integrations.kubernetes.admission_cases import Make
from tests.planner.integrations.kubernetes.emulator import NODES
from tests.planner.integrations.kubernetes.world import GPU, World, node, pod_set


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


def cordon(world: World, node: str, *, is_cordoned: bool) -> None:
    world.emulator.change(NODES, None, node, spec={"unschedulable": is_cordoned})


@pytest.mark.slow
def test_a_server_of_several_nodes_is_drained_until_the_last_of_them_is_open_again(make_world: Make) -> None:
    world = make_world(shared_by=2)
    cordon(world, "n2", is_cordoned=True)
    world.loop.tick()
    assert world.controller.down == ("s1",)
    world.restart()
    cordon(world, "n3", is_cordoned=True)
    world.loop.tick()
    cordon(world, "n2", is_cordoned=False)
    world.loop.tick()
    seq = world.controller.seq
    world.restart()
    world.loop.tick()
    assert (world.controller.down, world.controller.seq) == (("s1",), seq)
    cordon(world, "n2", is_cordoned=True)
    cordon(world, "n3", is_cordoned=False)
    world.loop.tick()
    assert world.controller.down == ("s1",), "one takes the place of the other"
    cordon(world, "n2", is_cordoned=False)
    world.loop.tick()
    assert world.controller.down == ()
    world.controller.drain("s1")
    cordon(world, "n2", is_cordoned=True)
    world.loop.tick()
    cordon(world, "n2", is_cordoned=False)
    world.loop.tick()
    assert world.controller.down == ("s1",), "what an operator has drained stays so"


@pytest.mark.slow
def test_a_drain_for_one_node_is_handed_to_another_whoever_dies_in_between(make_world: Make) -> None:
    world = make_world(shared_by=2)
    cordon(world, "n2", is_cordoned=True)
    world.loop.tick()
    cordon(world, "n2", is_cordoned=False)
    cordon(world, "n3", is_cordoned=True)
    world.emulator.before_write.append(lambda: setattr(world.emulator, "is_down", True))
    world.loop.tick()
    world.restart()
    world.emulator.is_down = False
    for _ in range(2):
        world.loop.tick()
        assert world.controller.down == ("s1",)
    cordon(world, "n3", is_cordoned=False)
    world.loop.tick()
    assert world.controller.down == ()


@pytest.mark.slow
def test_a_cordoned_node_that_fails_leaves_the_drain_to_the_other(make_world: Make) -> None:
    world = make_world(shared_by=2)
    for name in ("n2", "n3"):
        cordon(world, name, is_cordoned=True)
        world.loop.tick()
    world.emulator.change(NODES, None, "n2", status={"conditions": [{"type": "Ready", "status": "Unknown"}]})
    world.loop.tick()
    lost = {f"s1.g{slot}" for slot in range(4)}
    assert set(world.controller.down) == {"s1", *lost}
    cordon(world, "n3", is_cordoned=False)
    world.loop.tick()
    assert set(world.controller.down) == lost


@pytest.mark.slow
def test_each_of_several_nodes_of_a_server_fails_with_its_own_accelerators(make_world: Make) -> None:
    world = make_world(shared_by=4)
    for name, status in (("n5", "Unknown"), ("n6", "False")):
        world.emulator.change(NODES, None, name, status={"conditions": [{"type": "Ready", "status": status}]})
    world.emulator.drop(NODES, None, "n15")
    world.loop.tick()
    lost = {"s1.g2", "s1.g3", "s1.g4", "s1.g5", "s3.g6", "s3.g7"}
    assert set(world.controller.down) == lost
    world.restart()
    world.loop.tick()
    world.emulator.put(NODES, node("n15"))
    world.emulator.change(NODES, None, "n6", status={"conditions": [{"type": "Ready", "status": "True"}]})
    world.loop.tick()
    assert set(world.controller.down) == {"s1.g2", "s1.g3"}


@pytest.mark.slow
def test_a_node_with_another_number_of_accelerators_than_its_share_has_failed(
    make_world: Make, caplog: pytest.LogCaptureFixture
) -> None:
    world = make_world(shared_by=2)
    for count in ("8", "8", "4"):
        world.emulator.change(NODES, None, "n1", status={"capacity": {GPU: count}})
        world.loop.tick()
        assert set(world.controller.down) == ({f"s0.g{slot}" for slot in range(4, 8)} if count == "8" else set())
    said = "node n1 has 8 accelerators and its share of server s0 is 4: it counts as failed; give the server as many"
    assert caplog.text.count(said) == 1


@pytest.mark.slow
def test_a_node_that_is_a_server_by_itself_is_taken_at_its_word(make_world: Make) -> None:
    world = make_world()
    world.emulator.change(NODES, None, "n1", status={"capacity": {GPU: "2"}})
    world.loop.tick()
    assert world.controller.down == ()
