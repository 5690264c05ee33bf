"""Gangs of pods: planned with the first pod, let go with the last."""

import pytest

from planner.integrations.kubernetes.pods import Pod
from tests.planner.integrations.kubernetes.extender_cases import NAMES, Make, bound, gang
from tests.planner.integrations.kubernetes.objects import PODS


@pytest.mark.slow
def test_the_first_pod_plans_the_gang_and_all_land_there(make_world: Make) -> None:
    world = make_world(kueue=None)
    gang(world, "g", 4, 8)
    world.loop.tick()
    assert world.schedule() == {}
    assert sorted(bound(world).values()) == [(name, "0,1,2,3,4,5,6,7") for name in NAMES]
    assert world.controller.seq == 1
    world.require_sound()


@pytest.mark.slow
def test_no_pod_is_answered_before_the_whole_gang_has_a_place(make_world: Make) -> None:
    world = make_world(kueue=None)
    gang(world, "first", 3, 8)
    world.loop.tick()
    world.schedule()
    gang(world, "second", 2, 8)
    world.loop.tick()
    said = world.schedule()
    assert set(said) == {"second-0", "second-1"}
    assert all("8 are free" in text for text in said.values())
    for i in range(3):
        world.emulator.change(PODS, "team", f"first-{i}", status={"phase": "Succeeded"})
    world.loop.tick()
    assert world.schedule() == {}
    assert set(world.jobs()) == {"team/pods/second"}


@pytest.mark.slow
def test_pods_that_are_made_again_take_the_seats_of_those_before(make_world: Make) -> None:
    world = make_world(kueue=None)
    gang(world, "g", 2, 8)
    world.loop.tick()
    world.schedule()
    before = bound(world)
    world.emulator.drop(PODS, "team", "g-0")
    world.loop.tick()
    again = world.pod("g-0b", 8, "g", 2)
    world.loop.tick()
    assert world.try_pod(again) == ""
    assert bound(world)["g-0b"] == before["g-0"]
    late = world.pod("g-2", 8, "g", 2)
    world.loop.tick()
    assert "all 2 pods" in world.try_pod(late)


def test_pods_of_one_gang_ask_for_the_same(make_world: Make) -> None:
    world = make_world(kueue=None)
    world.pod("a", 8, "g", 2)
    other = world.pod("b", 4, "g", 2)
    world.loop.tick()
    world.schedule()
    assert "something else" in world.try_pod(other)


@pytest.mark.slow
def test_a_restart_in_the_middle_of_a_gang(make_world: Make) -> None:
    world = make_world(kueue=None)
    for item in gang(world, "g", 4, 4):
        world.loop.tick()
        assert world.try_pod(item) == ""
        world.restart()
        assert world.try_pod(item) != "" or Pod(item).node, "it first looks which pods run"
    world.loop.tick()
    world.require_sound()
    assert len(set(bound(world).values())) == 4
    assert world.controller.seq == 1


@pytest.mark.slow
def test_pods_that_stand_where_their_job_is_not_are_deleted(make_world: Make) -> None:
    world = make_world(kueue=None)
    gang(world, "g", 2, 8)
    world.loop.tick()
    world.schedule()
    server = bound(world)["g-0"][0][1:]
    world.controller.fail(f"s{server}.g0")
    late = world.pod("g-late", 8, "g", 2)
    world.loop.extender._pods.refresh()
    assert "still stands where the job was" in world.try_pod(late)
    world.loop.tick()
    world.kubelets()
    gone = {"g-0", "g-1"} - set(bound(world))
    assert gone, "at least the one whose place is lost"
    world.require_sound()


def test_a_gang_is_not_let_go_before_its_first_pod_is_seen(make_world: Make) -> None:
    world = make_world(kueue=None)
    world.loop.tick()
    (item,) = gang(world, "g", 1, 8)
    assert world.try_pod(item) == ""
    world.loop._gangs.reconcile()
    assert set(world.jobs()) == {"team/pods/g"}, "the mirror has not shown the pod yet"


def test_a_gang_waits_for_light_where_a_driver_is_used(make_world: Make) -> None:
    world = make_world(fabric="lightpath", kueue=None)
    world.applied = {}
    world.restart()
    gang(world, "g", 2, 8)
    world.loop.tick()
    assert all("circuits" in text for text in world.schedule().values())
    for name, held in world.controller.circuits().items():
        world.applied[name] = [one.model_dump(mode="json", by_alias=True) for one in held]
    assert world.schedule() == {}
