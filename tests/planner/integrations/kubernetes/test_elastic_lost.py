"""Elastic jobs of Kueue whose pods are no longer where their job is: places lost, pods gone in any order, and jobs of
an earlier release."""

from itertools import count

import pytest

from planner.integrations.kubernetes.pod_assignment import VISIBLE
from planner.integrations.kubernetes.pods import Pod
from planner.integrations.kubernetes.workloads import REPLACES, Workload
from tests.planner.integrations.kubernetes.admission_cases import Make
from tests.planner.integrations.kubernetes.elastic_cases import last_check, running, seats, was_evicted
from tests.planner.integrations.kubernetes.elastic_jobs import ElasticJobs, Job
from tests.planner.integrations.kubernetes.items import pod_set
from tests.planner.integrations.kubernetes.kueue import JOBS
from tests.planner.integrations.kubernetes.objects import NODES, PODS, WORKLOADS


@pytest.mark.slow
def test_pods_of_a_place_that_is_lost_while_a_growth_waits_are_made_anew(make_world: Make) -> None:
    world = running(make_world)
    world.workload("other", pod_set(2, 8))
    world.settle(4)
    world.elastic.scale("train", 3)
    world.settle(4)
    lost = min(node for _, node, _ in seats(world))
    world.emulator.change(NODES, None, lost, status={"conditions": [{"type": "Ready", "status": "False"}]})
    world.settle(6)
    world.finish("other")
    world.settle(20)
    assert len(seats(world)) == 3
    assert lost not in {node for _, node, _ in seats(world)}


@pytest.mark.slow
def test_the_pods_that_go_need_not_be_the_last(make_world: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Job without completion indices: the oldest pods go first here, and new ones have no index of a rank."""
    number = count(900)

    def make_pods(jobs: ElasticJobs, job: Job) -> None:
        here = sorted(jobs.pods(job.name), key=lambda pod: int(pod["metadata"]["uid"][1:]))
        wanted = 0 if job.is_suspended else job.parallelism
        for pod in here[: max(len(here) - wanted, 0)]:
            jobs._emulator.remove(JOBS, "pods", "team", pod["metadata"]["name"])
        for _ in range(wanted - len(here)):
            jobs._make_pod(job, next(number))

    monkeypatch.setattr(ElasticJobs, "_make_pods", make_pods)
    world = running(make_world, pods=3)
    for pods in (2, 3):
        world.elastic.scale("train", pods)
        world.settle(6)
        assert len(seats(world)) == pods


@pytest.mark.slow
def test_a_job_that_an_earlier_release_has_started_runs_on(make_world: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """That release named it after its Workload alone; what it asks for waits until it is started anew."""
    world = make_world()
    with monkeypatch.context() as patch:
        patch.setattr(Workload, "is_elastic", property(lambda one: False))
        world.elastic.submit("train", 2, 8)
        world.settle(5)
        before = seats(world)
        world.end()
    assert len(before) == 2
    world.begin()
    world.settle(6)
    assert (seats(world), was_evicted(world)) == (before, False)
    world.elastic.scale("train", 3)
    world.settle(4)
    assert "start the Job anew" in last_check(world)["message"]
    assert (seats(world), was_evicted(world)) == (before, False)
    world.elastic.finish("train")
    world.settle(4)
    assert world.jobs() == {}


def test_pods_that_are_bound_without_the_extender_are_named(make_world: Make) -> None:
    world = running(make_world)
    assert "runs on" in last_check(world)["message"]
    pod = Pod(world.elastic.pods("train")[0])
    for visible, told in ((None, f"has bound {pod.name} without asking"), (pod.annotations[VISIBLE], "runs on")):
        world.emulator.change(PODS, "team", pod.name, metadata={"annotations": {VISIBLE: visible}})
        world.settle(2)
        check = last_check(world)
        assert (check["state"], told in check["message"]) == ("Ready", True)
        assert check["podSetUpdates"]


def test_what_replaces_another_and_is_no_elastic_job_waits(make_world: Make) -> None:
    """Kueue would stop the pods of before where a check rejects it."""
    world = make_world()
    world.workload("new", pod_set(1, 8))
    world.emulator.change(WORKLOADS, "team", "new", metadata={"annotations": {REPLACES: "team/old"}})
    world.settle(3)
    check = world.check("new")
    assert (check["state"], "Kueue 0.14 or newer" in check["message"]) == ("Pending", True)


@pytest.mark.slow
def test_a_job_that_has_grown_and_lost_its_place_starts_again(make_world: Make) -> None:
    """Its template keeps what it was stamped with, and takes no other value for it: twice, each time under new keys."""
    world = running(make_world)
    for pods in (3, 4):
        world.elastic.scale("train", pods)
        world.settle(6)
        world.emulator.change(NODES, None, "n3", spec={"unschedulable": True})
        lost = min(node for _, node, _ in seats(world) if node != "n3")
        for status in ("False", "True"):
            world.emulator.change(NODES, None, lost, status={"conditions": [{"type": "Ready", "status": status}]})
            world.settle(6)
        world.emulator.change(NODES, None, "n3", spec={"unschedulable": False})
        world.settle(20)
        assert len(seats(world)) == pods
        assert last_check(world)["state"] == "Ready"
