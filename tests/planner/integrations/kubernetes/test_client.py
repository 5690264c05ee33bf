"""Paths of the Kubernetes API, and what it answers when it has too much to do or a token has gone."""

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from planner.integrations.kubernetes.client import ApiError, KubernetesClient, path_of
from planner.integrations.kubernetes.client_config import ClientConfig
from planner.integrations.kubernetes.informer import Informer
from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.kubernetes.informer_cases import PATH
from tests.planner.integrations.kubernetes.objects import PODS


def test_paths() -> None:
    assert path_of("v1", "pods", "a", "b", "binding") == "/api/v1/namespaces/a/pods/b/binding"
    assert path_of("kueue.x-k8s.io/v1beta1", "workloads") == "/apis/kueue.x-k8s.io/v1beta1/workloads"
    assert path_of("v1", "nodes", name="../x?y") == "/api/v1/nodes/..%2Fx%3Fy"


def test_an_api_that_is_not_there(server: Server) -> None:
    api = server.api()
    server.close()
    with pytest.raises(ApiError, match="ConnectError") as refused:
        Informer(api, PATH).refresh()
    assert refused.value.is_of_all
    api.close()


def test_an_api_with_too_many_requests_is_left_alone_for_as_long_as_it_says(server: Server) -> None:
    now = [0.0]
    api = server.api(lambda: now[0])
    server.emulator.num_busy = 2
    for at_s, said in ((0.0, "please try again later"), (0.5, "left alone"), (1.0, "please try again later")):
        now[0] = at_s
        with pytest.raises(ApiError, match=said) as refused:
            api.list(PATH)
        assert (refused.value.status, refused.value.is_of_all) == (429, True)
    assert server.emulator.num_busy == 0
    with pytest.raises(ApiError, match="left alone"):
        next(api.watch(PATH, "1", 1))
    now[0] = 2.0
    assert api.list(PATH)[0] == []
    api.close()


def test_a_token_that_changes_is_read_for_each_request(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("first\n")
    api = KubernetesClient(ClientConfig(server.url, token=lambda: file.read_text().strip()))
    server.emulator.token = "first"
    assert api.list(PATH)[0] == []
    server.emulator.token = "second"
    with pytest.raises(ApiError, match="401"):
        api.list(PATH)
    file.write_text("second\n")
    assert api.list(PATH)[0] == []
    api.close()


def test_objects_of_lists_do_not_say_their_kind(server: Server) -> None:
    """As those of Kubernetes' own: nothing here may rest on it."""
    containers = [{"name": "a", "image": "x"}]
    server.emulator.put(PODS, {"metadata": {"name": "a", "namespace": "b"}, "spec": {"containers": containers}})
    api = server.api()
    (item,), _ = api.list(PATH)
    assert "kind" not in item
    assert item["spec"]["restartPolicy"] == "Always", "and they have fields that nobody wrote"
    api.close()


def test_no_more_than_a_page_is_held_of_what_nobody_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 pages of 500 objects with 1,000 bytes each, one object in a thousand is kept."""
    pages = 40

    def page(*_: object, params: dict[str, Any]) -> dict[str, Any]:
        number = int(params.get("continue", 0))
        items = [{"metadata": {"name": f"p{number}-{i}", "text": f"{number} {i}".ljust(1000)}} for i in range(500)]
        more = {"continue": str(number + 1)} if number + 1 < pages else {}
        return {"items": items, "metadata": {"resourceVersion": "7"} | more}

    monkeypatch.setattr(KubernetesClient, "_ask", page)
    api = KubernetesClient(ClientConfig("http://127.0.0.1:1"))
    tracemalloc.start()
    try:
        items, version = api.list(PATH, lambda item: item["metadata"]["name"].endswith("0-0"))
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        api.close()
    assert ([item["metadata"]["name"] for item in items], version) == ([f"p{n}-0" for n in range(0, pages, 10)], "7")
    assert peak_bytes < 4 * 500 * 1300 < pages * 500 * 1000
