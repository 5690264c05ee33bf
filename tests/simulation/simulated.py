"""A world in place of the clock, the disk, the network, the threads and the system of controllers."""

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from planner.controller import claim, journal, journal_copies, journal_file, lease
from planner.controller.claim import Claim
from planner.controller.journal_file import Seen, connect
from planner.controller.lease import Beat
from planner.integrations import private_files
from planner.integrations.switch_drivers import recorded
from planner.service import command_queue, lease_keeper
from tests.planner.integrations.switch_drivers.ocs.controlled_world import controlled
from tests.simulation.disk import Connection, System
from tests.simulation.strands import Member
from tests.simulation.world import SimulatedWorld


@contextmanager
def simulated(world: SimulatedWorld) -> Iterator[None]:
    """A world in place of clock, disk, network, threads and the system of all processes."""

    def member() -> Member:
        assert world.strand is not None
        return world.strand.member

    def is_full() -> bool:
        return world.now_s < world.disk.full_s

    def connected(path: str) -> Any:
        if world.strand is None:
            return connect(path)
        found = Connection(connect(path), world.disk, is_full, world.point, world.committed)
        member().opened.append(found)
        return found

    def seen(path: str) -> Seen:
        found = Seen(path)
        if world.strand is not None:
            member().opened.append(found)
        return found

    def locked(path: Path) -> int:
        file = os.open(path, os.O_RDWR | os.O_CREAT, private_files.PRIVATE)
        member().locks.add(file)
        return file

    def ended(beat: Beat) -> bool:
        """What SIGKILL does: nothing on another machine."""
        if beat.machine != member().machine:
            return False
        here = world.strand
        for each in world.members:
            if each.pid == beat.pid and not each.is_dead:
                each.is_dead = True
                world.reap(each)
                world.strand = here
        return True

    def began(pid: int) -> int:
        return next((each.pid for each in world.members if each.pid == pid and not each.is_dead), 0)

    def worked(each: Claim) -> str:
        return next((str(other.steps) for other in world.members if other.pid == each.process.pid), "")

    clock = SimpleNamespace(
        monotonic=lambda: world.now_s, perf_counter=lambda: world.now_s, sleep=world.sleep,
        clock_gettime=lambda which: world.now_s, CLOCK_BOOTTIME=7, CLOCK_MONOTONIC=1,
    )  # fmt: skip
    system = System(world.disk, is_full, lambda: member().locks)
    names = SimpleNamespace(getpid=lambda: member().pid)
    with controlled(world), ExitStack() as stack:
        for where, name, what in (
            (journal, "connect", connected), (journal, "Seen", seen), (journal_file, "BUSY_S", 0.0),
            (journal_copies, "BUSY_S", 0.0),
            (private_files, "os", system), (private_files, "open_lock", locked), (recorded, "open_lock", locked),
            (recorded, "os", system), (recorded, "time", clock), (lease, "time", clock), (lease, "os", _Over(names)),
            (lease, "machine", lambda: member().machine), (lease, "_began", began), (lease_keeper, "end_leader", ended),
            (lease_keeper, "subprocess", SimpleNamespace(run=_refused, TimeoutExpired=TimeoutError)),
            (claim, "machine", lambda: member().machine), (claim, "worked", worked), (command_queue, "time", clock),
        ):  # fmt: skip
            stack.enter_context(mock.patch.object(where, name, what))
        stack.enter_context(_quiet("planner"))
        try:
            yield
        finally:
            for each in world.members:
                world.reap(each)


class _Over:
    """`os` with some names of its own."""

    def __init__(self, names: Any) -> None:
        self._names = names

    def __getattr__(self, name: str) -> Any:
        return getattr(self._names, name, None) or getattr(os, name)


def _refused(*_: Any, **__: Any) -> Any:
    """A fence that cannot reach the other machine."""
    return SimpleNamespace(returncode=1)


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    log = logging.getLogger(name)
    handler, was_told, level = logging.NullHandler(), log.propagate, log.level
    log.addHandler(handler)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.propagate, log.level = was_told, level
