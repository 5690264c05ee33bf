"""Lists as the first events of a watch: whole, of one moment, one object at a time, by pages where there are none."""

import json
import socket
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.integrations.kubernetes import client
from planner.integrations.kubernetes.client import ApiError, KubernetesClient
from planner.integrations.kubernetes.client_config import ClientConfig
from planner.integrations.kubernetes.informer import Informer
from planner.integrations.kubernetes.watch_list import LIST_S, watch_list
from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.kubernetes.history import History, Read
from tests.planner.integrations.kubernetes.informer_cases import PATH, pod, write
from tests.planner.integrations.kubernetes.objects import PODS
from tests.planner.integrations.kubernetes.published import Refused


def _all(item: Any) -> bool:
    return True


def test_no_list_is_asked_for_and_the_stream_is_left_after_the_last_object(server: Server) -> None:
    for name in "abc":
        server.emulator.put(PODS, pod(name))
    server.emulator.put(PODS, pod("d", gang="g"))
    api = server.api()
    informer = Informer(api, PATH, keeps=lambda item: "gang" in item["metadata"]["labels"])
    informer.refresh()
    assert [name for _, name in informer.objects] == ["d"]
    server.emulator.put(PODS, pod("e", gang="g"))
    informer.refresh()
    assert [name for _, name in informer.objects] == ["d", "e"]
    assert {verb for _, _, verb in server.emulator.guards.used} == {"watch"}
    api.close()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["put", "change", "drop"]), max_size=12), st.integers(0, 12))
def test_what_changes_while_a_list_is_sent_is_in_it(server: Server, steps: list[str], lag: int) -> None:
    """The objects that come first may be older than the bookmark: writes since then come between."""
    emulator = server.emulator
    for item in emulator.all(PODS):
        emulator.drop(PODS, "a", item["metadata"]["name"])
    emulator.forget()
    for number, step in enumerate(steps):
        write(emulator, step, number)
    emulator.history.lag = lag
    api = server.api()
    found = watch_list(api, PATH, _all)
    api.close()
    assert found is not None
    assert found[1] == str(emulator.version)
    wanted = {("a", item["metadata"]["name"]): item["spec"] for item in emulator.all(PODS)}
    assert {name: item["spec"] for name, item in found[0].items()} == wanted


@pytest.mark.parametrize(
    ("status", "is_listed", "is_tried_again"),
    [(422, True, False), (400, True, False), (500, True, True), (504, True, True), (0, True, True),
     (401, False, True), (403, False, True), (429, False, True)],
)  # fmt: skip
def test_what_is_refused_is_read_by_pages(server: Server, status: int, is_listed: bool, is_tried_again: bool) -> None:
    server.emulator.put(PODS, pod("a"))
    api, tries = server.api(), list[str | None]()

    def watch(path: str, version: str | None, wait_s: int) -> Iterator[Any]:
        tries.append(version)
        raise ApiError(status, "no")

    api.watch = watch  # type: ignore[method-assign]
    informer = Informer(api, PATH)
    for _ in range(2):
        informer._version = ""
        if is_listed:
            informer.refresh()
        else:
            with pytest.raises(ApiError, match="no"):
                informer.refresh()
    assert informer.is_known == is_listed == ([*informer.objects] == [("a", "a")])
    assert tries == [None] * (2 if is_tried_again else 1)
    api.close()


@pytest.mark.parametrize("watch_lists", ["off", "unknown"])
def test_a_server_without_such_lists_is_asked_once(
    server: Server, quiet_api: KubernetesClient, watch_lists: Any
) -> None:
    server.emulator.history.watch_lists = watch_lists
    api, watch, begun = quiet_api, KubernetesClient.watch, list[str | None]()

    def noted(path: str, version: str | None, wait_s: int) -> Iterator[Any]:
        begun.append(version)
        return watch(api, path, version, wait_s)

    api.watch = noted  # type: ignore[method-assign]
    informer = Informer(api, PATH)
    for name in "abc":
        server.emulator.put(PODS, pod(name))
        server.emulator.forget()
        informer.refresh()
    assert {name for _, name in informer.objects} == set("abc")
    assert begun.count(None) == 1


def test_a_watch_that_ends_before_all_objects_are_told_is_no_list(server: Server) -> None:
    server.emulator.history.watch_lists = "unknown"
    server.emulator.put(PODS, pod("a"))
    api = server.api()
    assert watch_list(api, PATH, _all, wait_s=1) is None
    api.close()


