"""The HTTP server around the application: from an open socket to a graceful stop."""

import errno
import gc
import ipaddress
import logging
import socket
import sys
from types import FrameType

import uvicorn
from fastapi import FastAPI

from planner.model.collector import keep_for_good
from planner.model.errors import InputError
from planner.service.connections import ConnectionLimit, protocol
from planner.service.options import Options
from planner.service.service import Service

SWITCH_S = 0.001
"""after which a thread that computes lets others compute: answers do not wait for searches"""
GARBAGE = (20_000, 50, 100)
"""how many objects are made before garbage is looked for, and how seldom among the older ones"""
DRAIN_S = 30
"""for requests that are under way when the service is stopped"""
log = logging.getLogger("planner.serve")


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens; InputError where the port is taken or the host is none."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, UnicodeError) as error:
        raise InputError(f"{host}:{port}", "", f"{_why_not(error)}; take another --host or --port") from None


def _why_not(error: OSError | UnicodeError) -> str:
    """Why nothing can listen there."""
    if getattr(error, "errno", None) == errno.EADDRINUSE:
        return "cannot be listened on: another program does already"
    return f"cannot be listened on: {getattr(error, 'strerror', None) or error}"


def configuration(app: FastAPI, options: Options) -> uvicorn.Config:
    """Settings of the HTTP server; the log of requests is the middleware's, and addresses are those of connections."""
    limit = ConnectionLimit(options.most_connections, options.most_of_address, options.header_s)
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        ws="none",
        http=protocol(limit),
        timeout_graceful_shutdown=DRAIN_S,
    )


def run(app: FastAPI, service: Service, options: Options, listening: socket.socket) -> int:
    """Serve until a signal says stop: 0, or 1 where the journal was lost.

    What was loaded until now is for good: without it garbage is found in milliseconds, not in a tenth of a second.
    """
    sys.setswitchinterval(SWITCH_S)
    gc.collect()
    keep_for_good()
    gc.set_threshold(*GARBAGE)
    host, port = listening.getsockname()[:2]
    log.info("listening", extra={"fields": {"host": host, "port": port, "events": service.seq}})
    if not ipaddress.ip_address(host).is_loopback:
        log.warning("others can reach this service, and nothing encrypts the token: put a proxy with TLS before it")
    _Server(configuration(app, options), service).run(sockets=[listening])
    log.info("stopped", extra={"fields": {"events": service.seq, "is_lost": service.is_lost}})
    return int(service.is_lost)


class _Server(uvicorn.Server):
    """Stops at the first signal when all that was taken is answered, at the second at once; so too where the journal
    is lost: whoever started it starts it again."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True
        self._service.stop_accepting()

    async def on_tick(self, counter: int) -> bool:
        if self._service.is_lost:
            self._service.stop_accepting()
            return True
        return await super().on_tick(counter)
