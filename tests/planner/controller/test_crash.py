"""The process dies at any write: what was acknowledged is there, what was not has not happened, nothing happens twice.

In the process the machine stops right before and right after every statement that writes, all memory is lost. A process
of its own is ended by `kill -9` at any time, also between write and answer. A log that was written in part, up to any
byte, is a state of before. CI takes a tenth of the kills; CONTROLLER_KILLS=1000 in the environment takes all.
"""

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from planner.controller import Controller, Decision, Settings
from planner.model.errors import InputError
from tests.oracles.controller import faults, replayed
from tests.planner.controller.power_cuts import Point, PowerCutError, power_cut
from tests.planner.controller.sites import request
from tests.planner.simulate.grounds import cluster

KILLS = int(os.environ.get("CONTROLLER_KILLS", "100"))
RULES: dict[str, Any] = {"snapshot_every": 7, "greedy_budget_s": 5, "repair_budget_s": 1, "downtime_s": 5}
FEW = {"keep_events": 9, "snapshot_every": 3}
"""old events are forgotten, at every third event"""
SHORT = 14
"""events after which a new process has not tried less yet than one that knows what it tried: both decide alike"""
RESENT = 6
"""events that a client sends again, of those that it was told of, where old ones are forgotten"""
Call = Callable[[Controller], tuple[Decision, ...]]


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
            down.append(random.choice(["s0.t1", "s2.t3", "s0>s1#0", "s1.t4:port", "s3"]))
            calls.append((key, lambda c, part=down[-1], key=key, i=i: c.fail(part, key=key, at_s=i)))  # type: ignore[misc]
    return calls


def groups(calls: list[tuple[str, Call]], seed: int) -> Iterator[list[tuple[str, Call]]]:
    """Events one at a time, or several that become durable together."""
    random, first = Random(seed), 0
    while first < len(calls):
        number = random.choice([1, 1, 3])
        yield calls[first : first + number]
        first += number


def opened(path: Path, rules: dict[str, Any]) -> Controller:
    return Controller(cluster("lightpath"), path, Settings.model_validate(RULES | rules))


@cache
def undisturbed(seed: int, length: int) -> Any:
    """The state after all events of a controller that nothing happens to."""
    with opened(Path(":memory:"), {}) as controller:
        for _, call in script(seed, length):
            call(controller)
        return controller.state()


def carry_on(path: Path, seed: int, length: int, answered: dict[str, list[Any]], rules: dict[str, Any]) -> None:
    """Events again in order, as by a client that has lost its connection: what has happened is answered."""
    is_forgetful, calls = bool(rules), script(seed, length)
    with opened(path, rules) as controller:
        assert faults(controller.running, set(controller.state()["failed"]), 8) == []
        done = controller.seq
        assert done >= len(answered), "an acknowledged event is lost"
        for i, (key, call) in enumerate(calls):
            if is_forgetful and i < len(answered) - RESENT:
                continue
            bodies = [decision.body() for decision in call(controller)]
            assert bodies == answered.setdefault(key, bodies), "the answer has changed"
            assert controller.seq == max(done, i + 1), "an event is applied twice, or not at all"
        state = controller.state()
        assert controller.check() == []
    if not is_forgetful:
        naive = replayed(path).state()
        assert {name: state[name] for name in naive} == naive
    if length <= SHORT:
        assert undisturbed(seed, length) == state


def run_until_cut(path: Path, seed: int, answered: dict[str, list[Any]], rules: dict[str, Any]) -> None:
    """All events, those of a group are answered at its end; then the controller is closed."""
    controller, calls = opened(path, rules), script(seed, SHORT)
    for group in groups(calls, seed):
        told = {}
        with controller.group() if len(group) > 1 else nullcontext():
            for key, call in group:
                told[key] = [decision.body() for decision in call(controller)]
        answered |= told
    controller.close()


def points(monkeypatch: pytest.MonkeyPatch, path: Path, seed: int, rules: dict[str, Any]) -> list[Point]:
    """Statements that write, from the first to the last."""
    with power_cut(monkeypatch, (0, False)) as came:
        run_until_cut(path, seed, {}, rules)
    return came


