"""The file behind a controller: who may read it, who may write, and what is in it when."""

import sqlite3
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from planner.controller import Controller, Quota, Settings, Start
from planner.controller import job_classes as kinds_module
from planner.controller import journal as journal_module
from planner.model.errors import InputError
from tests.oracles.controller import replayed
from tests.planner.controller.journal_cases import ROOMY
from tests.planner.controller.sites import request, started
from tests.planner.simulate.grounds import cluster


def test_the_file_is_for_its_owner_alone_and_waits_for_the_disk(path: Path) -> None:
    with Controller(cluster("fat_tree"), path, ROOMY) as c:
        c.submit(request("a", 4))
        for each in path.parent.iterdir():
            assert stat.S_IMODE(each.stat().st_mode) == 0o600, each.name
        database = c._durable.journal._db
        assert database.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert database.execute("PRAGMA synchronous").fetchone()[0] == 2


def test_an_event_is_on_disk_before_its_answer(path: Path) -> None:
    """Read by somebody else right after the answer, while the controller goes on."""
    with Controller(cluster("lightpath"), path, ROOMY) as c:
        for number in range(5):
            c.submit(request(f"j{number}", 4))
            copy = path.parent / "copy"
            copy.mkdir(exist_ok=True)
            for each in path.parent.glob("journal.db*"):
                (copy / each.name).write_bytes(each.read_bytes())
            assert set(replayed(copy / "journal.db").jobs) == {f"j{i}" for i in range(number + 1)}


def test_resuming_reads_the_last_snapshot_and_what_came_after(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Controller(cluster("fat_tree"), path, Settings(snapshot_every=4, greedy_budget_s=9)) as c:
        for number in range(10):
            c.submit(request(f"j{number}", 1), at_s=number)
        state = c.state()
        assert c._durable.journal.last_snapshot() is not None
        c._durable.journal.close()
        c._durable._is_lost = True
    read: list[int] = []
    real = journal_module.Journal.records

    def records(self: journal_module.Journal, after: int = 0):  # type: ignore[no-untyped-def]
        for record in real(self, after):
            read.append(record.seq)
            yield record

    monkeypatch.setattr(journal_module.Journal, "records", records)
    with Controller(journal=path) as again:
        assert again.state() == state
    assert read == [9, 10]


def test_settings_that_are_given_replace_those_of_the_journal(path: Path) -> None:
    Controller(cluster("fat_tree"), path, Settings(depth=7)).close()
    with Controller(journal=path) as c:
        assert c.settings.depth == 7
    with Controller(journal=path, settings=Settings(depth=9)) as c:
        assert c.settings.depth == 9
    with Controller(journal=path) as c:
        assert c.settings.depth == 9


def test_threads_take_turns(path: Path) -> None:
    with Controller(cluster("fat_tree"), path, ROOMY) as c:
        c.prepare(request("kind", 1))

        def submit(first: int) -> None:
            for number in range(first, 24, 4):
                c.submit(request(f"j{number}", 1), key=f"k{number}")
                c.submit(request(f"j{number}", 1), key=f"k{number}")

        threads = [threading.Thread(target=submit, args=(first,)) for first in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(c.running) == 24
        assert c.seq == 24
        assert c.check() == []


@pytest.mark.slow
def test_old_events_are_forgotten_with_what_they_alone_name(path: Path) -> None:
    """The last events, all that jobs of today stand on, and nothing else: a job outlives the event that started it."""
    rules = Settings(snapshot_every=5, keep_events=10, greedy_budget_s=9, quotas={"q": Quota(accelerators=4)})
    with Controller(cluster("lightpath"), path, rules) as c:
        first = c.submit(request("first", 16), key="first")
        c.submit(request("runs", 4, tenant="q"))
        waits = c.submit(request("waits", 4, tenant="q"))
        for number in range(40):
            c.submit(request(f"j{number}", 2 if number < 20 else 1), key=f"k{number}")
            c.finish(f"j{number}")
        place, state = c.running["first"], c.state()
    database = sqlite3.connect(path)
    seqs = [row[0] for row in database.execute("SELECT seq FROM events ORDER BY seq")]
    assert seqs == list(range(74, 84))
    named = {table: {r[0] for r in database.execute(f"SELECT * FROM {table}")} for table in ("kinds", "wirings")}
    assert len(named["kinds"]) == 3, "of the large job, of those of the tenant, and of the last ones"
    assert place.wiring.name in named["wirings"]
    assert len(named["wirings"]) == 3, "of the two jobs that run, and that of a single accelerator"
    database.close()
    with Controller(journal=path) as c:
        assert c.state() == state
        assert c.running["first"].circuits == place.circuits
        assert c.seq == 83
        with pytest.raises(InputError, match="given to another event"):
            c.cancel("first", key="k39")
        assert [d.body() for d in c.submit(request("first", 16))] == [d.body() for d in first]
        assert c.submit(request("waits", 4, tenant="q")) == waits
        again = c.submit(request("j0", 2), key="k0")
        assert started(again) == ["j0"], "its key is as old as its event, and forgotten"
        assert c.seq == 84
        assert c.check() == []


def test_what_was_forgotten_is_written_again_when_it_comes_back(path: Path) -> None:
    with Controller(cluster("lightpath"), path, Settings(snapshot_every=2, keep_events=2, greedy_budget_s=9)) as c:
        for number in range(30):
            c.submit(request(f"j{number}", 2 if number % 10 < 2 else 1))
            c.finish(f"j{number}")
        c.submit(request("last", 2))
        state = c.state()
    with Controller(journal=path) as c:
        assert c.state() == state
        assert c.check() == []


def test_kinds_of_jobs_that_have_ended_are_not_expanded_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Controller(cluster("fat_tree"), path, ROOMY) as c:
        for number, size in enumerate((1, 2, 4, 8)):
            c.submit(request(f"j{number}", size), key=f"k{number}")
        for number in range(3):
            c.finish(f"j{number}")
    expanded: list[str] = []
    real = kinds_module.JobClasses._add

    def add(kinds: kinds_module.JobClasses, name: str, text: str, **how: Any) -> None:
        expanded.append(name)
        real(kinds, name, text, **how)

    monkeypatch.setattr(kinds_module.JobClasses, "_add", add)
    with Controller(journal=path) as c:
        assert len(expanded) == 1
        assert started(c.submit(request("j0", 1), key="k0")) == ["j0"]
        assert len(expanded) == 2


def test_an_answer_that_changed_nothing_is_remembered_under_its_key(path: Path) -> None:
    """It comes again after the world has changed, and still changes nothing."""
    with Controller(cluster("fat_tree"), path, ROOMY) as c:
        (start,) = c.submit(request("a", 4), key="first")
        assert [d.body() for d in c.submit(request("a", 4), key="again")] == [start.body()]
        c.fail("s0.g7")
        assert c.fail("s0.g7", key="part") == ()
        c.drain("s2")
        assert c.drain("s2", key="server") == ()
        assert c.replan(0.1, key="look") == ()
        assert c.seq == 7
        assert [event.seq for event in c.decided(0, 100) if any(isinstance(d, Start) for d in event.decisions)] == [1]
        for job, part in (("a", "s0.g7"), ("b", "s2")):
            if job in c.running:
                c.finish(job)
            c.repair(part)
        before, state = c.seq, c.state()
    with Controller(journal=path) as c:
        assert [d.body() for d in c.submit(request("a", 4), key="again")] == [start.body()]
        assert c.fail("s0.g7", key="part") == c.drain("s2", key="server") == c.replan(0.1, key="look") == ()
        assert (c.seq, c.state()) == (before, state)
