"""Answers of the extender as kube-scheduler reads them."""

from planner.integrations.kubernetes.extender import PodVerdict
from planner.integrations.kubernetes.extender_replies import filter_result, priorities
from planner.integrations.kubernetes.pod_assignment import PodAssignment
from planner.integrations.kubernetes.pods import Pod
from tests.planner.integrations.kubernetes.contract import FILTER_RESULT, require
from tests.planner.integrations.kubernetes.extender_cases import NAMES, Make, gang
from tests.planner.integrations.kubernetes.items import node


def test_filter_names_one_node_and_says_why_not_the_others(make_world: Make) -> None:
    world = make_world(kueue=None)
    (item,) = gang(world, "g", 1, 2)
    world.loop.tick()
    verdict = world.loop.extender.judge(world.loop.extender.read(item))
    assert verdict.assignment is not None
    planned = verdict.assignment.node
    answer = filter_result(verdict, NAMES, None)
    assert answer["NodeNames"] == [planned]
    assert set(answer["FailedNodes"]) == set(NAMES) - {planned}
    objects = filter_result(verdict, NAMES, [node(name) for name in NAMES])
    require(FILTER_RESULT, objects)
    assert [one["metadata"]["name"] for one in objects["Nodes"]["items"]] == [planned]
    assert [one["Host"] for one in priorities(verdict, NAMES) if one["Score"] == 10] == [planned]
    elsewhere = filter_result(verdict, [name for name in NAMES if name != planned], None)
    assert elsewhere["NodeNames"] == []
    assert all("ruled out" in text for text in elsewhere["FailedNodes"].values())


def test_pods_without_accelerators_go_anywhere(make_world: Make) -> None:
    world = make_world(kueue=None)
    item = world.pod("cpu", 0, "g", 1)
    verdict = world.loop.extender.judge(world.loop.extender.read(item))
    assert verdict.is_anywhere
    assert filter_result(verdict, NAMES, None)["NodeNames"] == NAMES
    assert world.loop.extender.bind(Pod(item), "n2", verdict) == ""


def test_a_verdict_of_never_is_not_worth_a_preemption() -> None:
    answer = filter_result(PodVerdict(why="too large", never=True), NAMES, None)
    assert answer["FailedAndUnresolvableNodes"] == dict.fromkeys(NAMES, "too large")
    assert answer["FailedNodes"] == {}
    assert priorities(PodVerdict(PodAssignment("n1", (0,), (0,))), NAMES)[1] == {"Host": "n1", "Score": 10}