@pytest.mark.slow
def test_a_cut_at_any_write_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Right before and right after each statement: the first of each sort first, all in a run of all kills."""
    plans = list[tuple[int, dict[str, Any], int, bool]]()
    first, others, wanted = list(plans), list(plans), set[Point]()
    for seed in range(6):
        rules = FEW if seed % 2 else {}
        for number, (words, where, _) in enumerate(points(monkeypatch, tmp_path / f"{seed}.db", seed, rules), 1):
            for is_done in (False, True):
                point = words, where, "done" if is_done else "not done"
                (others if point in wanted else first).append((seed, rules, number, is_done))
                wanted.add(point)
    Random(0).shuffle(others)
    plans, hit = [*first, *others[: max(0, KILLS * 8 // 10 - len(first))]], set[Point]()
    for name, (seed, rules, number, is_done) in enumerate(plans):
        path, answered = tmp_path / f"cut{name}.db", dict[str, list[Any]]()
        with power_cut(monkeypatch, (number, is_done)) as came, pytest.raises(PowerCutError):
            run_until_cut(path, seed, answered, rules)
        hit.add(came[-1])
        carry_on(path, seed, SHORT, answered, rules)
    assert hit == wanted
    said = {words for words, _, _ in hit}
    written = "meta", "kinds", "configurations", "wirings", "events", "snapshots", "uses"
    forgotten = "snapshots", "events", "wirings", "configurations", "uses"
    for part in ("CREATE", "COMMIT", *(f"INTO {name}" for name in written), *(f"FROM {name}" for name in forgotten)):
        assert any(part in words for words in said), f"no cut at {part}"
    assert ("INSERT INTO events VALUES (?,", "of a group", "done") in hit
    assert ("COMMIT", "of a group", "not done") in hit


def acknowledge(path: Path, calls: list[tuple[str, Call]], pipe: int) -> None:
    """Answer events as long as the process lives: their numbers, a byte each."""
    controller = opened(path, {})
    for number, (_, call) in enumerate(calls):
        call(controller)
        os.write(pipe, bytes([number]))
    signal.pause()


def killed(path: Path, calls: list[tuple[str, Call]], after: int, wait_s: float) -> list[int]:
    """Events that a child answered before it was killed, a moment after so many answers."""
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
    time.sleep(wait_s)
    os.kill(child, signal.SIGKILL)
    while read := os.read(reader, 100):
        answered += read
    os.close(reader)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGKILL
    return answered


@pytest.mark.slow
@pytest.mark.parametrize("number", range(max(1, KILLS // 15)))
def test_a_killed_process_loses_nothing(number: int, tmp_path: Path) -> None:
    """Three times in a row; each time the client sends all its events again."""
    random = Random(number)
    path, calls, before = tmp_path / "journal.db", script(number, 60), 0
    for after in (3 + number % 7, 12 + number % 11, 25 + number % 13):
        answered = killed(path, calls, after, random.uniform(0, 0.002))
        assert answered == list(range(len(answered)))
        assert len(answered) >= after
        with Controller(journal=path) as controller:
            done = [record.body["at_s"] for record in controller._durable.journal.records()]
            assert done == list(range(len(done)))
            least = max(before, len(answered))
            assert len(done) in (least, least + 1), "one may be written whose answer was cut off"
            before = len(done)
            assert controller.check() == []
    carry_on(path, number, 60, {}, {})


@pytest.mark.slow
def test_a_log_that_was_written_in_part_is_a_state_of_before(tmp_path: Path) -> None:
    """The write-ahead log ends at any byte: events up to some number are there, whole, and no more. That is told where
    the number of the last event is there still, as after a log was cut off; not so after a power cut, where no event
    of those that are missing was answered."""
    path, calls = tmp_path / "journal.db", script(3, 20)
    live, states, sizes = opened(path, {"snapshot_every": 1000}), dict[int, Any](), list[int]()
    log = path.with_name(path.name + "-wal")
    states[0] = live.state()
    for number, (_, call) in enumerate(calls, 1):
        call(live)
        states[number] = live.state()
        sizes.append(log.stat().st_size)
    copies = [file.name for file in tmp_path.iterdir()]
    random, numbers = Random(0), set[int]()
    for cut in range(max(5, KILLS // 10)):
        folder = tmp_path / f"cut{cut}"
        folder.mkdir()
        for name in copies:
            shutil.copy(tmp_path / name, folder)
        end = random.randint(sizes[0], sizes[-1])
        os.truncate(folder / log.name, end)
        if sum(size <= end for size in sizes) < len(sizes):
            with pytest.raises(InputError, match=f"but event {len(sizes)} was on disk"):
                Controller(journal=folder / path.name)
        (folder / f"{path.name}-seq").unlink()
        with Controller(journal=folder / path.name) as again:
            assert again.state() == states[again.seq]
            assert again.seq >= sum(size <= end for size in sizes)
            numbers.add(again.seq)
    live.close()
    assert len(numbers) >= min(4, KILLS // 20)
