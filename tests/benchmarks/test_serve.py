"""The benchmark of the service runs, and what it drives is sound; how quick, only the benchmark itself says."""

import asyncio

import pytest

from tests.benchmarks.bench_serve import Client, Connection, main


@pytest.mark.slow
def test_a_service_under_load_and_overload_answers_each_request() -> None:
    empty, normal, overload, recovered = main(
        [
            "--seconds",
            "1",
            "--rate",
            "100",
            "--overload",
            "40",
            "--",
            "--rate",
            "200",
            "--queue",
            "64",
            "--queue-time",
            "600",
        ]
    )
    assert set(empty.latencies_s) == set(normal.latencies_s) == {200}
    assert set(overload.latencies_s) == {200, 429}
    assert sum(map(len, overload.latencies_s.values())) == overload.due
    assert set(recovered.latencies_s) == {200}


def test_a_connection_that_the_service_has_closed_is_not_asked_again() -> None:
    """An idle one is closed after some seconds: the client notices, and takes a new one."""

    async def ask() -> tuple[int, int]:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        client = Client(server.sockets[0].getsockname()[1], "token", 1)
        _, connection = await asyncio.get_running_loop().create_connection(
            Connection, "127.0.0.1", server.sockets[0].getsockname()[1]
        )
        first = await client.empty(connection)
        while connection.is_open:
            await asyncio.sleep(0.01)
        second = await asyncio.wait_for(client.empty(connection), 5)
        server.close()
        return first, second

    assert asyncio.run(ask()) == (200, 0)
