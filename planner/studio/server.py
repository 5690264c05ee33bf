"""The studio on a port of this machine, until it is interrupted."""

import secrets
import sys
import webbrowser
from collections.abc import Callable

import uvicorn

from planner.service.server import SWITCH_S, bind
from planner.studio.app import create_app
from planner.studio.session import Session

HOST = "127.0.0.1"
GRACE_S = 1
"""for streams that are open when it ends"""


def run(session: Session, port: int, tell: Callable[[str], None], *, opens: bool) -> None:
    """Serve a session; `tell` is given the address with its token. InputError where the port is taken.

    `opens`: in a browser, too.
    """
    sys.setswitchinterval(SWITCH_S)
    token = secrets.token_urlsafe(24)
    with bind(HOST, port) as listening:
        address = f"http://{HOST}:{listening.getsockname()[1]}/?token={token}"
        tell(address)
        if opens:
            webbrowser.open(address)
        server_of(session, token).run(sockets=[listening])


def server_of(session: Session, token: str) -> uvicorn.Server:
    """A server that has not begun; a search stops with it."""
    return uvicorn.Server(
        uvicorn.Config(
            create_app(session, token),
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="on",
            timeout_graceful_shutdown=GRACE_S,
        )
    )
