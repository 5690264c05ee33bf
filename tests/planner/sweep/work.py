"""Functions that cells of the tests do, wherever they run, and a command that is killed."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from planner.sweep.store import Document
from planner.sweep.types import ShouldStop
from tests.paths import ROOT

COMMAND = (sys.executable, "-c", "import sys; from planner.cli import main; sys.exit(main(sys.argv[1:]))")
MOST_S = 240.0
"""until what must come has come, on a slow machine that does much else"""
NODES = 2


def square(shared: int, cell: int, should_stop: ShouldStop) -> Document:
    return {"square": cell * cell + shared, "worker": os.getpid()}


def die_once(folder: Path, cell: int, should_stop: ShouldStop) -> Document:
    """Cell 2 kills its worker the first time."""
    mark = folder / "died"
    if cell == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"square": cell * cell}


def die(shared: None, cell: int, should_stop: ShouldStop) -> Document:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def plan_or_die_once(folder: Path, shared: Any, cell: Any, should_stop: ShouldStop) -> Document:
    """Racks planned anew; the first worker is killed."""
    from planner.cpsat.lns.racks import plan_racks

    if not (folder / "rack-died").exists():
        (folder / "rack-died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    found = plan_racks(shared, cell, should_stop)
    (folder / "rack-planned").touch()
    return found


def refuse(shared: None, cell: int, should_stop: ShouldStop) -> Document:
    from planner.model.errors import InputError

    raise InputError("file", "field", f"is wrong in cell {cell}")


def noting(shared: tuple[Callable[..., Document], Any, Path], cell: Any, should_stop: ShouldStop) -> Document:
    """What another function does, and a mark of the Ray node that does it; the first one waits for the second."""
    import ray

    do, inner, folder = shared
    (folder / str(ray.get_runtime_context().get_node_id())).touch()
    deadline = time.monotonic() + MOST_S
    while len(list(folder.iterdir())) < NODES and time.monotonic() < deadline:
        time.sleep(0.01)
    return do(inner, cell, should_stop)


def command(*arguments: object) -> subprocess.Popen[bytes]:
    """`planner` in a session of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        env=environment, cwd=ROOT, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def stopped_after_some(running: subprocess.Popen[bytes], folder: Path, done: int, runs: int, number: int) -> int:
    """Send a signal after some of the runs that are left, at random; how many are done when no process is left."""
    after = random.randint(done + 1, (done + runs) // 2)
    deadline = time.monotonic() + MOST_S
    while running.poll() is None and time.monotonic() < deadline and len(list(folder.glob("*.json"))) < after:
        time.sleep(0.002)
    running.send_signal(number)
    running.communicate(timeout=MOST_S)
    while members(running.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert members(running.pid) == []
    return len(list(folder.glob("*.json")))


def members(session: int) -> list[int]:
    """Living processes of a session."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found
