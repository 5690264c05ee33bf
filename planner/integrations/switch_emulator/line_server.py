"""Sockets on loopback for switches that speak in lines: one for each switch, served from a thread of their own."""

import asyncio
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from planner.integrations.switch_emulator.line_session import LineSession
from planner.integrations.switch_emulator.server import Certificate, listen_on

READ_BYTES = 1 << 16
NewSession = Callable[[str], LineSession]
"""of the switch of this name"""


@contextmanager
def serving_lines(
    names: list[str],
    session_of: NewSession,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    certificate: Certificate | None = None,
) -> Iterator[Mapping[str, str]]:
    """Addresses by switch, from `port` on (0: free ones); with a certificate over TLS. InputError where a port is
    taken."""
    sockets = {name: listen_on(host, port + place if port else 0) for place, name in enumerate(names)}
    context = _context(certificate)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> list[asyncio.Server]:
        return [
            await asyncio.start_server(_Connections(name, session_of), sock=each, ssl=context)
            for name, each in sockets.items()
        ]

    shown = f"[{host}]" if ":" in host else host
    scheme = "tcp" if certificate is None else "tls"
    addresses = {name: f"{scheme}://{shown}:{each.getsockname()[1]}" for name, each in sockets.items()}
    servers = asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield addresses
    finally:
        asyncio.run_coroutine_threadsafe(_stop(servers), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


class _Connections:
    """Serves each connection to one switch."""

    def __init__(self, name: str, session_of: NewSession) -> None:
        self._name, self._session_of = name, session_of

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = self._session_of(self._name)
        with suppress(OSError, asyncio.CancelledError):
            while not session.is_closed and (data := await reader.read(READ_BYTES)):
                for reply in session.receive(data):
                    if reply.wait_s:
                        await writer.drain()
                        await asyncio.sleep(reply.wait_s)
                    writer.write(reply.data)
                await writer.drain()
        writer.close()


async def _stop(servers: list[asyncio.Server]) -> None:
    for each in servers:
        each.close()
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _context(certificate: Certificate | None) -> ssl.SSLContext | None:
    if certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.certificate, certificate.key)
    return context
