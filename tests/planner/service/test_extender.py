"""Routes of the scheduler's extender, as kube-scheduler asks them."""

import asyncio
import base64
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.integrations.kubernetes.extender import Extender
from planner.integrations.kubernetes.pods import Pod
from planner.service.app import create_app
from planner.service.options import Options
from planner.service.service import Service
from tests.planner.integrations.kubernetes.contract import BINDING_RESULT, FILTER_RESULT, HOST_PRIORITIES, require
from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.kubernetes.items import node
from tests.planner.integrations.kubernetes.objects import PODS
from tests.planner.integrations.kubernetes.world import World
from tests.planner.simulate.grounds import BERT

TOKEN = "t" * 32
NAMES = ["n0", "n1", "n2", "n3", "other"]


class Quiet:
    """A control loop that only has an extender."""

    period_s = 3600.0

    def __init__(self, extender: Extender) -> None:
        self.extender = extender

    def tick(self) -> None:
        pass


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    server = Server()
    one = World(server, tmp_path, kueue=None)
    yield one
    one.close()
    server.close()


@contextmanager
def asking(
    world: World, *control_loops: Quiet, timeout_s: float = Options.timeout_s, **headers: str
) -> Iterator[Callable[[str, Any], httpx.Response]]:
    """The application without a socket; its event loop runs while it is asked."""
    service = Service(world.controller, control_loops=control_loops, most_wait_s=math.inf)

    async def begin() -> httpx.AsyncClient:
        service.start()
        app = create_app(service, Options(TOKEN.encode(), timeout_s=timeout_s))
        given = {"Authorization": f"Bearer {TOKEN}"} | headers
        return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://planner", headers=given)

    with asyncio.Runner() as runner:
        client = runner.run(begin())
        yield lambda verb, body: runner.run(client.post(f"/scheduler/{verb}", json=body))
        runner.run(client.aclose())
        runner.run(asyncio.to_thread(service.close))


@pytest.mark.slow
def test_a_gang_over_http(world: World) -> None:
    items = [world.pod(f"g-{i}", 8, "g", 2) for i in range(2)]
    world.loop.tick()
    with asking(world, Quiet(world.loop.extender)) as ask:
        for item in items:
            found = ask("filter", {"Pod": item, "Nodes": None, "NodeNames": NAMES}).json()
            require(FILTER_RESULT, found)
            (planned,) = found["NodeNames"]
            assert set(found["FailedNodes"]) == set(NAMES) - {planned}
            scores = ask("prioritize", {"Pod": item, "NodeNames": NAMES}).json()
            require(HOST_PRIORITIES, scores)
            assert {one["Host"] for one in scores if one["Score"] == 10} == {planned}
            about = item["metadata"]
            args = {"PodName": about["name"], "PodNamespace": "team", "PodUID": about["uid"], "Node": planned}
            wrong = ask("bind", args | {"Node": "other"}).json()
            assert "planned for" in wrong["Error"]
            for _ in range(2):
                answer = ask("bind", args)
                require(BINDING_RESULT, answer.json())
                assert answer.json() == {"Error": ""}
            gone = ask("bind", args | {"PodUID": "other"}).json()
            assert "another one" in gone["Error"]
    bound = {(pod.node, pod.indices) for pod in map(Pod, world.pods())}
    assert bound == {(name, frozenset(range(8))) for name, _ in bound}
    assert len(bound) == 2


def test_nodes_as_objects_come_back_as_they_were(world: World) -> None:
    item = world.pod("g-0", 1, "g", 1)
    world.loop.tick()
    nodes = [node(name) | {"spec": {"taints": [{"key": "x"}]}} for name in NAMES]
    with asking(world, Quiet(world.loop.extender)) as ask:
        found = ask("filter", {"Pod": item, "Nodes": {"metadata": {}, "items": nodes}}).json()
    require(FILTER_RESULT, found)
    assert found["Nodes"]["items"] in [[one] for one in nodes]


@pytest.mark.slow
def test_basic_authentication_is_what_kube_scheduler_has(world: World) -> None:
    item = world.emulator.get(PODS, "team", world.pod("g-0", 1, "g", 1)["metadata"]["name"])
    world.loop.tick()
    for login, status in ((f"planner:{TOKEN}", 200), (f"{TOKEN}:", 401), (f"planner:{TOKEN}x", 401), ("", 401)):
        encoded = base64.b64encode(login.encode()).decode()
        world.restart()
        world.loop.tick()
        with asking(world, Quiet(world.loop.extender), Authorization=f"Basic {encoded}") as ask:
            assert ask("filter", {"Pod": item, "NodeNames": NAMES}).status_code == status
    with asking(world, Quiet(world.loop.extender), Authorization="Basic !") as ask:
        assert ask("filter", {"Pod": item, "NodeNames": NAMES}).status_code == 401


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [{}, {"Pod": None}, {"Pod": {"metadata": {}}}, {"Pod": {"metadata": {"name": "a", "labels": {"x": 1}}}}, [], None],
)
def test_what_is_no_question_is_422(world: World, body: Any) -> None:
    with asking(world, Quiet(world.loop.extender)) as ask:
        for verb in ("filter", "prioritize", "bind"):
            assert ask(verb, body).status_code == 422


