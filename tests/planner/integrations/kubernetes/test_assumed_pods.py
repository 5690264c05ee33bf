"""Pods that were bound a moment ago count until the informer has caught up with them, and no longer."""

from types import SimpleNamespace
from typing import Any

import pytest

from planner.integrations.kubernetes.assumed_pods import FRESH_S, AssumedPods
from planner.integrations.kubernetes.pods import Pod
from tests.planner.integrations.kubernetes.admission_cases import Make
from tests.planner.integrations.kubernetes.objects import PODS

VISIBLE = "photonplan.io/cuda-visible-devices"


def item(uid: str = "u", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a", "namespace": "team", "uid": uid}, "spec": spec, "status": {"phase": "Pending"}}


def site(*shown: dict[str, Any]) -> tuple[AssumedPods, Any, list[float]]:
    informer: Any = SimpleNamespace(objects=dict(zip([("team", "a")], shown, strict=False)))
    clock = [100.0]
    assumed = AssumedPods(informer, lambda: clock[0])
    assumed.add(Pod(item()), "n1", {VISIBLE: "0,1"})
    return assumed, informer, clock


@pytest.mark.parametrize("shown", [(), (item(),)])
def test_it_has_what_it_was_given(shown: tuple[dict[str, Any], ...]) -> None:
    (pod,) = site(*shown)[0].pods()
    assert (pod.node, pod.indices) == ("n1", {0, 1})


def test_one_that_is_shown_unbound_counts_however_long_that_lasts() -> None:
    assumed, informer, clock = site(item())
    clock[0] += 100 * FRESH_S
    assert len(assumed.pods()) == 1
    informer.objects = {("team", "a"): item(nodeName="n1")}
    assert assumed.pods() == []


@pytest.mark.parametrize("after", [{}, {("team", "a"): item("other")}])
def test_one_that_was_shown_and_is_not_any_more_has_ended(after: dict[tuple[str, str], Any]) -> None:
    assumed, informer, _ = site(item())
    informer.objects = after
    assert assumed.pods() == []


def test_one_that_was_never_shown_is_waited_for_a_while() -> None:
    assumed, _, clock = site()
    clock[0] += FRESH_S - 1
    assert len(assumed.pods()) == 1
    clock[0] += 2
    assert assumed.pods() == []


@pytest.mark.slow
def test_a_job_that_ends_before_its_pods_are_seen_gives_nothing_to_the_next(make_world: Make) -> None:
    world = make_world(kueue=None)
    for number in range(4):
        world.pod(f"old{number}", 8, f"old{number}", 1)
    world.loop.tick()
    assert world.schedule() == {}
    for number in range(4):
        world.controller.cancel(f"team/pods/old{number}")
    world.pod("new", 8, "new", 1)
    (said,) = world.schedule().values()
    assert "still leaves" in said
    world.loop.tick()
    world.require_sound()
    for number in range(4):
        world.emulator.drop(PODS, "team", f"old{number}")
    world.loop.tick()
    assert world.schedule() == {}
    world.require_sound()
