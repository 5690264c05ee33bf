"""One controller leads, others read; who has lost the lead writes nothing and is told so."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.controller import Controller, Settings, journal, journal_file
from planner.controller.journal import Journal
from planner.controller.lease import read_beat
from planner.model.errors import DeposedError, InputError, UnwrittenError
from tests.oracles.controller import replayed
from tests.planner.controller.sites import request
from tests.planner.simulate.grounds import cluster

RULES = Settings(greedy_budget_s=60, repair_budget_s=0, snapshot_every=3, keep_events=9)


def lose_locks(controller: Controller) -> None:
    """As where a file server has not heard of a machine for too long."""
    seen = controller._durable.journal._seen
    assert seen is not None
    os.close(seen._file)
    seen._file = os.open("/dev/null", os.O_RDWR)


def test_who_stands_by_answers_and_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_file, "BUSY_S", 0.1)
    path = tmp_path / "j.db"
    with Controller(cluster("lightpath"), path, RULES) as leader:
        leader.submit(request("a", 16), key="k")
        leader.leadership.hold_lease("http://leader")
        with Controller(journal=path, is_standby=True) as standby:
            for i in range(12):
                leader.submit(request(f"j{i}", 2))
                leader.cancel(f"j{i}")
                with standby.group():
                    assert standby.state() == leader.state()
                    assert standby.circuits() == leader.circuits()
                    assert standby.seq == leader.seq
            standby.refresh()
            assert [event.seq for event in standby.decided(20, 100)] == [21, 22, 23, 24, 25]
            before = leader.state()
            refused: list[Callable[[], Any]] = [
                lambda: standby.submit(request("b")), lambda: standby.cancel("a"), lambda: standby.fail("s0.t1"),
                lambda: standby.replan(0.1), standby.set_clock,
            ]  # fmt: skip
            for call in refused:
                with pytest.raises(UnwrittenError, match="at http://leader, for which this one stands by"):
                    call()
            standby.probe()
            assert leader.state() == before == standby.state()
            with pytest.raises(InputError, match="another controller uses it"):
                standby.lead()
            assert standby.state() == before
        assert (beat := read_beat(str(path))) is not None
        assert beat.term == leader.leadership.journal.term == 1


def test_who_leads_next_goes_on_from_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    leader = Controller(cluster("lightpath"), path, RULES)
    leader.submit(request("a", 16), key="k")
    standby = Controller(journal=path, is_standby=True)
    with pytest.raises(UnwrittenError):
        standby.require_leading()
    answer = leader.submit(request("b", 4), key="l")
    leader.close()
    with pytest.raises(DeposedError):
        leader.require_leading()
    standby.lead()
    assert standby.require_leading() == 2
    assert [d.body() for d in standby.submit(request("b", 4), key="l")] == [d.body() for d in answer]
    standby.submit(request("c", 4))
    assert list(standby.running) == ["a", "b", "c"]
    assert standby.check() == []
    standby.close()


def test_a_leader_without_locks_writes_nothing_once_another_leads(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    old = Controller(cluster("lightpath"), path, RULES)
    old.submit(request("a", 16), key="k")
    lose_locks(old)
    with Controller(journal=path, settings=RULES) as new:
        new.submit(request("b", 4))
        wanted, text = new.state(), path.with_name("j.db-wal").read_bytes()
        journal = old._durable.journal
        with pytest.raises(DeposedError, match="in term 2; this one had 1"), old.group():
            old.cancel("a")
        for call in (
            lambda: old.submit(request("c")), lambda: old.submit(request("a", 16), key="k"), old.probe,
            old._durable.snapshot,
        ):  # fmt: skip
            with pytest.raises((DeposedError, RuntimeError)):
                call()
        for write in (
            journal.begin_group, journal.probe, lambda: journal.set_meta({"x": "y"}),
            lambda: journal.append(None, {"e": "replan"}, [], {}), lambda: journal.snapshot({"jobs": []}, 0),
        ):  # fmt: skip
            with pytest.raises(DeposedError):
                write()
        with pytest.raises(DeposedError):
            old.require_leading()
        assert path.with_name("j.db-wal").read_bytes() == text
        assert new.state() == wanted
        new.submit(request("d", 2))
    assert list(replayed(path).jobs) == ["a", "b", "d"]
    old.close()


def test_each_writer_has_a_term_of_its_own(tmp_path: Path) -> None:
    terms = []
    for _ in range(3):
        journal = Journal(tmp_path / "j.db")
        terms.append((journal.term, journal.last_term))
        journal.close()
    assert terms == [(1, 1), (2, 2), (3, 3)]
    with pytest.raises(InputError, match="cannot be read"):
        Journal(tmp_path / "other.db", is_reader=True)


def test_the_log_of_who_took_the_lead_stays_when_another_process_has_read_it(tmp_path: Path) -> None:
    """SQLite removes the log with the last connection, as locks tell: whoever leads must keep its own."""
    path = tmp_path / "j.db"
    Controller(cluster("torus"), path, RULES).close()
    reads = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); " + (
        "print(db.execute('SELECT max(seq) FROM events').fetchone()[0]); db.close()"
    )

    def last() -> int:
        return int(subprocess.run([sys.executable, "-c", reads, path], capture_output=True, check=True).stdout)

    with Controller(journal=path, is_standby=True) as standby:
        standby.lead()
        for number in (1, 2):
            standby.submit(request(f"j{number}", 16))
            assert last() == number


@pytest.mark.parametrize("call", ["claim", "disclaim", "connect"])
def test_a_start_that_fails_leaves_the_journal_to_others(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full, or no more files that may be open, right after the lock is taken."""
    path = tmp_path / "j.db"
    Journal(path).close()

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(journal if call == "connect" else journal_file, call, fails)
        with pytest.raises(OSError, match="No space left"):
            Journal(path, is_leased=True)
    assert not journal_file.is_held(str(path))
    Journal(path, is_leased=True).close()