SEATS = '[{"node": "n0", "indices": [0], "ranks": [0]}]'
ODD = st.one_of(
    st.text(max_size=20),
    st.none(),
    st.integers(),
    st.lists(st.text(max_size=3), max_size=2),
    st.sampled_from(["8", "2", "0", "team/pods/g", "bert", "true", "[[[", SEATS, "$(reboot)\n'\""]),
)
OWN = st.sampled_from(
    ["job", "gang-size", "assignment", "workload", "pods-per-node", "movable", "cuda-visible-devices"]
)
TEXTS = st.dictionaries(OWN.map(lambda key: f"photonplan.io/{key}"), ODD, max_size=3)
PODS_OF_ANYBODY = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries(
            {"name": st.sampled_from(["p", "q"])},
            optional={"namespace": ODD, "uid": ODD, "annotations": TEXTS,
                      "labels": st.just({"photonplan.io/gang": "g"}) | TEXTS},
        ),
        "spec": st.fixed_dictionaries(
            {"containers": st.lists(st.fixed_dictionaries(
                {"resources": st.fixed_dictionaries({"limits": st.dictionaries(st.just("nvidia.com/gpu"), ODD)})}),
                max_size=2)},
            optional={"priority": ODD, "activeDeadlineSeconds": ODD, "nodeName": ODD, "initContainers": ODD},
        ),
    }
)  # fmt: skip


@pytest.mark.slow
def test_odd_pods_are_answered_or_refused(world: World) -> None:
    world.pod("p", 2, "g", 1)
    world.loop.tick()
    with asking(world, Quiet(world.loop.extender)) as ask:

        @settings(max_examples=25, deadline=None)
        @given(PODS_OF_ANYBODY, st.lists(ODD, max_size=3), ODD)
        def odd(pod: Any, names: list[Any], node: Any) -> None:
            for verb in ("filter", "prioritize"):
                assert ask(verb, {"Pod": pod, "NodeNames": names}).status_code in (200, 422)
            args = {"PodName": pod["metadata"]["name"], "PodNamespace": "team", "PodUID": "", "Node": node}
            assert ask("bind", args).status_code in (200, 422)

        odd()


def test_a_service_without_kubernetes_has_no_such_routes(world: World) -> None:
    with asking(world) as ask:
        assert ask("filter", {}).status_code == 404


@pytest.mark.slow
def test_names_of_jobs_of_kubernetes_are_not_to_be_had_over_http(world: World) -> None:
    """What has such a name and no Workload or pods is let go."""
    body = {"name": "a/b", "workload": BERT, "accelerators": 1}
    for control_loops, status in (((Quiet(world.loop.extender),), 422), ((), 200)):
        with asking(world, *control_loops) as ask:
            answer = ask("../v1/jobs", body)
            assert answer.status_code == status
            assert status == 200 or "leave out the slashes" in answer.json()["problem"]
        world.begin()


@pytest.mark.slow
@pytest.mark.parametrize("name", [".", ".."])
def test_a_binding_leads_nowhere_else(world: World, name: str) -> None:
    asked = len(world.emulator.asked)
    with asking(world, Quiet(world.loop.extender)) as ask:
        for namespace, pod in ((name, "p"), ("team", name)):
            args = {"PodName": pod, "PodNamespace": namespace, "PodUID": "", "Node": "n0"}
            assert "no namespace and name" in ask("bind", args).json()["Error"]
    assert len(world.emulator.asked) == asked


@pytest.mark.slow
@pytest.mark.parametrize("is_lit", [True, False])
def test_binding_waits_for_circuits_but_not_for_ever(tmp_path: Path, is_lit: bool) -> None:
    """The filter names the node at once; a request may take as long as circuits are waited for."""
    server = Server()
    world = World(server, tmp_path, "lightpath", kueue=None, light="1.5 s")
    world.applied = {}
    world.restart()
    items = [world.pod(f"g-{i}", 8, "g", 2) for i in range(2)]
    world.loop.tick()

    def light() -> None:
        for name, held in world.controller.circuits().items():
            assert world.applied is not None
            world.applied[name] = [one.model_dump(mode="json", by_alias=True) for one in held]

    with asking(world, Quiet(world.loop.extender), timeout_s=1.0) as ask:
        (node,) = ask("filter", {"Pod": items[0], "NodeNames": NAMES}).json()["NodeNames"]
        args = {"PodName": "g-0", "PodNamespace": "team", "PodUID": items[0]["metadata"]["uid"], "Node": node}
        later = Timer(0.3, light if is_lit else lambda: None)
        later.start()
        answer = ask("bind", args).json()
        later.join()
    assert (answer["Error"] == "") == is_lit
    assert is_lit or "still being connected" in answer["Error"]
    assert [pod.name for pod in map(Pod, world.pods()) if pod.node] == ["g-0"] * is_lit
    world.close()
    server.close()
