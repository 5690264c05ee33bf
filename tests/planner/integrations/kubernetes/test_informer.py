"""An informer shows what the API has, through pages, forgotten versions, broken streams and outages."""

import logging
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.integrations.kubernetes.client import ApiError, KubernetesClient, path_of
from planner.integrations.kubernetes.informer import Informer
from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.kubernetes.informer_cases import PATH, pod, write
from tests.planner.integrations.kubernetes.items import node
from tests.planner.integrations.kubernetes.objects import NODES, PODS, WORKLOADS


@pytest.mark.parametrize("watch_lists", ["known", "off", "unknown"])
def test_lists_keep_what_is_of_interest(server: Server, quiet_api: KubernetesClient, watch_lists: Any) -> None:
    server.emulator.history.watch_lists = watch_lists
    for i in range(20):
        server.emulator.put(PODS, pod(f"p{i}", **({"gang": "g"} if i % 2 else {})))
    everything = Informer(quiet_api, PATH)
    some = Informer(quiet_api, PATH, keeps=lambda item: "gang" in item["metadata"]["labels"])
    everything.refresh()
    some.refresh()
    assert len(everything.objects) == 20
    assert {name for _, name in some.objects} == {f"p{i}" for i in range(1, 20, 2)}
    server.emulator.change(PODS, "a", "p1", metadata={"labels": {"gang": None}})
    server.emulator.change(PODS, "a", "p2", metadata={"labels": {"gang": "g"}})
    some.refresh()
    assert {name for _, name in some.objects} == {"p2", *(f"p{i}" for i in range(3, 20, 2))}


def test_pages_are_told_once_they_have_come(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "planner.kubernetes")
    emulator, api = server.emulator, server.api()
    informer, missing = Informer(api, PATH), Informer(api, path_of("kueue.x-k8s.io/v1beta1", "workloads"))
    emulator.is_down = True
    for _ in range(3):
        with pytest.raises(ApiError, match="503"):
            informer.refresh()
    emulator.is_down = False
    del emulator.resources[WORKLOADS]
    for _ in range(3):
        with pytest.raises(ApiError, match="404"):
            missing.refresh()
    assert caplog.messages == []
    emulator.history.watch_lists = "off"
    for _ in range(3):
        informer.refresh()
    (told,) = caplog.messages
    assert f"{PATH} is listed by pages: 422" in told
    api.close()


def test_a_list_that_expires_between_its_pages_is_read_at_once(server: Server) -> None:
    server.emulator.history.watch_lists = "off"
    for i in range(20):
        server.emulator.put(PODS, pod(f"p{i}"))
    api = server.api()
    informer, ask = Informer(api, PATH), api._ask
    asked = list[Any]()

    def expire(*args: Any, **more: Any) -> Any:
        asked.append(more["params"])
        page = ask(*args, **more)
        server.emulator.put(PODS, pod("late"))
        server.emulator.forget()
        return page

    api._ask = expire  # type: ignore[method-assign]
    informer.refresh()
    assert [sorted(params) for params in asked] == [["limit"], ["continue", "limit"], []]
    assert {name for _, name in informer.objects} == {"late", *(f"p{i}" for i in range(20))}
    api.close()


def test_pages_are_of_one_moment(server: Server) -> None:
    server.emulator.history.watch_lists = "off"
    for i in range(9):
        server.emulator.put(PODS, pod(f"p{i}"))
    api = server.api()
    ask, changes = api._ask, iter([lambda: server.emulator.drop(PODS, "a", "p0")])

    def change(*args: Any, **more: Any) -> Any:
        page = ask(*args, **more)
        next(changes, lambda: None)()
        return page

    api._ask = change  # type: ignore[method-assign]
    informer = Informer(api, PATH)
    informer.refresh()
    assert len(informer.objects) == 9
    informer.refresh()
    assert len(informer.objects) == 8, "and what came meanwhile is told by the watch"
    api.close()


@pytest.mark.parametrize("is_by_status", [False, True])
def test_a_forgotten_version_is_listed_anew(server: Server, is_by_status: bool) -> None:
    """A watch of a second has no bookmarks: where nothing of a kind changes, its version is forgotten one day."""
    server.emulator.put(PODS, pod("a"))
    server.emulator.is_gone_by_status = is_by_status
    api = server.api()
    informer = Informer(api, PATH)
    informer.refresh()
    server.emulator.put(NODES, node("n0"))
    informer.refresh()
    server.emulator.put(PODS, pod("b"))
    server.emulator.drop(PODS, "a", "a")
    server.emulator.forget()
    informer.refresh()
    assert {name for _, name in informer.objects} == {"b"}
    api.close()


@pytest.mark.parametrize("how", ["cut", "error"])
def test_streams_that_break_go_on_where_they_were(server: Server, how: str) -> None:
    api = server.api()
    informer = Informer(api, PATH)
    informer.refresh()
    for name in "abc":
        server.emulator.put(PODS, pod(name))
    server.emulator.broken = how
    with pytest.raises(ApiError):
        informer.refresh()
    assert {name for _, name in informer.objects} == {"a"}
    informer.refresh()
    assert {name for _, name in informer.objects} == set("abc")
    api.close()


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["put", "change", "drop", "forget", "down", "look"]), max_size=20))
def test_an_informer_and_the_api_agree_in_the_end(server: Server, steps: list[str]) -> None:
    emulator, api = server.emulator, server.api()
    informer = Informer(api, PATH)
    for number, step in enumerate(steps):
        write(emulator, step, number)
        if step == "forget":
            emulator.forget()
        elif step == "down":
            emulator.is_down = True
            with pytest.raises(ApiError):
                informer.refresh()
            emulator.is_down = False
        elif step == "look":
            informer.refresh()
    informer.refresh()
    assert informer.is_known
    found = {item["metadata"]["name"]: item["spec"] for item in informer.objects.values()}
    assert found == {item["metadata"]["name"]: item["spec"] for item in emulator.all(PODS)}
    api.close()
