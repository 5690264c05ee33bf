"""Nodes and servers: who is cordoned or lost here is drained or failed there, and back."""

from typing import Any

import pytest

from planner.controller.journal import Journal
from tests.planner.integrations.kubernetes.admission_cases import Make
from tests.planner.integrations.kubernetes.items import GPU, node, pod_set
from tests.planner.integrations.kubernetes.objects import NODES
from tests.planner.integrations.kubernetes.world import World


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


def be_ready(world: World, node: str, status: str) -> None:
    world.emulator.change(NODES, None, node, status={"conditions": [{"type": "Ready", "status": status}]})


@pytest.mark.slow
@pytest.mark.parametrize("what", ["gone", "not ready, then gone", "cordoned, then gone"])
@pytest.mark.parametrize("shared_by", [1, 4])
def test_a_node_that_was_made_anew_while_no_planner_ran_is_in_use_again(
    make_world: Make, what: str, shared_by: int
) -> None:
    world = make_world(shared_by=shared_by)
    world.loop.tick()
    if what.startswith("not ready"):
        be_ready(world, "n3", "Unknown")
    elif what.startswith("cordoned"):
        cordon(world, "n3", is_cordoned=True)
    else:
        world.emulator.drop(NODES, None, "n3")
    world.loop.tick()
    assert world.controller.down
    world.end()
    if what != "gone":
        world.emulator.drop(NODES, None, "n3")
    world.emulator.put(NODES, node("n3"))
    world.begin()
    world.loop.tick()
    assert world.controller.down == ()


@pytest.mark.slow
def test_what_an_operator_says_is_down_stays_so_when_the_node_is_back(make_world: Make) -> None:
    world = make_world()
    world.controller.fail("s1")
    for name in ("n1", "n2", "n3"):
        be_ready(world, name, "False")
    world.loop.tick()
    seq = world.controller.seq
    world.controller.fail("s2")
    world.controller.repair("s3")
    world.loop.tick()
    assert world.controller.seq == seq + 3, "what was repaired has failed again, and nothing else is written"
    for name in ("n1", "n2", "n3"):
        be_ready(world, name, "True")
    world.restart()
    world.loop.tick()
    assert world.controller.down == ("s1", "s2")


class Killed(BaseException):
    """The planner has died."""


@pytest.mark.slow
@pytest.mark.parametrize("is_written", [False, True])
def test_whoever_dies_before_or_after_any_event_is_followed_by_one_who_goes_on(
    make_world: Make, monkeypatch: pytest.MonkeyPatch, is_written: bool
) -> None:
    world = make_world(shared_by=2)

    def scene(number: int) -> set[str]:
        """Nodes change; what is to be down then."""
        for name in ("n2", "n3"):
            cordon(world, name, is_cordoned=number == 1)
        be_ready(world, "n5", "True" if number == 2 else "Unknown")
        cordon(world, "n4", is_cordoned=number == 2)
        lost = set() if number == 2 else {f"s2.g{slot}" for slot in range(4, 8)}
        return lost | ({"s1"} if number == 1 else {"s2"} if number == 2 else set())

    append, left, deaths = Journal.append, [0], 0

    def dying(self: Journal, *about: Any) -> None:
        left[0] -= 1
        if left[0] < 0 and not is_written:
            raise Killed
        append(self, *about)
        if left[0] < 0:
            raise Killed

    monkeypatch.setattr(Journal, "append", dying)
    for number in (1, 2, 3, 1, 3):
        wanted, left[0] = scene(number), 1
        while True:
            try:
                world.loop.tick()
                break
            except Killed:
                deaths += 1
                world.restart()
                left[0] = 1
        assert set(world.controller.down) == wanted
    assert deaths > 5


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


PRESSURE = {"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "back", "said"),
    [
        ({"spec": {"taints": [PRESSURE]}}, {"spec": {"taints": []}}, "node n1 has the taint node.kubernetes.io/disk-"),
        (
            {"status": {"allocatable": {GPU: "7"}}},
            {"status": {"allocatable": {GPU: "8"}}},
            "node n1 can use 7 of 8 accelerators: no job begins in server s1 until that has changed",
        ),
    ],
)
@pytest.mark.parametrize("is_running", [True, False])
def test_no_job_begins_on_a_node_that_is_not_to_be_used_in_full(
    make_world: Make, caplog: pytest.LogCaptureFixture, change: Any, back: Any, said: str, is_running: bool
) -> None:
    world = make_world()
    if is_running:
        world.workload("all", pod_set(4, 8))
        world.settle(4)
    world.emulator.change(NODES, None, "n1", **change)
    for _ in range(2):
        world.loop.tick()
        assert world.controller.down == ("s1",)
    assert caplog.text.count(said) == 1
    if is_running:
        assert world.check("all")["state"] == "Ready", "who runs there may end there"
    world.restart()
    world.loop.tick()
    assert world.controller.down == ("s1",)
    world.emulator.change(NODES, None, "n1", **back)
    world.loop.tick()
    assert world.controller.down == ()


@pytest.mark.slow
def test_taints_that_choose_who_may_run_close_no_node(make_world: Make) -> None:
    world = make_world()
    taints = [{"key": GPU, "value": "present", "effect": "NoSchedule"}, PRESSURE | {"effect": "PreferNoSchedule"}]
    world.emulator.change(NODES, None, "n1", spec={"taints": taints}, status={"allocatable": {GPU: "9"}})
    world.loop.tick()
    assert world.controller.down == ()
