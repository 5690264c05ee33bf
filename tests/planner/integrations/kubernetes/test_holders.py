"""What a user may do to pods of theirs that run: they keep what they hold, and nobody else gets it."""

from collections.abc import Callable

import pytest

from planner.integrations.kubernetes.pods import Pod
from tests.planner.integrations.kubernetes.holders_cases import ALLOWED, annotate, delete, edit
from tests.planner.integrations.kubernetes.items import pod_set
from tests.planner.integrations.kubernetes.objects import PODS, WORKLOADS
from tests.planner.integrations.kubernetes.published import Refused
from tests.planner.integrations.kubernetes.world import World

Make = Callable[..., World]
DENIED = {
    "no job": annotate("job", None),
    "another job": annotate("job", "team/pods/elsewhere"),
    "a job of others": annotate("job", "rivals/pods/next"),
    "no accelerators": annotate("cuda-visible-devices", None),
    "other accelerators": annotate("cuda-visible-devices", "0"),
    "devices": annotate("devices", "s9.g0"),
    "assignment": annotate("assignment", "[]"),
    "no annotation at all": edit(annotations=None),
    "killed at once": delete(0),
}
LATER: dict[str, Callable[[World], None]] = {
    "at once": lambda world: None,
    "watch expired": lambda world: world.emulator.forget(),
    "planner restarted": lambda world: world.restart(),
}


def require_kept(world: World, jobs: list[str]) -> None:
    """Jobs keep all that they hold while somebody else asks for it."""
    places = [world.jobs()[job].place for job in jobs]
    assert None not in places
    world.pod("next", 8, "next", 1, "rivals")
    for _ in range(2):
        world.loop.tick()
        assert "next" in world.schedule()
        world.now_s += 60
    assert [world.jobs()[job].place for job in jobs] == places
    assert world.loop.trouble == ""
    world.require_sound()


def of(world: World, namespace: str) -> list[str]:
    return sorted(pod.name for pod in map(Pod, world.pods()) if pod.namespace == namespace)


def full_of_gangs(world: World, pods: int) -> list[str]:
    """Gangs of so many pods that take all of the cluster; names of their pods."""
    for i in range(4 // pods):
        for j in range(pods):
            world.pod(f"g{i}-{j}", 8, f"g{i}", pods)
    world.loop.tick()
    assert world.schedule() == {}
    world.loop.tick()
    return of(world, "team")


@pytest.mark.slow
@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("first", range(0, len(ALLOWED), 4))
def test_pods_of_a_gang_keep_what_they_hold(make_world: Make, first: int, later: str) -> None:
    world = make_world(kueue=None)
    edits = [*ALLOWED.values()][first : first + 4]
    for name, change in zip(full_of_gangs(world, 1), edits, strict=True):
        change(world, name)
    LATER[later](world)
    require_kept(world, [f"team/pods/g{i}" for i in range(4)])


@pytest.mark.slow
@pytest.mark.parametrize("what", ["label removed", "deleted, still stopping"])
def test_all_pods_of_a_gang_are_edited(make_world: Make, what: str) -> None:
    world = make_world(kueue=None)
    for name in full_of_gangs(world, 4):
        ALLOWED[what](world, name)
    require_kept(world, ["team/pods/g0"])


@pytest.mark.slow
def test_what_the_planner_wrote_is_not_edited(make_world: Make) -> None:
    world = make_world(kueue=None)
    for name in full_of_gangs(world, 4):
        for change in DENIED.values():
            with pytest.raises(Refused, match="403"):
                change(world, name)
    require_kept(world, ["team/pods/g0"])


@pytest.mark.slow
@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("is_orphan", [False, True])
def test_pods_of_a_workload_keep_what_they_hold(make_world: Make, is_orphan: bool, later: str) -> None:
    """Also where the Workload is gone: a Job can be deleted without its pods."""
    world = make_world()
    edits = ["label removed", "no owner", "deleted, still stopping", "finalizer"]
    for i in range(4):
        world.workload(f"w{i}", pod_set(1, 8))
    world.settle(4)
    for i, what in enumerate(edits):
        (pod,) = world.pods(f"team/w{i}")
        ALLOWED[what](world, pod["metadata"]["name"])
        if is_orphan:
            world.emulator.drop(WORKLOADS, "team", f"w{i}")
    LATER[later](world)
    require_kept(world, [f"team/w{i}" for i in range(4)])


@pytest.mark.slow
def test_a_workload_that_is_changed_while_its_pods_stop_keeps_its_place(make_world: Make) -> None:
    world = make_world()
    world.workload("train", pod_set(4, 8))
    world.settle(5)
    for name in of(world, "team"):
        delete()(world, name)
    reset = [world.check("train") | {"state": "Pending", "podSetUpdates": []}]
    world.emulator.change(WORKLOADS, "team", "train", spec={"priority": 7}, status={"admissionChecks": reset})
    require_kept(world, ["team/train"])
    assert "pods of before" in world.check("train")["message"]


@pytest.mark.slow
def test_what_is_over_is_given_back(make_world: Make) -> None:
    world = make_world(kueue=None)
    for name in full_of_gangs(world, 4):
        ALLOWED["label removed"](world, name)
        world.emulator.change(PODS, "team", name, status={"phase": "Succeeded"})
    for i in range(4):
        world.pod(f"next-{i}", 8, "next", 4, "rivals")
    world.loop.tick()
    assert world.schedule() == {}
    assert set(world.jobs()) == {"rivals/pods/next"}


@pytest.mark.slow
@pytest.mark.parametrize("is_forgotten", [False, True])
def test_a_pod_of_the_same_name_is_another_pod(make_world: Make, is_forgotten: bool) -> None:
    """It is neither taken for the one before, nor does it get what that one held while others have it."""
    world = make_world(kueue=None)
    world.pod("g-0", 8, "g", 1)
    world.loop.tick()
    world.schedule()
    world.loop.tick()
    delete()(world, "g-0")
    world.kubelets()
    world.pod("g-0", 4, "h", 1)
    if is_forgotten:
        world.emulator.forget()
    world.loop.tick()
    assert world.schedule() == {}
    assert set(world.jobs()) == {"team/pods/h"}
    world.require_sound()
