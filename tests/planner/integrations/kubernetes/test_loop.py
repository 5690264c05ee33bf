"""The reconcile loop: outages, restarts and lost journals change nothing in the end."""

from typing import Any

import pytest

from tests.planner.integrations.kubernetes.admission_cases import Make, seats
from tests.planner.integrations.kubernetes.emulator import Emulator
from tests.planner.integrations.kubernetes.extender_cases import gang
from tests.planner.integrations.kubernetes.items import pod_set
from tests.planner.integrations.kubernetes.objects import PODS, WORKLOADS
from tests.planner.integrations.kubernetes.published import Refused


@pytest.mark.slow
def test_deleted_workloads_give_back_what_they_had(make_world: Make) -> None:
    world = make_world()
    world.workload("runs", pod_set(4, 8))
    world.workload("waits", pod_set(1, 8))
    world.settle(4)
    assert len(world.jobs()) == 2
    world.emulator.drop(WORKLOADS, "team", "waits")
    world.emulator.drop(WORKLOADS, "team", "runs")
    world.loop.tick()
    assert set(world.jobs()) == {"team/runs"}, "its pods run on"
    for pod in world.pods():
        world.emulator.drop(PODS, "team", pod["metadata"]["name"])
    world.loop.tick()
    assert world.jobs() == {}
    assert world.controller.num_free == 32


@pytest.mark.slow
def test_conflicts_outages_and_forgotten_versions_change_nothing_in_the_end(make_world: Make) -> None:
    world = make_world()
    emulator = world.emulator

    def meddle() -> None:
        emulator.change(WORKLOADS, "team", "train", metadata={"labels": {"seen": str(emulator.version)}})

    emulator.before_write += [lambda: None, meddle, meddle]
    world.workload("train", pod_set(2, 8))
    world.kueue()
    world.loop.tick()
    assert world.check("train")["state"] == "Pending", "the write met a conflict"
    emulator.is_down = True
    world.loop.tick()
    assert "503" in world.loop.trouble
    emulator.is_down = False
    emulator.forget()
    world.settle(5)
    assert (world.loop.trouble, world.check("train")["state"]) == ("", "Ready")
    assert len(seats(world, "train")) == 2


@pytest.mark.slow
def test_a_restart_at_any_moment_goes_on(make_world: Make) -> None:
    world = make_world()
    world.workload("train", pod_set(4, 4))
    for step in (world.kueue, lambda: world.loop.tick(), world.kueue):
        step()
        world.restart()
    world.loop.tick()
    for item in world.pods():
        world.restart()
        world.loop.tick()
        assert world.try_pod(item) == ""
        world.require_sound()
    world.settle(2)
    assert len(set(seats(world, "train"))) == 4
    assert world.controller.seq == 1, "submitted once"


@pytest.mark.slow
def test_a_lost_journal_sends_admitted_workloads_back(make_world: Make) -> None:
    world = make_world()
    world.workload("train", pod_set(4, 8))
    world.settle(4)
    world.end()
    for file in world._journal.parent.glob("journal.db*"):
        file.unlink()
    world.begin()
    world.loop.tick()
    assert world.check("train")["state"] == "Retry"
    world.settle(12)
    assert world.check("train")["state"] == "Ready"


DENIED = 'admission webhook "guard" denied the request: not now'


def deny(monkeypatch: pytest.MonkeyPatch, name: str, status: int, said: str) -> None:
    """Writes of objects of this name are refused."""
    write = Emulator._write

    def refuse(self: Emulator, request: Any) -> Any:
        if request.name == name and request.method.value in ("PATCH", "DELETE"):
            raise Refused(status, "Forbidden", said)
        return write(self, request)

    monkeypatch.setattr(Emulator, "_write", refuse)


@pytest.mark.slow
@pytest.mark.parametrize("status", [403, 422])
def test_what_is_denied_of_one_object_stops_no_other(
    make_world: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    """Webhooks and policies answer 403, as RBAC does."""
    world = make_world()
    gang(world, "old", 1, 8)
    world.loop.tick()
    world.schedule()
    world.loop.tick()
    world.controller.cancel("team/pods/old")
    for name in ("bad", "good"):
        world.workload(name, pod_set(1, 8))
    for name in ("bad", "old-0"):
        deny(monkeypatch, name, status, DENIED)
    world.settle(4)
    assert [world.check(name)["state"] for name in ("bad", "good")] == ["Pending", "Ready"]
    assert world.loop.trouble == ""
    assert "bad/status: admission webhook" in caplog.text
    assert "old-0: admission webhook" in caplog.text


def test_a_right_that_is_missing_is_trouble(make_world: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    world = make_world()
    world.workload("train", pod_set(1, 8))
    said = 'workloads "train" is forbidden: User "planner" cannot patch resource "workloads/status"'
    deny(monkeypatch, "train", 403, said)
    world.kueue()
    world.loop.tick()
    assert "cannot patch resource" in world.loop.trouble


def test_a_kueue_that_is_not_there_is_told_with_what_to_write(make_world: Make) -> None:
    world = make_world()
    del world.emulator.resources[WORKLOADS]
    world.loop.tick()
    assert "write `kueue: v1beta1` for a Kueue before 0.15, `kueue: null` where there is none" in world.loop.trouble
