"""Several nodes fail at once: a Workload that says so keeps its other pods, and is not evicted."""

import json
from typing import Any

import pytest

from planner.integrations.kubernetes.hot_swap import admitted_in, swapped
from planner.integrations.kubernetes.pod_assignment import PodAssignment
from planner.integrations.kubernetes.pods import Pod
from tests.planner.integrations.kubernetes.admission_cases import Make
from tests.planner.integrations.kubernetes.items import holds, pod_set
from tests.planner.integrations.kubernetes.objects import NODES, PODS
from tests.planner.integrations.kubernetes.world import World
from tests.planner.simulate.grounds import cluster

ROOM = cluster("fat_tree", servers=8)


def condition(world: World, node: str, *, is_ready: bool) -> None:
    ready = [{"type": "Ready", "status": str(is_ready)}]
    world.emulator.change(NODES, None, node, status={"conditions": ready})


def seats(world: World) -> dict[str, tuple[str, str]]:
    """Node and uid of each pod by name."""
    return {pod.name: (pod.node, pod.uid) for pod in map(Pod, world.pods("team/train"))}


def was_evicted(world: World) -> bool:
    """At any time."""
    told = (change.after for change in world.emulator.events if change.after is not None)
    return any(holds(item.get("status") or {}, "Evicted") for item in told)


@pytest.mark.slow
@pytest.mark.parametrize("failed", [1, 3])
def test_pods_of_failed_nodes_go_elsewhere_and_the_others_stay(make_world: Make, failed: int) -> None:
    world = make_world(fabric=ROOM)
    world.workload("train", pod_set(4, 8, hot_swap="true"))
    world.settle(4)
    before = seats(world)
    lost = sorted(node for node, _ in before.values())[:failed]
    for node in lost:
        condition(world, node, is_ready=False)
    world.settle(8)
    after = seats(world)
    assert not was_evicted(world)
    assert world.check("train")["state"] == "Ready"
    for name, (node, uid) in before.items():
        if node in lost:
            assert after[name][0] not in ("", *lost)
            assert after[name][1] != uid
        else:
            assert after[name] == (node, uid), "it runs on"
    assert len({node for node, _ in after.values()}) == 4
    for node in lost:
        condition(world, node, is_ready=True)
    world.settle(4)
    assert seats(world) == after


@pytest.mark.slow
def test_a_restart_and_a_second_failure_change_nothing_of_that(make_world: Make) -> None:
    world = make_world(fabric=ROOM)
    world.workload("train", pod_set(3, 8, hot_swap="true"))
    world.settle(4)
    for _ in range(2):
        node = sorted(node for node, _ in seats(world).values())[0]
        condition(world, node, is_ready=False)
        world.loop.tick()
        world.restart()
        world.settle(8)
        assert node not in {node for node, _ in seats(world).values()}
    assert not was_evicted(world)
    assert len({node for node, _ in seats(world).values()}) == 3


@pytest.mark.slow
def test_a_pod_that_a_dead_node_never_lets_go_is_not_waited_for(make_world: Make) -> None:
    world = make_world(fabric=ROOM)
    world.workload("train", pod_set(2, 8, hot_swap="true"))
    world.settle(4)
    (name, (node, _)), _ = sorted(seats(world).items())
    world.emulator.change(PODS, "team", name, metadata={"finalizers": ["a/b"]})
    condition(world, node, is_ready=False)
    for _ in range(2):
        world.loop.tick()
    assert Pod(world.emulator.get(PODS, "team", name) or {}).is_leaving
    stuck = world.emulator.get(PODS, "team", name)
    assert stuck is not None
    other = stuck | {"metadata": stuck["metadata"] | {"name": "again", "uid": "again", "finalizers": []}}
    other["metadata"].pop("deletionTimestamp")
    other["spec"] = {key: one for key, one in stuck["spec"].items() if key != "nodeName"}
    world.emulator.put(PODS, other)
    assert world.try_pod(other) == ""
    found = Pod(world.emulator.get(PODS, "team", "again") or {})
    assert found.node not in ("", node)


@pytest.mark.slow
@pytest.mark.parametrize(("sets", "failed"), [((2, 8, "false"), 1), ((2, 8, "true"), 2)])
def test_others_are_evicted_as_ever(make_world: Make, sets: tuple[int, int, str], failed: int) -> None:
    """Who did not say so, and where nothing stays."""
    world = make_world(fabric=ROOM)
    world.workload("train", pod_set(*sets[:2], hot_swap=sets[2]))
    world.settle(4)
    for node in sorted(node for node, _ in seats(world).values())[:failed]:
        condition(world, node, is_ready=False)
    world.settle(14)
    assert was_evicted(world)
    assert world.check("train")["state"] == "Ready"
    assert len({node for node, _ in seats(world).values()}) == sets[0]


def test_what_is_neither_true_nor_false_is_refused(make_world: Make) -> None:
    world = make_world()
    world.workload("train", pod_set(2, 8, hot_swap="yes"))
    world.settle(2)
    told = [check["message"] for change in world.emulator.events if change.after is not None
            for check in (change.after.get("status") or {}).get("admissionChecks") or ()]  # fmt: skip
    assert any("hot-swap: 'yes' is neither" in said for said in told)


def seat(node: str, *ranks: int) -> PodAssignment:
    return PodAssignment(node, tuple(range(len(ranks))), ranks)


def update(*assigned: PodAssignment, **more: Any) -> dict[str, Any]:
    return {"annotations": {"photonplan.io/assignment": json.dumps([one.body() for one in assigned])}} | more


def test_who_stays_keeps_its_ranks_and_the_others_take_what_is_left() -> None:
    old = seat("a", 0, 1), seat("b", 2, 3), seat("c", 4, 5)
    now = seat("b", 0, 1), seat("d", 2, 3), seat("e", 4, 5)
    assert swapped(old, now) == (seat("d", 0, 1), seat("b", 2, 3), seat("e", 4, 5))
    assert swapped(old, old) == old
    assert swapped(old, now[:2]) is None
    assert swapped(old, (seat("d", 0, 1), seat("e", 2, 3), seat("f", 4, 5))) is None
    assert admitted_in([update(*old), {"name": "monitor"}]) == old
    assert admitted_in([update(*old, nodeSelector={"h": "a"})]) == ()
    assert admitted_in([update(old[0]), update(*old[1:])]) == ()
    assert admitted_in([{"annotations": {"photonplan.io/assignment": "{"}}]) == ()
