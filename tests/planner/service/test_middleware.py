"""Who may ask, how much, how often: and nothing that is asked ends in an error of the service."""

import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.planner.controller.sites import controller as small_controller
from tests.planner.controller.sites import request
from tests.planner.service.middleware_cases import raw
from tests.planner.service.running import MOST_S, TOKEN, Running, job, running, until

MOST = 2000
"""bytes of a body, in these tests"""


@pytest.fixture(scope="module")
def small() -> Iterator[Running]:
    with running(most_body_bytes=MOST) as found:
        yield found


@pytest.mark.slow
@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer \xe9"],
)
def test_without_the_token_nothing_is_told(small: Running, header: str | None) -> None:
    with httpx.Client(base_url=small.client.base_url) as stranger:
        headers = {} if header is None else {"Authorization": header.encode("latin-1")}
        for method, path in (
            ("GET", "/v1/jobs"),
            ("POST", "/v1/jobs"),
            ("GET", "/metrics"),
            ("GET", "/openapi.json"),
            ("GET", "/v1/floor"),
            ("GET", "/no/such/thing"),
            ("GET", "/healthz/"),
            ("POST", f"/v1/replan?token={TOKEN}"),
        ):
            response = stranger.request(method, path, headers=headers)
            assert response.status_code == 401, path
            assert response.headers["www-authenticate"].startswith("Bearer")
            assert set(response.json()) == {"where", "field", "problem"}


def test_the_scheme_is_read_in_any_case(small: Running) -> None:
    assert small.client.get("/v1/jobs", headers={"Authorization": f"bearer   {TOKEN}"}).status_code == 200


def test_the_page_and_the_health_need_no_token(small: Running) -> None:
    with httpx.Client(base_url=small.client.base_url) as stranger:
        assert stranger.get("/healthz").status_code == 200
        assert "<html" in stranger.get("/").text


@pytest.mark.slow
def test_figures_need_no_token_where_the_operator_says_so() -> None:
    with running(has_open_metrics=True) as site, httpx.Client(base_url=site.client.base_url) as stranger:
        assert stranger.get("/metrics").status_code == 200
        assert stranger.get("/v1/jobs").status_code == 401


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/replan", "/v1/servers/s0/drain", "/no/such/thing"])
def test_what_is_too_large_is_not_read(small: Running, path: str) -> None:
    """By its length at once; cut up without a length as soon as it is too much."""
    response = small.client.post(path, content=b" " * (MOST + 1), headers={"Content-Type": "application/json"})
    assert response.status_code == 413
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
    chunk = b"3e8\r\n" + b" " * 1000 + b"\r\n"
    status, told = raw(small, head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 3)
    assert status == 413
    assert "connection: close" in told
    assert raw(small, head.encode() + b"Content-Length: 99999999999999999999\r\n\r\n")[0] in (400, 413)


