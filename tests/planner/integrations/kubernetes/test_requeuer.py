"""Pods that were turned away come back in time: nothing rests on the five minutes after which the scheduler looks."""

from collections.abc import Callable
from typing import Any

import pytest

from planner.integrations.kubernetes.pods import Pod
from tests.planner.integrations.kubernetes.items import pod_set
from tests.planner.integrations.kubernetes.objects import NODES, PODS, WORKLOADS
from tests.planner.integrations.kubernetes.scheduler import Queued, Scheduler
from tests.planner.integrations.kubernetes.world import World

Make = Callable[..., World]
SOON_S = 14.0
"""the longest backoff, and some looks of the planner"""


def gang(world: World, name: str, pods: int, each: int = 8, namespace: str = "team") -> None:
    for i in range(pods):
        world.pod(f"{name}-{i}", each, name, pods, namespace)


def bound(world: World) -> set[str]:
    return {pod.name for pod in map(Pod, world.pods()) if pod.node}


def run(world: World, queue: Scheduler, seconds: float, step_s: float = 2.0) -> None:
    """Time goes on: the scheduler hears of everything before the planner does."""
    until_s = world.now_s + seconds
    while world.now_s < until_s:
        queue.step()
        world.loop.tick()
        world.require_sound()
        world.now_s += step_s
    queue.step()


def waiting(make_world: Make, **changes: Any) -> tuple[World, Scheduler]:
    """A cluster that is full, and a gang of two that was turned away a while ago."""
    world = make_world(**{"kueue": None} | changes)
    queue = world.queue()
    gang(world, "old", 4)
    run(world, queue, 2)
    assert len(bound(world)) == 4
    world.controller.drain("s3")
    world.emulator.change(PODS, "team", "old-0", status={"phase": "Succeeded"})
    gang(world, "new", 2)
    run(world, queue, 20)
    assert not bound(world) & {"new-0", "new-1"}
    return world, queue


def end(world: World, gang: str) -> None:
    for pod in map(Pod, world.pods()):
        if pod.name.startswith(gang) and pod.node:
            world.emulator.change(PODS, pod.namespace, pod.name, status={"phase": "Succeeded"})


@pytest.mark.slow
def test_room_that_others_leave(make_world: Make) -> None:
    world, queue = waiting(make_world)
    end(world, "old")
    run(world, queue, SOON_S)
    assert bound(world) == {"new-0", "new-1"}


@pytest.mark.slow
def test_room_that_only_the_planner_knows_of(make_world: Make) -> None:
    """A part is repaired, and nothing of that is seen in the cluster."""
    world = make_world(kueue=None)
    queue = world.queue()
    for i in range(4):
        world.controller.fail(f"s{i}.g0")
    gang(world, "g", 2)
    run(world, queue, 20)
    tries = len(queue.tries)
    run(world, queue, 20)
    assert len(queue.tries) == tries, "who waits for room is not tried again and again"
    for i in range(2):
        world.controller.repair(f"s{i}.g0")
    run(world, queue, SOON_S)
    assert bound(world) == {"g-0", "g-1"}


@pytest.mark.slow
def test_a_planner_that_has_just_begun(make_world: Make) -> None:
    world = make_world(kueue=None)
    queue = world.queue()
    gang(world, "g", 2)
    queue.step()
    assert "not yet seen" in world.said
    run(world, queue, SOON_S)
    assert bound(world) == {"g-0", "g-1"}


@pytest.mark.slow
@pytest.mark.parametrize("is_told_before", [False, True])
def test_a_planner_that_begins_again(make_world: Make, is_told_before: bool) -> None:
    world, queue = waiting(make_world)
    if is_told_before:
        end(world, "old")
        world.controller.finish("team/pods/old")
    world.restart()
    if not is_told_before:
        end(world, "old")
    queue._seen = len(world.emulator.events)
    run(world, queue, SOON_S)
    assert bound(world) >= {"new-0", "new-1"}


@pytest.mark.slow
def test_an_api_that_is_down_when_a_pod_may_go(make_world: Make) -> None:
    world, queue = waiting(make_world)
    end(world, "old")
    world.loop._gangs._holders._pods.refresh()
    world.loop._gangs.reconcile()
    queue._seen = len(world.emulator.events)
    world.emulator.is_down = True
    for _ in range(3):
        world.loop.tick()
    assert "503" in world.loop.trouble
    world.emulator.is_down = False
    run(world, queue, SOON_S)
    assert bound(world) == {"new-0", "new-1"}


@pytest.mark.slow
def test_a_pod_that_takes_the_place_of_another(make_world: Make) -> None:
    """It comes before the planner has seen that the other is gone."""
    world = make_world(kueue=None)
    queue = world.queue()
    gang(world, "g", 2)
    run(world, queue, 2)
    world.emulator.drop(PODS, "team", "g-0")
    world.pod("g-2", 8, "g", 2)
    queue.step()
    assert "all 2 pods" in world.said
    run(world, queue, SOON_S)
    assert bound(world) == {"g-1", "g-2"}


