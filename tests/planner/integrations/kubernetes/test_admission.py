"""The admission check against emulated Kueue: what is admitted, sent back, refused, and what a restart changes."""

import json
from typing import Any

import pytest

from planner.model.errors import UnwrittenError
from tests.planner.controller.durable_cases import full
from tests.planner.integrations.kubernetes.admission_cases import Make, seats
from tests.planner.integrations.kubernetes.items import holds, pod_set
from tests.planner.integrations.kubernetes.kueue import JOBS
from tests.planner.integrations.kubernetes.objects import CHECKS, PODS, WORKLOADS
from tests.planner.integrations.kubernetes.world import World
from tests.planner.simulate.grounds import cluster


def _of_a_gang(asked: dict[str, Any]) -> dict[str, Any]:
    """The template of a gang without Kueue."""
    asked["template"]["metadata"]["labels"] = {"photonplan.io/gang": "mine"}
    return asked


@pytest.mark.slow
@pytest.mark.parametrize(("pods", "each", "nodes"), [(2, 8, 2), (4, 4, 2), (8, 1, 1), (1, 3, 1), (4, 2, 1), (3, 8, 3)])
def test_pods_land_as_planned(make_world: Make, pods: int, each: int, nodes: int) -> None:
    world = make_world()
    world.workload("train", pod_set(pods, each))
    assert world.settle() == {}
    job = world.jobs()["team/train"]
    assert job.place is not None
    found = seats(world, "train")
    assert len(found) == pods
    assert len({node for node, _ in found}) == nodes
    planned = {f"n{server}:{slot}" for server, slot in job.place.devices}
    assert {f"{node}:{index}" for node, text in found for index in text.split(",")} == planned
    assert all(len(text.split(",")) == each for _, text in found)
    assert world.check("train")["state"] == "Ready"
    assert holds(world.status("train"), "Admitted")


@pytest.mark.slow
def test_the_check_says_which_pod_goes_where(make_world: Make) -> None:
    world = make_world()
    world.workload("train", pod_set(1, 8, "launcher"), pod_set(3, 8, "worker"), pod_set(1, 0, "monitor"))
    world.settle()
    updates = {one["name"]: one for one in world.check("train")["podSetUpdates"]}
    assert updates.pop("monitor") == {"name": "monitor"}, "some releases of Kueue want one for each pod set"
    assert set(updates) == {"launcher", "worker"}
    (host,) = updates["launcher"]["nodeSelector"].values()
    assert host in ("n0.local", "n1.local", "n2.local", "n3.local"), "the label of the node, not its name"
    assert "nodeSelector" not in updates["worker"]
    all_seats = [json.loads(one["annotations"]["photonplan.io/assignment"]) for one in updates.values()]
    ranks = [rank for some in all_seats for seat in some for rank in seat["ranks"]]
    assert sorted(ranks) == list(range(32))
    assert len(updates["worker"]["annotations"]["photonplan.io/devices"].split(",")) == 32


@pytest.mark.slow
def test_who_waits_is_told_why_and_starts_when_there_is_room(make_world: Make) -> None:
    world = make_world()
    world.workload("first", pod_set(3, 8))
    world.settle(4)
    world.workload("second", pod_set(2, 8))
    world.settle(3)
    said = world.check("second")
    assert (said["state"], "8 are free" in said["message"]) == ("Pending", True)
    world.finish("first")
    world.settle(4)
    assert world.check("second")["state"] == "Ready"
    assert set(world.jobs()) == {"team/second"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sets", "said"),
    [
        ([pod_set(1, 9)], "a pod asks for 9 accelerators and a node has 8"),
        ([pod_set(1, 8, "a"), pod_set(1, 4, "b")], "pods ask for 4 and 8"),
        ([pod_set(1, 8, workload="gpt")], "no workload 'gpt' is known"),
        ([pod_set(5, 8)], "40 accelerators"),
        ([pod_set(2, 4, pods_per_node="3")], "must divide the 2 pods"),
        ([pod_set(1, 1, movable="perhaps")], "neither"),
        ([pod_set(1, 8, "a", workload="bert"), pod_set(1, 8, "b", workload="chat")], "given twice"),
        ([pod_set(2, 8, job="old", devices="s0.g0")], "photonplan.io/devices: the planner writes it; leave"),
        ([_of_a_gang(pod_set(2, 8))], "photonplan.io/gang: the planner writes it; leave it out of the template"),
    ],
)
def test_what_can_never_run_is_rejected(make_world: Make, sets: list[dict[str, object]], said: str) -> None:
    world = make_world()
    world.workload("odd", *sets)
    world.kueue()
    world.loop.tick()
    world.require_sound()
    assert (world.check("odd")["state"], said in world.check("odd")["message"]) == ("Rejected", True)
    world.settle(4)
    assert world.jobs() == {}