BAD: dict[str, bytes] = {
    "no JSON": b"{",
    "half": b'{"name": "a"',
    "deep": b"[" * 900,
    "deep and closed": b"[" * 900 + b"]" * 900,
    "deep objects": b'{"a":' * 300 + b"1" + b"}" * 300,
    "not a number": b'{"name": "a", "weight": NaN}',
    "infinity": b'{"name": "a", "weight": 1e999}',
    "minus infinity": b'{"name": "a", "weight": -Infinity}',
    "huge integer": b'{"name": "a", "accelerators": ' + b"9" * 1500 + b"}",
    "65 bits": b'{"name": "a", "accelerators": 18446744073709551616}',
    "no UTF-8": b'{"name": "\xff\xfe"}',
    "half a surrogate": b'{"name": "\\ud800"}',
    "NUL": b'{"name": "a\\u0000b"}',
    "NUL in a key": b'{"a\\u0000": 1}',
    "raw NUL": b'{"name": "a\x00b"}',
    "two texts": b"{} {}",
    "a comment": b"{} // {}",
    "empty list": b"[]",
    "text": b'"a"',
    "null": b"null",
    "true": b"true",
    "unknown": b'{"x": 1}',
    "jobs is no list": b'{"jobs": {"a": 1}}',
    "jobs are numbers": b'{"jobs": [1, 2]}',
    "UTF-16": '{"name": "a"}'.encode("utf-16"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD)
def test_what_is_no_job_is_refused(small: Running, name: str) -> None:
    response = small.client.post("/v1/jobs", content=BAD[name], headers={"Content-Type": "application/json"})
    assert response.status_code == 422, response.text
    assert set(response.json()) == {"where", "field", "problem"}
    assert small.controller.seq == 0


def test_other_content_than_json_is_refused(small: Running) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json"):
        response = small.client.post("/v1/jobs", content=b"a=1", headers={"Content-Type": kind})
        assert response.status_code == 415, kind


@pytest.mark.parametrize(
    "path",
    ["/v1/jobs/%00", "/v1/jobs/%ff%fe", "/v1/parts/%00/fail", "/v1/parts/%2e%2e/fail", "/v1/parts/s0%3Es1%2399999/fail",
     "/v1/servers/s-1/drain", "/v1/servers/%F0%9F%A6%80/undrain", "/v1/jobs/" + "x" * 5000],
)  # fmt: skip
def test_odd_paths_are_answered(small: Running, path: str) -> None:
    response = small.client.request("GET" if path.startswith("/v1/jobs") else "POST", path)
    assert response.status_code in (404, 405, 409, 414), response.text


@pytest.mark.slow
def test_a_full_queue_turns_others_away_and_recovers() -> None:
    """While one call holds the controller, few wait and the others are answered at once."""
    with running(most_queued=4, timeout_s=2 * MOST_S) as site:
        site.submit("first")
        is_held, go_on = threading.Event(), threading.Event()

        class Held:
            period_s = 100.0

            def tick(self) -> None:
                with site.controller.group():
                    is_held.set()
                    go_on.wait(2 * MOST_S)

        holder = threading.Thread(target=Held().tick)
        holder.start()
        assert is_held.wait(MOST_S)
        found: list[httpx.Response] = []

        def ask(number: int) -> None:
            with httpx.Client(base_url=site.client.base_url, headers=site.client.headers, timeout=2 * MOST_S) as client:
                found.append(client.post("/v1/jobs", json=job(f"j{number}")))

        askers = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
        for asker in askers:
            asker.start()
        until(lambda: len(found) >= 14)
        assert {response.status_code for response in found} == {429}
        assert all(int(response.headers["retry-after"]) > 0 for response in found)
        go_on.set()
        for thread in (holder, *askers):
            thread.join()
        taken = sum(response.status_code == 200 for response in found)
        assert taken in (4, 5, 6), "four in the queue, and those that the writer had in hand"
        assert site.controller.seq == 1 + taken
        assert site.submit("last")["seq"] == 2 + taken


@pytest.mark.slow
def test_what_takes_too_long_is_given_up() -> None:
    controller = small_controller("lightpath")
    controller.submit(request("a"))
    with running(controller, timeout_s=1.0) as site:
        with site.controller.group():
            response = site.client.get("/v1/jobs/a")
        assert response.status_code == 504
        assert "same Idempotency-Key" in response.json()["problem"]
        assert site.client.get("/v1/jobs/a").status_code == 200


@pytest.mark.slow
def test_an_error_of_its_own_is_told_as_such(site: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """One call that breaks undoes its group; the others of it happen all the same."""

    def broken(name: str) -> None:
        raise RuntimeError("boom")

    with monkeypatch.context() as patch:
        patch.setattr(site.controller, "job", broken)
        response = site.client.get("/v1/jobs/a")
    assert response.status_code == 500
    assert set(response.json()) == {"where", "field", "problem"}
    assert "boom" not in response.text
    assert site.submit("a")["seq"] == 1


def test_a_request_keeps_the_number_it_came_with(small: Running) -> None:
    def told(given: str) -> str:
        return small.client.get("/healthz", headers={"X-Request-ID": given}).headers["x-request-id"]

    assert told("abc-1.2") == "abc-1.2"
    for odd in ("a b", "x" * 65, '"', ""):
        assert told(odd) != odd
    assert told("") != told("")


@pytest.mark.slow
def test_figures_are_of_this_moment(site: Running) -> None:
    def figures() -> dict[str, float]:
        lines = [line for line in site.client.get("/metrics").text.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}

    site.submit("a", 32)
    site.submit("b", 8)
    site.client.post("/v1/parts/s0%3Es1%230/fail")
    site.client.get("/v1/jobs/nobody")
    found: dict[str, Any] = figures()
    assert found["photonplan_running_jobs"] == 1
    assert found["photonplan_waiting_jobs"] == 1
    assert found["photonplan_free_accelerators"] == site.controller.num_free
    assert found["photonplan_down_parts"] == 1
    assert found["photonplan_journal_seq"] == 3
    assert found['photonplan_decisions_total{kind="start"}'] >= 1
    assert found['photonplan_requests_total{method="POST",route="/v1/jobs",status="200"}'] == 2
    assert found['photonplan_requests_total{method="GET",route="/v1/jobs/{name:path}",status="404"}'] == 1
    assert found['photonplan_event_seconds_count{event="submit"}'] == 2
    assert found['photonplan_searches_total{outcome="greedy"}'] >= 1
    site.client.request("BREW", "/v1/jobs")
    site.client.delete("/v1/jobs/a")
    assert figures()["photonplan_running_jobs"] == 1, "b has room now"


def test_a_full_queue_turns_events_away_unread(small: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer comes before the body: what is refused costs little. Questions are still asked."""
    monkeypatch.setattr(type(small.service), "is_busy", True)
    head = "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n"
    assert raw(small, f"{head}\r\n".encode())[0] == 401
    status, text = raw(small, f"{head}Authorization: Bearer {TOKEN}\r\n\r\n".encode())
    assert status == 429
    assert "retry-after: 1" in text.lower()
    assert small.client.delete("/v1/jobs/a").status_code == 429
    assert small.client.get("/v1/jobs").status_code == 200
    assert small.client.get("/healthz").status_code == 200
