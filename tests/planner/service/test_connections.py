"""Who only opens connections takes nobody's place for long, and health is answered beside them."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from tests.planner.service.running import BEARER, Running, job, running, until

HALF = b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-"


def address(site: Running) -> tuple[str, int]:
    return "127.0.0.1", site.client.base_url.port or 0


@contextmanager
def half_open(
    site: Running, number: int, text: bytes = HALF, source: str = "127.0.0.1"
) -> Iterator[list[socket.socket]]:
    """Connections on which a request begins and does not end."""
    with ExitStack() as stack:
        found = []
        for _ in range(number):
            found.append(stack.enter_context(socket.create_connection(address(site), 10, (source, 0))))
            found[-1].sendall(text)
        yield found


def is_closed(connection: socket.socket) -> bool:
    connection.settimeout(0.01)
    try:
        return connection.recv(1000) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


@pytest.mark.slow
def test_half_open_connections_are_closed_and_all_is_answered_again() -> None:
    with running(most_connections=40, most_of_address=30, header_s=0.5) as site:
        for text in (HALF, b"", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /"):
            with half_open(site, 30, text) as connections:
                until(lambda connections=connections: all(map(is_closed, connections)), 20)
            assert httpx.get(f"{site.client.base_url}/v1/jobs", headers=BEARER).status_code == 200


@pytest.mark.slow
def test_health_is_answered_whatever_others_hold() -> None:
    with running(most_connections=40, most_of_address=30, header_s=60) as site, half_open(site, 200):
        for _ in range(3):
            answer = httpx.get(f"{site.client.base_url}/healthz")
            assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
        refused = httpx.get(f"{site.client.base_url}/v1/jobs", headers=BEARER)
        assert (refused.status_code, refused.headers["connection"]) == (503, "close")
        assert refused.json()["problem"] == "has too many connections; come again"


@pytest.mark.slow
def test_one_address_leaves_room_for_others() -> None:
    with running(most_connections=40, most_of_address=30, header_s=60) as site, half_open(site, 200):
        transport = httpx.HTTPTransport(local_address="127.0.0.2")
        with httpx.Client(base_url=site.client.base_url, transport=transport, headers=BEARER) as other:
            for number in range(3):
                assert other.post("/v1/jobs", json=job(f"j{number}")).status_code == 200
        with half_open(site, 9, source="127.0.0.3"):
            assert httpx.get(f"{site.client.base_url}/healthz").status_code == 200


def test_places_of_connections_that_closed_are_free_again() -> None:
    with running(most_connections=6, most_of_address=5, header_s=60) as site:
        for _ in range(4):
            with half_open(site, 12):
                pass
        until(lambda: httpx.get(f"{site.client.base_url}/v1/jobs", headers=BEARER).status_code == 200, 20)


@pytest.mark.slow
def test_slow_but_steady_requests_are_answered() -> None:
    """A head that comes in parts, in time; then a pause between requests on the same connection."""
    text = f"GET /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: {BEARER['Authorization']}\r\n\r\n".encode()
    with running(header_s=1.0) as site, socket.create_connection(address(site), 10) as connection:
        for _ in range(2):
            for part in (text[:10], text[10:30], text[30:]):
                connection.sendall(part)
                time.sleep(0.1)
            assert connection.recv(10_000).startswith(b"HTTP/1.1 200")
            time.sleep(1.2)
