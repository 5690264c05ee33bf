"""Elastic jobs of Kueue that grow: the slice that replaces one, and the one that it replaces, are one job."""

from typing import Any

import pytest

from planner.controller import Controller
from planner.integrations.kubernetes.client import KubernetesClient
from planner.integrations.kubernetes.pod_assignment import written
from planner.integrations.kubernetes.pods import Pod
from tests.planner.integrations.kubernetes.admission_cases import Make
from tests.planner.integrations.kubernetes.elastic_cases import devices, last_check, running, seats, was_evicted
from tests.planner.integrations.kubernetes.items import holds, pod_set
from tests.planner.integrations.kubernetes.objects import NODES
from tests.planner.integrations.kubernetes.world import World


@pytest.mark.parametrize("finishes", ["first", "last", "late"])
def test_a_job_grows_in_place_and_its_pods_run_on(make_world: Make, finishes: str) -> None:
    world = running(make_world)
    world.elastic.finishes = finishes
    before, held = seats(world), devices(world)
    world.elastic.scale("train", 4)
    world.settle(6)
    assert len(seats(world)) == 4
    assert before < seats(world), "no pod moved, and none was made anew"
    assert devices(world)[:16] == held
    (new,) = world.elastic.slices("train")
    assert holds(new["status"], "Admitted")
    (update,) = last_check(world)["podSetUpdates"]
    assert "photonplan.io/assignment" not in update["annotations"], "the template has another value for it"
    assigned = written(update["annotations"]["photonplan.io/assignment-2"])
    assert [rank for one in assigned for rank in one.ranks] == list(range(32))
    assert {one.node for one in assigned[:2]} == {node for _, node, _ in before}
    assert {one.node for one in assigned[2:]} == {node for _, node, _ in seats(world) - before}
    assert not was_evicted(world)
    world.elastic.finish("train")
    world.settle(3)
    assert world.jobs() == {}


def test_a_slice_whose_growth_is_refused_waits_with_the_reason_and_the_job_runs_on(make_world: Make) -> None:
    world = running(make_world)
    world.workload("other", pod_set(2, 8))
    world.settle(4)
    before = seats(world)
    world.elastic.scale("train", 3)
    world.settle(4)
    check = last_check(world)
    assert check["state"] == "Pending"
    assert "needs 8 accelerators more" in check["message"]
    assert (seats(world), len(devices(world))) == (before, 16)
    world.finish("other")
    world.settle(5)
    assert (len(seats(world)), before < seats(world), was_evicted(world)) == (3, True, False)


@pytest.mark.parametrize("is_withdrawn", [False, True])
def test_a_growth_that_waits_has_a_place_in_the_queue(make_world: Make, is_withdrawn: bool) -> None:
    """A smaller Workload that comes later does not take what is freed first, unless the Job asks for its old size
    again."""
    world = running(make_world)
    for name in ("one", "two"):
        world.workload(name, pod_set(1, 8))
    world.settle(4)
    world.elastic.scale("train", 4)
    world.settle(4)
    assert "it has a place in the queue" in last_check(world)["message"]
    world.workload("late", pod_set(1, 8))
    world.finish("one")
    world.settle(4)
    assert (len(devices(world)), world.check("late")["state"]) == (16, "Pending")
    assert "s2, s3 are kept for team/train" in world.check("late")["message"]
    if is_withdrawn:
        world.elastic.scale("train", 2)
    else:
        world.finish("two")
    world.settle(5)
    expected = (16, "Ready") if is_withdrawn else (32, "Pending")
    assert (len(devices(world)), world.check("late")["state"]) == expected
    assert not was_evicted(world)


@pytest.mark.slow
def test_a_size_that_can_never_be_waits_too(make_world: Make) -> None:
    """Kueue stops all pods of a slice that is rejected."""
    world = make_world()
    world.elastic.submit("train", 2, 4, pods_per_node="2")
    world.settle(3)
    before = seats(world)
    world.elastic.scale("train", 3)
    world.settle(3)
    assert (last_check(world)["state"], "must divide the 3 pods" in last_check(world)["message"]) == ("Pending", True)
    assert (len(before), seats(world)) == (2, before)
    world.elastic.scale("train", 4)
    world.settle(4)
    assert (len(seats(world)), before < seats(world), len(devices(world))) == (4, True, 16)


@pytest.mark.slow
def test_a_slice_without_quota_leaves_the_one_before_in_force(make_world: Make) -> None:
    world = running(make_world)
    world.elastic.has_quota = False
    before = seats(world)
    world.elastic.scale("train", 3)
    world.settle(4)
    world.restart()
    world.settle(2)
    old, new = world.elastic.slices("train")
    assert (holds(old["status"], "Admitted"), holds(new["status"], "QuotaReserved")) == (True, False)
    assert (seats(world), len(devices(world))) == (before, 16)
    lost = min(node for _, node, _ in before)
    world.emulator.change(NODES, None, lost, status={"conditions": [{"type": "Ready", "status": "False"}]})
    world.loop.tick()
    assert world.elastic.slices("train")[0]["status"]["admissionChecks"][0]["state"] == "Retry"


