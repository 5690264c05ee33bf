"""A switch of Polatis by what it says over a socket."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from planner.integrations.switch_drivers.ocs.config import load_switches
from planner.integrations.switch_drivers.ocs.scpi import ScpiSwitch
from tests.planner.integrations.switch_drivers.ocs.site import edited, unconnected


def switch(tmp_path: Path, url: str, **access: object) -> ScpiSwitch:
    site = unconnected(tmp_path, "torus", "scpi")
    own = {"url": url, "tries": 1, **access}
    edited(site.path, lambda data: data.update(switches={"x0": data["switches"]["*"] | own, **data["switches"]}))
    return ScpiSwitch(load_switches(site.path), "x0")


@contextmanager
def answering(*answers: bytes) -> Iterator[str]:
    """A server that answers each line with the next of these, and then nothing more."""

    def serve() -> None:
        connection, _ = listening.accept()
        with connection, connection.makefile("rb") as lines:
            left = list(answers)
            for _ in lines:
                if left:
                    connection.sendall(left.pop(0))

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"tcp://127.0.0.1:{listening.getsockname()[1]}"
