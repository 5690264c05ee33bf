"""Shared by the tests of `logs`, `middleware` and `rate_limit`."""

import socket

import httpx

from tests.planner.service.running import MOST_S, Running


def raw(site: Running, text: bytes) -> tuple[int, str]:
    """Status and head of what bytes on a connection are answered, which the server then closes or not."""
    url = httpx.URL(site.client.base_url)
    with socket.create_connection((url.host, url.port or 0), timeout=MOST_S) as connection:
        connection.sendall(text)
        head = b""
        while b"\r\n\r\n" not in head and (part := connection.recv(4096)):
            head += part
    return int(head[9:12]), head.decode("latin-1").lower()