@pytest.mark.slow
def test_a_full_disk_rejects_nobody(make_world: Make) -> None:
    world = make_world()
    full(world.controller, is_full=True)
    for number in range(40):
        world.workload(f"w{number}", pod_set(1, 1))
    world.kueue()
    with pytest.raises(UnwrittenError):
        world.loop.tick()
    assert {world.check(f"w{number}")["state"] for number in range(40)} <= {"Pending", "Ready"}
    full(world.controller, is_full=False)
    world.settle(4)
    assert len(world.jobs()) == 40


@pytest.mark.slow
def test_pods_that_need_no_accelerator_pass(make_world: Make) -> None:
    world = make_world()
    world.workload("cpu", pod_set(2, 0))
    world.settle(3)
    assert world.check("cpu")["state"] == "Ready"
    assert world.jobs() == {}


@pytest.mark.slow
def test_one_pod_a_node_where_the_user_says_so(make_world: Make) -> None:
    world = make_world()
    world.workload("wide", pod_set(4, 2, pods_per_node="1"))
    world.settle()
    assert sorted(node for node, _ in seats(world, "wide")) == ["n0", "n1", "n2", "n3"]


@pytest.mark.slow
def test_nodes_of_each_rack_are_as_many_as_the_user_says(make_world: Make) -> None:
    world = make_world(fabric=cluster("fat_tree", racks=2, servers=2))
    world.workload("uneven", pod_set(6, 4, nodes_by_rack="2,1"))
    world.settle()
    nodes = {node for node, _ in seats(world, "uneven")}
    assert sorted(sum(node in nodes for node in rack) for rack in (("n0", "n1"), ("n2", "n3"))) == [1, 2]
    world.finish("uneven")
    world.settle(3)
    world.workload("never", pod_set(4, 8, nodes_by_rack="3,1"))
    world.kueue()
    world.loop.tick()
    said = world.check("never")
    assert said["state"] == "Rejected"
    assert "4 servers with 8 each do not lie as 3 and 1 in one rack each, on 2 racks of 2 servers" in said["message"]


@pytest.mark.slow
def test_a_part_that_fails_sends_the_workload_back_to_another_place(make_world: Make) -> None:
    world = make_world()
    world.workload("train", pod_set(1, 8))
    world.settle(4)
    ((node, _),) = seats(world, "train")
    world.controller.fail(f"s{node[1:]}.g3")
    world.loop.tick()
    said = world.check("train")
    assert (said["state"], said["requeueAfterSeconds"]) == ("Retry", 5)
    held = world.jobs()["team/train"].place
    world.settle(12)
    assert world.jobs()["team/train"].place == held, "its new place was kept until it came back"
    ((other, _),) = seats(world, "train")
    assert other != node
    assert world.check("train")["state"] == "Ready"


@pytest.mark.slow
def test_a_preempted_workload_waits_again(make_world: Make) -> None:
    world = make_world()
    for name in "abcd":
        world.workload(name, pod_set(1, 8))
    world.settle(4)
    world.workload("urgent", pod_set(1, 8), priority=100)
    world.settle(14)
    assert world.check("urgent")["state"] == "Ready"
    states = [world.check(name)["state"] for name in "abcd"]
    assert sorted(states) == ["Pending", "Ready", "Ready", "Ready"]
    assert len(world.pods()) == 4


