"""The process dies at any write: what was acknowledged is there, what was not has not happened, nothing happens twice.

In the process every statement that writes is once the last: an error is thrown there and all memory is lost. A process
of its own is ended by `kill -9` at any time, also between write and answer. CI takes a tenth of the kills;
CONTROLLER_KILLS=1000 in the environment takes all.
"""

import os
import signal
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from planner.schedulers import Controller, Decision, Settings
from planner.schedulers import journal as journal_module
from tests.oracles.controller import faults, replayed
from tests.planner.replay.grounds import cluster
from tests.planner.schedulers.sites import request

KILLS = int(os.environ.get("CONTROLLER_KILLS", "100"))
RULES: dict[str, Any] = {"snapshot_every": 7, "greedy_budget_s": 5, "repair_budget_s": 1, "downtime_s": 5}
Call = Callable[[Controller], tuple[Decision, ...]]


class PowerCutError(Exception):
    """The machine stops here."""


class Faulty:
    """A connection that stops the machine at one of its statements."""

    def __init__(self, inner: sqlite3.Connection, left: list[int]) -> None:
        self._inner, self._left = inner, left

    def _count(self, statement: str) -> None:
        if not statement.startswith("SELECT"):
            self._left[0] -= 1
            if self._left[0] == 0:
                raise PowerCutError

    def execute(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        if self._left[0] <= 0:
            raise PowerCutError
        is_late = statement == "COMMIT" and self._left[0] % 2 == 0
        if is_late:
            self._inner.execute(statement, values)
        self._count(statement)
        return self._inner.cursor() if is_late else self._inner.execute(statement, values)

    def executemany(self, statement: str, rows: Any) -> sqlite3.Cursor:
        self._count(statement)
        return self._inner.executemany(statement, rows)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@contextmanager
def power_cut(monkeypatch: pytest.MonkeyPatch, after: int) -> Iterator[None]:
    """After so many writing statements every statement fails, until the machine is on again."""
    with monkeypatch.context() as patch:
        left, real, open_ones = [after], journal_module.connect, list[sqlite3.Connection]()

        def connect(path: str) -> Any:
            open_ones.append(real(path))
            return Faulty(open_ones[-1], left)

        patch.setattr(journal_module, "connect", connect)
        try:
            yield
        finally:
            for each in open_ones:
                each.close()


def script(seed: int, length: int) -> list[tuple[str, Call]]:
    """Events under keys, all of which can happen whatever was decided before."""
    random, calls, names = Random(seed), list[tuple[str, Call]](), list[str]()
    down: list[str] = []
    for i in range(length):
        key, what = f"k{i}", random.random()
        if what < 0.5 or not names:
            job = request(f"j{i}", random.choice([1, 2, 4, 8, 16]), duration_s=random.choice([None, 30, 90]),
                          priority=random.choice([0, 0, 3]))  # fmt: skip
            names.append(job.name)
            calls.append((key, lambda c, job=job, key=key, i=i: c.submit(job, key=key, at_s=i)))  # type: ignore[misc]
        elif what < 0.85:
            name = names.pop(random.randrange(len(names)))
            calls.append((key, lambda c, name=name, key=key, i=i: c.cancel(name, key=key, at_s=i)))  # type: ignore[misc]
        elif down:
            part = down.pop()
            calls.append((key, lambda c, part=part, key=key, i=i: c.repair(part, key=key, at_s=i)))  # type: ignore[misc]
        else:
            down.append(random.choice(["s0.t1", "s2.t3", "s0>s1#0", "s1.t4:port"]))
            calls.append((key, lambda c, part=down[-1], key=key, i=i: c.fail(part, key=key, at_s=i)))  # type: ignore[misc]
    return calls


def carry_on(path: Path, calls: list[tuple[str, Call]], answered: dict[str, list[Any]]) -> None:
    """All events again in order, as by a client that has lost its connection: what has happened is answered."""
    with Controller(cluster("lightpath"), path, Settings.model_validate(RULES)) as controller:
        assert faults(controller.running, set(controller.down), 8) == []
        done = controller.seq
        assert done >= len(answered), "an acknowledged event is lost"
        assert controller.reconcile(controller.circuits()) == ((), {})
        for i, (key, call) in enumerate(calls):
            bodies = [decision.body() for decision in call(controller)]
            assert bodies == answered.setdefault(key, bodies), "the answer has changed"
            assert controller.seq == max(done, i + 1), "an event is applied twice, or not at all"
        state = controller.state()
        assert controller.check() == []
    naive = replayed(path).state()
    assert {name: state[name] for name in naive} == naive


def run_until_cut(path: Path, calls: list[tuple[str, Call]], answered: dict[str, list[Any]]) -> None:
    """All events, then snapshots without end."""
    controller = Controller(cluster("lightpath"), path, Settings.model_validate(RULES))
    for key, call in calls:
        answered[key] = [decision.body() for decision in call(controller)]
    while True:
        controller._desk.snapshot()


@pytest.mark.parametrize("share", range(4))
def test_a_cut_at_any_write_loses_nothing(share: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every statement that writes, from the first to the last, is once the last one; COMMIT fails before and after."""
    cuts = 0
    for number in range(share, KILLS * 9 // 10, 4):
        path, calls = tmp_path / f"{number}.db", script(number % 5, 14)
        answered: dict[str, list[Any]] = {}
        with power_cut(monkeypatch, after=1 + number % 90), pytest.raises(PowerCutError):
            run_until_cut(path, calls, answered)
        cuts += 1
        carry_on(path, calls, answered)
    assert cuts >= KILLS * 9 // 40


def acknowledge(path: Path, calls: list[tuple[str, Call]], pipe: int) -> None:
    """Answer events as long as the process lives: their numbers, a byte each."""
    controller = Controller(cluster("lightpath"), path, Settings.model_validate(RULES))
    for number, (_, call) in enumerate(calls):
        call(controller)
        os.write(pipe, bytes([number]))
    os._exit(0)


def killed(path: Path, calls: list[tuple[str, Call]], after: int) -> list[int]:
    """Events that a child answered before it was killed, at once after so many answers."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            acknowledge(path, calls, writer)
        finally:
            os._exit(1)
    os.close(writer)
    answered: list[int] = []
    while len(answered) < after and (read := os.read(reader, 1)):
        answered += read
    os.kill(child, signal.SIGKILL)
    while read := os.read(reader, 100):
        answered += read
    os.close(reader)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGKILL
    return answered


@pytest.mark.parametrize("number", range(max(1, KILLS // 30)))
def test_a_killed_process_loses_nothing(number: int, tmp_path: Path) -> None:
    """Three times in a row; each time the client sends all its events again."""
    path, calls = tmp_path / "journal.db", script(number, 60)
    for after in (3 + number % 7, 12 + number % 11, 25 + number % 13):
        answered = killed(path, calls, after)
        assert answered == list(range(len(answered)))
        assert len(answered) >= after
        with Controller(journal=path) as controller:
            done = [record.body["at_s"] for record in controller._desk.journal.records()]
            assert done == list(range(len(done)))
            assert len(done) in (len(answered), len(answered) + 1), "one may be written whose answer was cut off"
            assert controller.check() == []
    carry_on(path, calls, {})
