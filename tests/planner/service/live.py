"""The live page and its data, on a bare server or the real one; things happen between one poll and the next."""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest.mock import patch

import uvicorn

from planner.controller import Controller
from planner.controller.history import columns
from planner.controller.switch_reconciler import Trouble
from planner.report.live import LIVE_HEADERS, live_html
from planner.service.app import create_app
from planner.service.live_state import live_state
from planner.service.options import Options
from planner.service.server import bind
from planner.service.service import Service

TOKEN = "a-secret" * 4
Step = Callable[[Controller], Any]
"""what happens before a poll is answered; a number is the status of its answer"""


@dataclass
class Live:
    """What the page asked for, and what it was answered."""

    controller: Controller
    steps: Sequence[Step | None]
    user: str = ""
    """script of a reader, for which the page gives up its protection"""
    troubles: dict[str, Trouble] = field(default_factory=dict)
    polls: int = 0
    asked: list[str] = field(default_factory=list)

    def page(self) -> str:
        if not self.user:
            return live_html()
        return re.sub("<meta http-equiv.*?>", "", live_html()).replace(
            "</body>", f"<script>{self.user}</script></body>"
        )

    def answer(self, path: str, token: str | None) -> tuple[int, str, dict[str, str]]:
        """Status, body and headers."""
        place, _, query = path.partition("?")
        self.asked.append(place)
        if place == "/":
            return 200, self.page(), {"Content-Type": "text/html; charset=utf-8", **LIVE_HEADERS}
        if place not in ("/v1/floor", "/v1/history"):
            return 404, "", {}
        if token != f"Bearer {TOKEN}":
            return 401, "{}", {}
        if place == "/v1/history":
            return 200, json.dumps(columns(self.controller.history())), {"Content-Type": "application/json"}
        if isinstance(status := self.step(), int):
            return status, "{}", {"Retry-After": "1"}
        found = live_state(self.controller, self.troubles)
        found["view"] = "process/"
        if query == f"since={found['seq']}&view=process%2F":
            found = {name: found[name] for name in ("seq", "at_s", "troubles")}
        return 200, json.dumps(found), {"Content-Type": "application/json"}

    def step(self) -> Any:
        """What happens before the next poll is answered."""
        step = self.steps[self.polls] if self.polls < len(self.steps) else None
        self.polls += 1
        return step(self.controller) if step else None

    def floor(self, controller: Controller, troubles: Mapping[str, Trouble]) -> dict[str, Any]:
        """In place of what the service says of its floor: the same, after a step."""
        self.step()
        return live_state(controller, troubles)


@contextmanager
def served_by_service(live: Live) -> Iterator[str]:
    """Address of the page of a real service."""
    app = create_app(Service(live.controller), Options(TOKEN.encode()))
    listening = bind("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="on"))
    thread = threading.Thread(target=server.run, args=([listening],))
    with patch("planner.service.read_routes.live_state", live.floor):
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def served(live: Live) -> Iterator[str]:
    """Address of the page."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            if self.path == "/favicon.ico":
                self.send_error(404)
                return
            status, body, headers = live.answer(self.path, self.headers.get("Authorization"))
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body.encode()))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