def test_a_job_that_somebody_else_takes_away_is_submitted_again(
    make_world: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world()
    world.workload("train", pod_set(1, 8))
    world.kueue()
    submit = world.controller.submit
    monkeypatch.setattr(world.controller, "submit", lambda one: (submit(one), world.controller.cancel(one.name)))
    world.loop.tick()
    said = world.check("train")
    assert (said["state"], "somebody else" in said["message"]) == ("Pending", True)
    monkeypatch.undo()
    world.settle(3)
    assert world.check("train")["state"] == "Ready"


@pytest.mark.slow
def test_a_place_is_kept_only_for_a_time(make_world: Make) -> None:
    world = make_world()
    world.workload("train", pod_set(1, 8))
    world.settle(4)
    ((node, _),) = seats(world, "train")
    world.controller.fail(f"s{node[1:]}.g3")
    world.loop.tick()
    for _ in range(3):
        world.kueue()
        world.kubelets()
        world.queues.not_before["team/train"] = 1e12
        world.loop.tick()
    assert "team/train" in world.jobs()
    world.now_s += 121
    world.loop.tick()
    assert world.jobs() == {}


@pytest.mark.slow
def test_nothing_is_ready_before_its_circuits_are_on(make_world: Make) -> None:
    world = make_world(fabric="lightpath")
    world.applied = {}
    world.restart()
    world.workload("train", pod_set(2, 8))
    world.settle(3)
    assert "circuits" in world.check("train")["message"]
    assert world.pods() == []
    for name, held in world.controller.circuits().items():
        world.applied[name] = [one.model_dump(mode="json", by_alias=True) for one in held]
    world.settle(4)
    assert world.check("train")["state"] == "Ready"


@pytest.mark.slow
def test_nothing_is_ready_while_pods_of_others_leave(make_world: Make) -> None:
    world = make_world()
    for name in "abcd":
        world.workload(name, pod_set(1, 8))
    world.settle(4)
    (pod,) = world.pods("team/a")
    world.emulator.drop(WORKLOADS, "team", "a")
    world.controller.cancel("team/a")
    world.workload("next", pod_set(1, 8))
    world.settle(3)
    assert "still leaves" in world.check("next")["message"]
    world.emulator.drop(PODS, "team", pod["metadata"]["name"])
    world.settle(3)
    assert world.check("next")["state"] == "Ready"


def test_the_check_becomes_active_and_another_ones_is_left_alone(make_world: Make) -> None:
    world = make_world()
    world.loop.tick()
    item = world.emulator.get(CHECKS, None, "photonplan")
    assert item is not None
    assert [one["status"] for one in item["status"]["conditions"]] == ["True"]
    world.emulator.change(CHECKS, None, "photonplan", spec={"controllerName": "other"}, status={"conditions": []})
    world.loop.tick()
    assert "another controller" in world.loop.trouble


def test_names_and_annotations_are_never_more_than_text(make_world: Make) -> None:
    world = make_world()
    odd = "$(reboot)\"'\n{{x}}"
    world.workload("a" * 200, pod_set(1, 1), namespace="n" * 63)
    world.workload("odd", pod_set(1, 1, workload=odd))
    world.kueue()
    world.loop.tick()
    world.require_sound()
    assert odd in world.check("odd")["message"]
    (name,) = world.jobs()
    assert len(name) == 100
    assert world.status("a" * 200, "n" * 63)["admissionChecks"][0]["state"] == "Ready"


def test_an_elastic_job_that_shrinks_gives_back_what_its_pods_have_left(make_world: Make) -> None:
    """Kueue writes the smaller number into the Workload that is admitted, and a Job deletes its last pods."""
    world = make_world()
    world.workload("train", pod_set(4, 8))
    world.workload("next", pod_set(1, 8))
    world.settle(4)
    before = world.jobs()["team/train"].place
    assert before is not None
    assert world.check("next")["state"] == "Pending"
    for count in (3, 1):
        resize(world, "train", count)
        world.restart()
        world.settle(4)
        now = world.jobs()["team/train"]
        assert now.place is not None
        assert now.place.devices == before.devices[: 8 * count]
        assert (now.request.accelerators, world.check("train")["state"]) == (8 * count, "Ready")
        assert len(seats(world, "train")) == count
    assert world.check("next")["state"] == "Ready"
    world.finish("train")
    world.settle(3)
    assert {*world.jobs()} == {"team/next"}


@pytest.mark.slow
def test_a_pod_of_a_smaller_job_is_made_again_where_it_was(make_world: Make) -> None:
    """It is told what the first admission said, as the template of a Job that runs does not change."""
    world = make_world()
    world.workload("train", pod_set(4, 8))
    world.settle(4)
    resize(world, "train", 3)
    world.settle(4)
    before = seats(world, "train")
    assert len(before) == 3
    (lost,) = [pod for pod in world.pods("team/train") if pod["spec"]["nodeName"] == before[0][0]]
    world.emulator.remove(JOBS, "pods", "team", lost["metadata"]["name"])
    world.settle(6)
    assert sorted(seats(world, "train")) == sorted(before)


def test_accelerators_are_held_until_the_pods_are_gone(make_world: Make) -> None:
    """A pod that is being deleted has them still."""
    world = make_world()
    world.workload("train", pod_set(2, 8))
    world.settle(4)
    resize(world, "train", 1)
    for _ in range(3):
        world.loop.tick()
    job = world.jobs()["team/train"]
    assert job.place is not None
    assert (len(job.place.devices), job.request.accelerators) == (16, 16)


@pytest.mark.slow
def test_an_elastic_job_over_circuits_holds_its_place_until_it_ends(make_world: Make) -> None:
    world = make_world(fabric="ocs_rail")
    world.workload("train", pod_set(4, 8))
    world.settle(4)
    before = world.jobs()["team/train"]
    assert before.place is not None
    assert before.place.has_circuits
    resize(world, "train", 2)
    world.settle(3)
    now = world.jobs()["team/train"]
    assert now.place is not None
    assert (now.place.devices, world.check("train")["state"]) == (before.place.devices, "Ready")


def resize(world: World, name: str, count: int) -> None:
    """Kueue writes another number of pods into a Workload."""
    item = world.emulator.get(WORKLOADS, "team", name)
    assert item is not None
    (one,) = item["spec"]["podSets"]
    world.emulator.change(WORKLOADS, "team", name, spec={"podSets": [one | {"count": count}]})
