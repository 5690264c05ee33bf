"""The file behind a controller: who may read it, who may write, and what is in it when."""

import sqlite3
import stat
import threading
from pathlib import Path

import pytest

from planner.errors import InputError
from planner.schedulers import Controller, Settings
from planner.schedulers import journal as journal_module
from tests.oracles.controller import replayed
from tests.planner.replay.grounds import cluster
from tests.planner.schedulers.sites import request, started


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def test_the_file_is_for_its_owner_alone_and_waits_for_the_disk(path: Path) -> None:
    with Controller(cluster("fat_tree"), path) as c:
        c.submit(request("a", 4))
        for each in path.parent.iterdir():
            assert stat.S_IMODE(each.stat().st_mode) == 0o600, each.name
        database = c._desk.journal._db
        assert database.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert database.execute("PRAGMA synchronous").fetchone()[0] == 2


def test_a_second_controller_is_kept_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "BUSY_S", 0.05)
    with Controller(cluster("fat_tree"), path), pytest.raises(InputError, match="another controller uses it"):
        Controller(journal=path)
    Controller(journal=path).close()


def test_other_files_and_clusters_are_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="say which cluster"):
        Controller(journal=path)
    Controller(cluster("fat_tree"), path).close()
    with pytest.raises(InputError, match="another cluster"):
        Controller(cluster("lightpath"), path)
    text = tmp_path / "notes.txt"
    text.write_text("nothing of the kind\n" * 100)
    with pytest.raises(InputError, match="not a database"):
        Controller(cluster("fat_tree"), text)
    database = sqlite3.connect(path)
    database.execute("UPDATE meta SET value = '99' WHERE name = 'format'")
    database.commit()
    database.close()
    with pytest.raises(InputError, match="format is 99"):
        Controller(journal=path)


def test_an_event_is_on_disk_before_its_answer(path: Path) -> None:
    """Read by somebody else right after the answer, while the controller goes on."""
    with Controller(cluster("lightpath"), path) as c:
        for number in range(5):
            c.submit(request(f"j{number}", 4))
            copy = path.parent / "copy"
            copy.mkdir(exist_ok=True)
            for each in path.parent.glob("journal.db*"):
                (copy / each.name).write_bytes(each.read_bytes())
            assert set(replayed(copy / "journal.db").jobs) == {f"j{i}" for i in range(number + 1)}


def _go_wrong(c: Controller) -> None:
    with c.group():
        c.submit(request("c", 4))
        c.finish("a")
        raise KeyError


def test_a_group_happens_whole_or_not_at_all(path: Path) -> None:
    with Controller(cluster("fat_tree"), path) as c:
        with c.group():
            c.submit(request("a", 4))
            c.submit(request("b", 4))
        assert c.seq == 2
        state = c.state()
        with pytest.raises(KeyError):
            _go_wrong(c)
        assert c.state() == state
        assert c.seq == 2
        assert started(c.submit(request("c", 4))) == ["c"]
        with c.group(), pytest.raises(InputError):
            c.finish("nobody")
        assert c.seq == 3


def test_resuming_reads_the_last_snapshot_and_what_came_after(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Controller(cluster("fat_tree"), path, Settings(snapshot_every=4)) as c:
        for number in range(10):
            c.submit(request(f"j{number}", 1), at_s=number)
        state = c.state()
        assert c._desk.journal.last_snapshot() is not None
        c._desk.journal.close()
        c._desk._is_lost = True
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


def test_an_error_inside_an_event_leaves_nothing_behind(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Controller(cluster("fat_tree"), path) as c:
        c.submit(request("a", 4))
        state = c.state()
        with monkeypatch.context() as patch:
            patch.setattr("planner.schedulers.controller.Pass", None)
            with pytest.raises(TypeError):
                c.submit(request("b", 4))
        assert c.state() == state
        assert c.check() == []
        assert started(c.submit(request("b", 4))) == ["b"]


def test_a_closed_controller_says_so(path: Path) -> None:
    c = Controller(cluster("fat_tree"), path)
    c.close()
    with pytest.raises(RuntimeError, match="open it again"):
        c.submit(request("a", 4))


def test_threads_take_turns(path: Path) -> None:
    with Controller(cluster("fat_tree"), path) as c:
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


def test_switches_that_disagree_are_told_what_to_do() -> None:
    """After a restart a driver says what is on: what must go comes first, then what must be connected."""
    with Controller(cluster("lightpath")) as c:
        c.submit_all([request("a", 4), request("b", 2), request("single", 1)])
        wanted = c.circuits()
        assert set(c.reconcile({})[1]) == {"a", "b"}
        release, connect = c.reconcile({"a": wanted["a"], "b": wanted["a"], "gone": wanted["b"]})
        assert release == ("b", "gone")
        assert connect == {"b": wanted["b"]}
        assert c.reconcile({"a": wanted["a"], "b": wanted["b"]}) == ((), {})