def test_a_server_that_never_answers_is_asked_once_a_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel accepts, nobody reads: what was sent lies there."""
    monkeypatch.setattr(client, "TIMEOUT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        api = KubernetesClient(ClientConfig(f"http://127.0.0.1:{silent.getsockname()[1]}"))
        informer, began_s = Informer(api, PATH), time.monotonic()
        for _ in range(2):
            with pytest.raises(ApiError, match="ReadTimeout") as refused:
                informer.refresh()
            assert refused.value.is_of_all
        assert time.monotonic() - began_s < LIST_S
        api.close()
        silent.setblocking(False)
        for _ in range(2):
            with silent.accept()[0] as asked:
                assert b"watch=true" in asked.recv(1000)
        with pytest.raises(BlockingIOError):
            silent.accept()
    assert not informer.is_known


def test_a_list_that_falls_silent_is_tried_again_where_pages_fail_too(
    server: Server, quiet_api: KubernetesClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.emulator.history.watch_lists = "unknown"
    server.emulator.put(PODS, pod("a"))
    informer = Informer(quiet_api, PATH)
    with monkeypatch.context() as patched:
        patched.setattr(quiet_api, "list", Mock(side_effect=ApiError(0, "no pages")))
        with pytest.raises(ApiError, match="no pages"):
            informer.refresh()
    server.emulator.history.watch_lists = "known"
    server.emulator.guards.used.clear()
    informer.refresh()
    assert {verb for _, _, verb in server.emulator.guards.used} == {"watch"}
    assert [*informer.objects] == [("a", "a")]


def test_a_list_that_breaks_off_is_not_taken_for_whole(server: Server) -> None:
    for name in "abc":
        server.emulator.put(PODS, pod(name))
    server.emulator.broken = "cut"
    api = server.api()
    informer = Informer(api, PATH)
    informer.refresh()
    assert {name for _, name in informer.objects} == set("abc")
    assert {verb for _, _, verb in server.emulator.guards.used} == {"watch", "list"}
    api.close()


def test_texts_with_other_ends_of_lines_are_read(server: Server) -> None:
    """Go writes U+0085 as it is, and whoever makes a pod may have it in an annotation."""
    odd = "a\u0085b\u2028c\x0bd\x1ce\r\nf"
    item = pod("a")
    item["metadata"]["annotations"] = {"text": odd}
    server.emulator.put(PODS, item)
    api = server.api()
    informer = Informer(api, PATH)
    for text in (odd, odd * 2):
        server.emulator.change(PODS, "a", "a", metadata={"annotations": {"text": text}})
        informer.refresh()
        assert informer.objects["a", "a"]["metadata"]["annotations"]["text"] == text
    api.close()


def test_one_object_at_a_time_is_held_of_those_that_nobody_keeps() -> None:
    """Of 4,000 objects of 1,000 bytes each, 3 are kept."""
    size = 4_000

    def lines() -> Iterator[bytes]:
        for number in range(size):
            about = {"name": f"p{number}", "text": f"{number}".ljust(1000)}
            yield json.dumps({"type": "ADDED", "object": {"metadata": about}}).encode() + b"\n"
        end = {"resourceVersion": "7", "annotations": {"k8s.io/initial-events-end": "true"}}
        yield json.dumps({"type": "BOOKMARK", "object": {"metadata": end}}).encode() + b"\n"

    api = KubernetesClient(ClientConfig("http://127.0.0.1:1"))
    api.close()
    transport = httpx.MockTransport(lambda request: httpx.Response(200, content=lines()))
    api._client = httpx.Client(base_url="http://127.0.0.1:1", transport=transport)
    tracemalloc.start()
    try:
        found = watch_list(api, PATH, lambda item: item["metadata"]["name"].endswith("000"))
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        api.close()
    assert found is not None
    assert ([name for _, name in found[0]], found[1]) == ([f"p{n}" for n in range(0, size, 1000)][1:], "7")
    assert peak_bytes < 400_000 < size * 1000


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sendInitialEvents": "true"}, "requires setting resourceVersionMatch to NotOlderThan"),
        ({"sendInitialEvents": "true", "resourceVersionMatch": "Exact"}, "Unsupported value: 'Exact'"),
        ({"resourceVersionMatch": "NotOlderThan"}, "unless sendInitialEvents is provided"),
        ({"sendInitialEvents": "1", "resourceVersionMatch": "NotOlderThan", "continue": "x"}, "continue is provided"),
    ],
)
def test_the_emulated_server_refuses_what_a_real_one_refuses(server: Server, options: Any, said: str) -> None:
    read = Read(next(iter(server.emulator._get_resources())), "Pod", None, {"watch": "true"} | options)
    with pytest.raises(Refused, match=said) as refused:
        list(History().events(read))
    assert refused.value.status == 422
