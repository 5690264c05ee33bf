"""A studio on a free port of this machine, and a client that has its cookie."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from planner.service.server import bind
from planner.studio.server import HOST, server_of
from planner.studio.session import Session
from tests.paths import ROOT

TOKEN = "token-of-a-test"
MOST_S = 120.0
GOLDEN = (ROOT / "instances/lumorph/golden.yaml").read_text("utf-8")
"""two servers of three tiles, of two jobs one runs"""


def session_of(folder: Path, text: str = GOLDEN) -> Session:
    """A session on a new file."""
    path = folder / "rack.yaml"
    path.write_text(text, encoding="utf-8")
    return Session(path, {"photonplan": "test"}, time_limit_s=30.0, workers=1)


@contextmanager
def served(session: Session) -> Iterator[str]:
    """Address with the token."""
    with bind(HOST, 0) as listening:
        server = server_of(session, TOKEN)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://{HOST}:{listening.getsockname()[1]}/?token={TOKEN}"
        finally:
            server.should_exit = True
            thread.join()
            session.slot.wait(MOST_S)


@contextmanager
def client(session: Session) -> Iterator[httpx.Client]:
    with served(session) as address, httpx.Client(timeout=MOST_S, follow_redirects=True, trust_env=False) as asking:
        assert asking.get(address).status_code == 200
        asking.base_url = httpx.URL(address).copy_with(query=None)
        yield asking


def ended(session: Session) -> dict[str, Any]:
    """How the search that runs ends."""
    session.slot.wait(MOST_S)
    end = time.monotonic() + MOST_S
    while session.slot.is_busy and time.monotonic() < end:
        time.sleep(0.01)
    assert session.slot.last is not None
    assert session.slot.last.ended is not None
    return session.slot.last.ended
