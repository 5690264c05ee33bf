"""Sockets on loopback and the HTTP server behind them."""

import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from planner.integrations.switch_emulator.application import REFEREE, Application, Login
from planner.integrations.switch_emulator.emulator import Emulator
from planner.integrations.switch_emulator.restconf import ROOT
from planner.model.errors import InputError

STOP_S = 1
"""for requests that are under way when it is stopped; those that hang never end"""
START_S = 10.0
BACKLOG = 1024


@dataclass(frozen=True)
class Certificate:
    """Files in PEM."""

    certificate: Path
    key: Path | None = None

    def require_usable(self) -> None:
        """InputError where they are no pair."""
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.certificate, self.key)
        except (OSError, ssl.SSLError) as error:
            problem = f"no certificate with its key in PEM: {error.strerror or error}"
            raise InputError(str(self.certificate), "--certificate", problem) from None


@dataclass(frozen=True)
class Listening:
    """Open sockets, and who is behind them."""

    sockets: list[socket.socket]
    addresses: dict[str, str]
    """roots of RESTCONF by switch, and the address of the referee"""
    name_of_port: dict[int, str]


def listen(
    names: Sequence[str], host: str = "127.0.0.1", port: int = 0, *, is_by_path: bool = False, is_secure: bool = False
) -> Listening:
    """A socket for each switch from `port` on (0: free ones) or one for all, and one more for the referee."""
    given = [""] if is_by_path else [*names]
    sockets: list[socket.socket] = []
    try:
        for number in range(len(given) + 1):
            sockets.append(listen_on(host, port + number if port else 0))
    except InputError:
        for each in sockets:
            each.close()
        raise
    ports = [each.getsockname()[1] for each in sockets]
    shown = f"[{host}]" if ":" in host else host
    roots = [f"http{'s' if is_secure else ''}://{shown}:{each}" for each in ports]
    if is_by_path:
        addresses = {name: f"{roots[0]}/{name}{ROOT}" for name in names}
    else:
        addresses = {name: root + ROOT for name, root in zip(given, roots, strict=False)}
    addresses[REFEREE] = roots[-1]
    return Listening(sockets, addresses, dict(zip(ports, [*given, REFEREE], strict=True)))


def listen_on(host: str, port: int) -> socket.socket:
    """A socket of loopback, 0 for a free port; InputError where that cannot be."""
    _require_loopback(host)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        problem = f"cannot be listened on: {getattr(error, 'strerror', None) or error}; take another port"
        raise InputError(f"{host}:{port}", "", problem) from None


def _require_loopback(host: str) -> None:
    try:
        is_here = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_here = False
    if not is_here:
        raise InputError("--host", f"'{host}'", "is no address of loopback; take 127.0.0.1 or ::1")


def server(
    emulator: Emulator, listening: Listening, *, login: Login | None = None, certificate: Certificate | None = None
) -> uvicorn.Server:
    """To be run with the sockets."""
    configuration = uvicorn.Config(
        Application(emulator, listening.name_of_port, login),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        interface="asgi3",
        timeout_graceful_shutdown=STOP_S,
        ssl_certfile=certificate.certificate if certificate else None,
        ssl_keyfile=certificate.key if certificate else None,
    )
    return uvicorn.Server(configuration)


@contextmanager
def serving(
    emulator: Emulator,
    *,
    is_by_path: bool = False,
    login: Login | None = None,
    certificate: Certificate | None = None,
) -> Iterator[dict[str, str]]:
    """Served from a thread of this process; yields the addresses."""
    listening = listen([*emulator.switches], is_by_path=is_by_path, is_secure=certificate is not None)
    serves = server(emulator, listening, login=login, certificate=certificate)
    thread = threading.Thread(target=serves.run, args=(listening.sockets,), daemon=True)
    thread.start()
    deadline = time.monotonic() + START_S
    while not serves.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("the emulator does not come up")
        time.sleep(0.002)
    try:
        yield listening.addresses
    finally:
        serves.should_exit = True
        thread.join()
