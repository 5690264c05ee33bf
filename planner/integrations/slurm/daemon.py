"""`planner slurm run`: tick after tick until it is told to stop."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from planner.controller.controller import Controller
from planner.integrations.private_files import make_private
from planner.integrations.slurm.allocations import AllocationStore
from planner.integrations.slurm.client import SlurmClient
from planner.integrations.slurm.commands import SlurmError
from planner.integrations.slurm.config import SlurmSite
from planner.integrations.slurm.executor import Log
from planner.integrations.slurm.hooks import driver_in, hooks_file
from planner.integrations.slurm.lock import is_alone
from planner.integrations.slurm.loop import Loop
from planner.integrations.slurm.status import write_desired_state
from planner.integrations.switch_drivers import CircuitError
from planner.model.errors import InputError

LONGEST_PAUSE_S = 10.0
NUM_COMMANDS = 4
"""of Slurm at a time"""
LOCK_WAIT_S = 10.0
"""that a look by `planner slurm status` is waited for"""


def run(site: SlurmSite, log: Log, *, once: bool = False) -> None:
    """Place jobs until SIGTERM or SIGINT; `once`: a single tick. InputError where it cannot start."""
    os.umask(0o077)
    state = site.config.state
    _require(state, site.config.bindings)
    stop = threading.Event()
    with _stopped_by_signals(stop), _only_one(state):
        store = AllocationStore(state, site.config.bindings)
        with Controller(site.cluster, state / "journal.db", site.config.settings) as controller:
            loop = Loop(site, controller, SlurmClient(), driver_in(state), store, log, NUM_COMMANDS)
            for path in store.sweep():
                log("damaged", file=str(path))
            log("start", pid=os.getpid(), events=controller.seq)
            _tick_on(loop, stop, log, once=once)
        log("stop")


def _tick_on(loop: Loop, stop: threading.Event, log: Log, *, once: bool) -> None:
    state, poll_s = loop.site.config.state, loop.site.config.poll_s
    pause_s = poll_s
    while not stop.is_set():
        began_s = time.monotonic()
        try:
            loop.tick(lambda: not stop.is_set())
            pause_s = poll_s
        except (SlurmError, CircuitError, OSError) as error:
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            log("unreachable", said=str(error), again_in_s=pause_s)
            if once:
                raise InputError("slurm", "run", str(error)) from None
        write_desired_state(state, loop.desired(), loop.controller.seq)
        took_s = time.monotonic() - began_s
        if loop.num_actions:
            log("tick", acts=loop.num_actions, took_s=round(took_s, 4), planning_s=round(loop.planning_s, 4))
        if once:
            return
        stop.wait(max(0.0, pause_s - took_s))


def _require(state: Path, bindings: Path) -> None:
    make_private(state)
    if state.stat().st_mode & 0o077:
        raise InputError("slurm.yaml", "state", f"{state} is open to others than its owner; chmod 700 {state}")
    for path in (hooks_file(state), bindings):
        if not path.exists():
            raise InputError("slurm.yaml", "state", f"{path} is not there; install first: planner slurm install")


@contextmanager
def _only_one(state: Path) -> Iterator[None]:
    end = time.monotonic() + LOCK_WAIT_S
    while True:
        with is_alone(state) as alone:
            if alone:
                yield
                return
        if time.monotonic() > end:
            raise InputError("slurm.yaml", "state", f"another daemon works with {state}; stop that one first")
        time.sleep(0.1)


@contextmanager
def _stopped_by_signals(stop: threading.Event) -> Iterator[None]:
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