@pytest.mark.slow
def test_pods_that_still_leave(make_world: Make) -> None:
    world = make_world(kueue=None)
    queue = world.queue()
    gang(world, "old", 4)
    run(world, queue, 2)
    world.controller.cancel("team/pods/old")
    gang(world, "new", 4, namespace="others")
    run(world, queue, 20)
    assert bound(world) == {f"old-{i}" for i in range(4)}, "they are being deleted"
    world.kubelets()
    run(world, queue, SOON_S)
    assert bound(world) == {f"new-{i}" for i in range(4)}


@pytest.mark.slow
def test_a_pod_of_kueue_that_is_turned_away(make_world: Make) -> None:
    world = make_world()
    queue = world.queue()
    world.workload("train", pod_set(4, 8))
    for _ in range(4):
        world.kueue()
        world.loop.tick()
    world.restart()
    queue.step()
    assert "not yet seen" in world.said
    run(world, queue, SOON_S)
    assert len(bound(world)) == 4
    world.emulator.drop(WORKLOADS, "team", "train")


@pytest.mark.slow
def test_circuits_are_waited_for_by_binding_alone(make_world: Make) -> None:
    """The filter answers at once, so that nobody else waits; a binding that fails is tried again without any event."""
    world = make_world(fabric="lightpath", kueue=None)
    world.applied = {}
    world.restart()
    queue = world.queue()
    gang(world, "g", 2)
    world.pod("h-0", 1, "h", 1)
    run(world, queue, 5)
    assert bound(world) == {"h-0"}, "it takes no circuits"
    for name, held in world.controller.circuits().items():
        world.applied[name] = [one.model_dump(mode="json", by_alias=True) for one in held]
    run(world, queue, 11)
    assert bound(world) == {"g-0", "g-1", "h-0"}


def test_the_scheduler_here_is_as_strict_as_the_real_one(make_world: Make) -> None:
    """Without events an unschedulable pod waits for the flush; heartbeats and its own status are none."""
    world = make_world(kueue=None)
    queue = world.queue()
    world.filter = lambda item, names: []  # type: ignore[method-assign]
    world.pod("g-0", 8, "g", 1)
    beat = {"conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2027-01-15T08:00:00Z"}]}

    def wait(seconds: int) -> int:
        before = len(queue.tries)
        for _ in range(seconds):
            queue.step()
            world.now_s += 1
        return len(queue.tries) - before

    assert wait(1) == 1
    world.emulator.change(NODES, None, "n0", status=beat)
    world.emulator.change(PODS, "team", "g-0", status={"conditions": [{"type": "PodScheduled", "status": "False"}]})
    assert wait(290) == 0
    assert wait(60) == 1
    world.emulator.change(PODS, "team", "g-0", metadata={"annotations": {"x": "y"}})
    assert wait(1) == 1
    world.emulator.change(PODS, "team", "g-0", metadata={"annotations": {"x": "z"}})
    assert wait(3) == 0, "its backoff is not over"
    assert wait(2) == 1
    world.emulator.change(NODES, None, "n0", spec={"unschedulable": True})
    assert wait(10) == 1
    assert [Queued({}, 0, n).ready_s for n in range(6)] == [0, 1, 2, 4, 8, 10]


@pytest.mark.slow
def test_a_gang_before_a_full_cluster_is_known_and_stops_lower_ones(make_world: Make) -> None:
    """kube-scheduler asks nobody about a node that is full by its own count: the planner counts instead."""
    world = make_world(kueue=None)
    queue = world.queue()
    for number in range(4):
        world.pod(f"low{number}", 8, f"low{number}", 1)
    run(world, queue, 4)
    assert len(bound(world)) == 4
    world.pod("high", 8, "high", 1, priority=100)
    run(world, queue, 2)
    assert "team/pods/high" in world.jobs()
    world.kubelets()
    run(world, queue, SOON_S)
    assert "high" in bound(world)


@pytest.mark.slow
def test_pods_that_others_placed_are_left_their_accelerators(make_world: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    world = make_world(kueue=None)
    monkeypatch.setattr(world, "require_sound", lambda: None)
    queue = world.queue()
    for number in range(4):
        world.pod(f"stranger{number}", 4, "", 1)
        world.emulator.change(PODS, "team", f"stranger{number}", spec={"nodeName": f"n{number}"})
    world.loop.tick()
    gang(world, "g", 1)
    run(world, queue, 3)
    assert "that others placed are on n0: 4 accelerators are taken" in world.said
    for number in range(4):
        world.emulator.drop(PODS, "team", f"stranger{number}")
    run(world, queue, SOON_S)
    assert bound(world) == {"g-0"}