@pytest.mark.slow
@pytest.mark.parametrize(("finishes", "looks"), [("first", 1), ("first", 2), ("last", 1), ("late", 1)])
def test_a_new_slice_that_is_deleted_before_it_is_admitted_is_made_again(
    make_world: Make, finishes: str, looks: int
) -> None:
    """Without a word about whom it replaces, where that one is finished."""
    world = running(make_world)
    world.elastic.finishes = finishes
    before = seats(world)
    world.elastic.scale("train", 3)
    for _ in range(looks):
        world.kueue()
        world.loop.tick()
    world.elastic.delete(world.elastic.slices("train")[-1]["metadata"]["name"])
    world.loop.tick()
    world.restart()
    world.settle(6)
    assert (len(seats(world)), len(devices(world)), before < seats(world)) == (3, 24, True)
    assert not was_evicted(world)


@pytest.mark.slow
def test_what_was_added_for_a_slice_that_is_gone_is_given_back(make_world: Make) -> None:
    """The replaced slice is not finished yet, and the Job asks for its old size again."""
    world = running(make_world)
    world.elastic.finishes = "late"
    before = seats(world)
    world.elastic.scale("train", 3)
    world.kueue()
    world.loop.tick()
    assert len(devices(world)) == 24
    world.elastic.delete(world.elastic.slices("train")[-1]["metadata"]["name"])
    world.elastic.scale("train", 2)
    world.settle(5)
    assert (seats(world), len(devices(world)), was_evicted(world)) == (before, 16, False)


@pytest.mark.slow
def test_the_replaced_slice_may_be_deleted(make_world: Make) -> None:
    world = running(make_world)
    old = world.elastic.slices("train")[0]["metadata"]["name"]
    before = seats(world)
    world.elastic.scale("train", 3)
    world.kueue()
    world.elastic.delete(old)
    world.loop.tick()
    world.restart()
    world.settle(5)
    assert (len(seats(world)), len(devices(world)), before < seats(world)) == (3, 24, True)
    assert len(world.jobs()) == 1


@pytest.mark.slow
def test_a_job_that_ends_while_its_new_slice_waits_frees_all(make_world: Make) -> None:
    world = running(make_world)
    world.workload("other", pod_set(2, 8))
    world.settle(3)
    world.elastic.scale("train", 4)
    world.settle(3)
    world.elastic.finish("train")
    world.settle(3)
    assert {*world.jobs()} == {"team/other"}


@pytest.mark.slow
def test_it_grows_and_shrinks_by_turns(make_world: Make) -> None:
    """A pod that is made again has its place, too; at last two nodes are free for others."""
    world = running(make_world, pods=1)
    for pods in (3, 1, 2):
        before = seats(world)
        world.elastic.scale("train", pods)
        world.settle(5)
        after = seats(world)
        assert (len(after), len(devices(world)), last_check(world)["state"]) == (pods, 8 * pods, "Ready")
        assert before <= after or after <= before
        world.restart()
    lost = min(seats(world))
    name = next(pod.name for pod in map(Pod, world.elastic.pods("train")) if pod.uid == lost[0])
    world.emulator.remove("system:node:n", "pods", "team", name)
    world.settle(4)
    assert {seat[1:] for seat in seats(world)} == {seat[1:] for seat in after}
    world.workload("other", pod_set(2, 8))
    world.settle(4)
    assert (world.check("other")["state"], was_evicted(world)) == ("Ready", False)


class KilledError(Exception):
    """The process has died."""


class Kills:
    """Ends the planner before its n-th write, to the API or the journal."""

    def __init__(self, patch: pytest.MonkeyPatch, at: int) -> None:
        self.left = at
        of: list[tuple[type, str]] = [(KubernetesClient, name) for name in ("patch", "post", "delete")]
        of += [(Controller, name) for name in ("submit", "grow", "shrink", "cancel", "finish")]
        for owner, name in of:
            patch.setattr(owner, name, self._counted(getattr(owner, name)))

    def _counted(self, act: Any) -> Any:
        def counted(*args: Any, **more: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                raise KilledError
            return act(*args, **more)

        return counted


@pytest.mark.slow
def test_a_planner_that_dies_between_any_two_writes_loses_and_doubles_nothing(
    make_world: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world()
    for at in range(1, 30):
        name = f"train-{at}"
        world.elastic.submit(name, 2, 8)
        world.settle(3)
        before = seats(world, name)
        with monkeypatch.context() as patch:
            kills = Kills(patch, at)
            world.elastic.scale(name, 4)
            for _ in range(4):
                step(world)
        assert (len(seats(world, name)), len(devices(world, name)), before < seats(world, name)) == (4, 32, True), at
        assert (len(world.jobs()), was_evicted(world), last_check(world, name)["state"]) == (1, False, "Ready"), at
        world.elastic.finish(name)
        world.settle(1)
        assert world.jobs() == {}
        world.elastic.remove(name)
        if kills.left > 0:
            return
    raise AssertionError("there are more writes than were tried")


def step(world: World) -> None:
    """A round of all; a planner that dies in it is started again."""
    try:
        world.settle(1)
    except KilledError:
        world.restart()


@pytest.mark.slow
def test_circuits_beside_those_that_are_on_are_waited_for(make_world: Make) -> None:
    """On a lightpath a new slice is Ready when the light of its pods is on."""
    world = make_world(fabric="lightpath")
    world.applied = {}
    world.restart()
    world.elastic.submit("train", 2, 1)
    for pods in (2, 4):
        before = seats(world)
        world.elastic.scale("train", pods)
        world.settle(3)
        (job,) = world.jobs()
        assert "circuits are being connected" in last_check(world)["message"]
        assert seats(world) == before
        world.applied[job] = world.controller.running[job].circuits_json
        world.settle(3)
        assert (len(seats(world)), before < seats(world), last_check(world)["state"]) == (pods, True, "Ready")
