"""The scheduler's extender, pod by pod: gangs land whole and exactly, or not at all."""

from typing import Any

import pytest

from planner.controller.job_classes import JobClasses
from planner.controller.switch_driver import NO_CIRCUITS
from planner.controller.switch_reconciler import SwitchReconciler
from planner.integrations.kubernetes.loop import KubernetesLoop
from planner.integrations.switch_drivers import CircuitError, Circuits
from tests.planner.integrations.kubernetes.extender_cases import Make, bound, gang, occupy
from tests.planner.integrations.kubernetes.items import pod_spec
from tests.planner.integrations.kubernetes.objects import NODES, PODS
from tests.planner.integrations.kubernetes.world import World


@pytest.mark.slow
def test_an_index_takes_its_own_seat(make_world: Make) -> None:
    world = make_world(kueue=None)
    items = gang(world, "g", 4, 4)
    for i, item in enumerate(items):
        item["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] = str(i)
        world.emulator.put(PODS, item)
    world.loop.tick()
    for item in reversed(items):
        assert world.try_pod(item) == ""
    place = world.jobs()["team/pods/g"].place
    assert place is not None
    found = bound(world)
    for i in range(4):
        devices = place.devices[4 * i : 4 * i + 4]
        assert found[f"g-{i}"] == (f"n{devices[0][0]}", ",".join(str(slot) for _, slot in devices))


@pytest.mark.slow
@pytest.mark.parametrize("lost", [409, 503])
def test_binding_twice_is_binding_once(make_world: Make, lost: int) -> None:
    world = make_world(kueue=None)
    (item,) = gang(world, "g", 1, 8)
    world.loop.tick()
    extender = world.loop.extender
    asked = extender.read(item)
    verdict = extender.judge(asked)
    assert verdict.assignment is not None
    if lost == 503:
        world.emulator.is_down = True
        assert "503" in extender.bind(asked.pod, verdict.assignment.node, verdict)
        world.emulator.is_down = False
    assert extender.bind(asked.pod, verdict.assignment.node, verdict) == ""
    assert extender.bind(asked.pod, verdict.assignment.node, verdict) == "", "bound there already"
    assert "planned for" in extender.bind(asked.pod, "n3" if verdict.assignment.node != "n3" else "n2", verdict)
    world.loop.tick()
    assert extender.judge(asked).assignment == verdict.assignment


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"annotations": {"photonplan.io/gang-size": "many"}}, "no number of pods"),
        ({"annotations": {"photonplan.io/gang-size": "9"}}, "72 accelerators"),
        ({"annotations": {"photonplan.io/workload": "gpt"}}, "no workload"),
        ({"labels": {}}, "label photonplan.io/gang is missing"),
        ({"annotations": {"photonplan.io/job": "other/train"}}, ""),
        ({"annotations": {"photonplan.io/job": "team/train"}}, "no job of the planner"),
    ],
)
def test_odd_pods(make_world: Make, change: dict[str, Any], said: str) -> None:
    """A job of another namespace is nobody's: the pod is one of its own gang."""
    world = make_world(kueue=None)
    (item,) = gang(world, "g", 1, 8)
    item["metadata"] |= change
    world.loop.tick()
    verdict = world.loop.extender.judge(world.loop.extender.read(item))
    assert (said in verdict.why) if said else verdict.assignment is not None
    assert not (said and verdict.assignment)


@pytest.mark.slow
def test_a_node_that_is_lost(make_world: Make) -> None:
    world = make_world(kueue=None)
    gang(world, "g", 4, 8)
    world.loop.tick()
    world.schedule()
    world.emulator.change(NODES, None, "n2", status={"conditions": [{"type": "Ready", "status": "False"}]})
    world.loop.tick()
    world.kubelets()
    assert bound(world) == {}, "the gang has no place any more, and stops together"


def test_circuits_are_on_when_the_carrier_is_sure_and_the_driver_is_not_asked(make_world: Make) -> None:
    """A driver that was not heard in time says what it was setting; its record may be locked for long."""
    world = make_world(fabric="lightpath", kueue=None)
    driver = Unheard()
    carrier = SwitchReconciler(world.controller, driver, clock=lambda: world.now_s)
    world.loop = KubernetesLoop(world.controller, world.api, world.site, carrier.on, lambda: world.now_s)
    gang(world, "g", 2, 8)
    world.loop.tick()
    world.schedule()
    carrier.tick()
    assert set(driver.applied()) == {"team/pods/g"}
    asked = driver.asked
    assert all("circuits" in text for text in world.schedule().values())
    driver.is_heard = True
    world.now_s += 60
    carrier.tick()
    assert world.schedule() == {}
    assert driver.asked == asked + 1, "by the carrier alone"


class Unheard:
    """A driver that sets circuits, and whose answer is lost until `is_heard`."""

    def __init__(self) -> None:
        self.on: dict[str, Circuits] = {}
        self.asked, self.is_heard = 0, False

    def connect(self, job: str, circuits: Circuits) -> None:
        self.on[job] = circuits
        if not self.is_heard:
            raise CircuitError("no answer")

    def release(self, job: str, but: Circuits = NO_CIRCUITS) -> None:
        del self.on[job]

    def applied(self) -> dict[str, Circuits]:
        self.asked += 1
        return dict(self.on)


def liar(world: World, namespace: str, **annotations: str) -> dict[str, Any]:
    """A pod without accelerators on n0 that says it has some."""
    item = world.pod("liar", 0, "x", 1, namespace, nodeName="n0")
    item["metadata"]["annotations"] |= {
        f"photonplan.io/{key.replace('_', '-')}": one for key, one in annotations.items()
    }
    world.emulator.put(PODS, item)
    return item


@pytest.mark.slow
def test_a_pod_without_accelerators_is_in_nobody_s_way(make_world: Make) -> None:
    world = make_world(kueue=None)
    liar(world, "team", job="team/pods/g", cuda_visible_devices="0,1,2,3,4,5,6,7")
    gang(world, "g", 4, 8)
    world.loop.tick()
    assert world.schedule() == {}
    world.loop.tick()
    assert (world.loop.trouble, len(world.pods())) == ("", 5)


@pytest.mark.slow
def test_a_job_of_another_namespace_is_nobody_s(make_world: Make) -> None:
    world = make_world(kueue=None)
    gang(world, "g", 3, 8)
    world.loop.tick()
    liar(world, "mallory", job="team/pods/g", cuda_visible_devices="9")
    world.emulator.change(PODS, "mallory", "liar", spec=pod_spec(1, nodeName="elsewhere"))
    world.loop.tick()
    assert world.schedule() == {}


@pytest.mark.slow
def test_what_is_judged_was_expanded_when_it_was_read(make_world: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    world = make_world(kueue=None)
    occupy(world, [6, 4, 6, 4])
    (item, *_) = gang(world, "wide", 4, 3)
    world.loop.tick()
    asked, new = world.loop.extender.read(item), list[str]()
    add = JobClasses._add
    monkeypatch.setattr(
        JobClasses, "_add", lambda self, name, text, **how: (new.append(name), add(self, name, text, **how))
    )
    assert world.loop.extender.judge(asked).why
    assert world.jobs()["team/pods/wide"].request.constraints.per_server == 6, "all forms were tried"
    assert new == []
