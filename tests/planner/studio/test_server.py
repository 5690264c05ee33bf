"""The studio on a port of this machine."""

import threading
from pathlib import Path

import httpx
import pytest
import uvicorn

from planner.model.errors import InputError
from planner.service.server import bind
from planner.studio import server
from tests.planner.studio.served import session_of


def test_a_taken_port_is_refused(tmp_path: Path) -> None:
    with bind(server.HOST, 0) as taken, pytest.raises(InputError, match="cannot be listened on"):
        server.run(session_of(tmp_path), taken.getsockname()[1], lambda address: None, opens=False)


@pytest.mark.slow
def test_the_address_that_is_told_opens_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, made, told = list[str](), list[uvicorn.Server](), threading.Event()
    of = server.server_of
    monkeypatch.setattr(server.webbrowser, "open", lambda address: opened.append(address) or told.set())
    monkeypatch.setattr(server, "server_of", lambda *given: made.append(of(*given)) or made[0])
    thread = threading.Thread(
        target=server.run, args=(session_of(tmp_path), 0, opened.append), kwargs={"opens": True}
    )  # fmt: skip
    thread.start()
    try:
        assert told.wait(60)
        assert opened[0] == opened[1]
        assert httpx.get(opened[0], follow_redirects=False, trust_env=False).status_code == 303
        assert httpx.get(opened[0][:-3], follow_redirects=False, trust_env=False).status_code == 403
    finally:
        made[0].should_exit = True
        thread.join()
