"""A copy holds all that had happened when it was made, and takes the place of a journal whatever was left there."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from planner.controller import Controller, journal_file
from planner.controller.journal_copies import back_up, restore
from planner.controller.lease import read_beat
from planner.model.errors import DeposedError, InputError
from tests.planner.controller.journal_file_cases import opened
from tests.planner.controller.sites import request


def test_a_reader_copies_the_journal_while_it_is_written(path: Path) -> None:
    copy = path.with_name("copy.db")
    with opened(path) as controller:
        for i in range(5):
            controller.submit(request(f"j{i}", 2))
        state = controller.state()
        assert back_up(str(path), str(copy)) == 5
        controller.submit(request("later", 2))
    with Controller(journal=copy) as again:
        assert again.state() == state
    with pytest.raises(InputError, match="exists already"):
        back_up(str(path), str(copy))
    with pytest.raises(InputError, match="no such file"):
        back_up(str(path.with_name("none.db")), str(path.with_name("other.db")))


def test_a_backup_that_fails_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    for _ in range(2):
        with pytest.raises(InputError, match=r"cannot be copied|is damaged"):
            back_up(str(tmp_path / "notes.txt"), str(tmp_path / "copy.db"))
        assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def crashed(path: Path, folder: Path) -> Path:
    """A journal with its log and lease as a killed leader leaves them."""
    folder.mkdir()
    for each in path.parent.glob(f"{path.name}*"):
        shutil.copy(each, folder)
    return folder / path.name


def test_a_copy_is_one_file_that_only_needs_to_be_read(path: Path) -> None:
    with opened(path) as controller:
        controller.submit(request("j", 2))
        back_up(str(path), str(path.with_name("copy.db")))
    assert path.with_name("copy.db").read_bytes()[18:20] == b"\x01\x01", "SQLite expects no log beside it"


def test_a_copy_is_not_overtaken_by_the_log_that_a_crash_left(path: Path) -> None:
    """As it is where the file alone is put there."""
    copy = path.with_name("copy.db")
    with opened(path) as leader:
        leader.leadership.hold_lease("http://there")
        for i in range(4):
            leader.submit(request(f"j{i}", 2), key=f"k{i}")
        state = leader.state()
        assert back_up(str(path), str(copy)) == 4
        for i in range(4, 9):
            leader.submit(request(f"j{i}", 2))
        later, left = leader.state(), crashed(path, path.parent / "left")
        naive = crashed(path, path.parent / "naive")
    shutil.copy(copy, naive)
    shutil.copy(copy, naive.with_name(path.name))
    with Controller(journal=naive) as controller:
        assert controller.seq == 9, "the log overtakes the copy"
    found = restore(str(copy), str(left))
    assert (found.seq, found.replaced) == (4, left.with_name(f"{path.name}-replaced-1"))
    with Controller(journal=left) as controller:
        assert controller.state() == state
        assert controller.submit(request("j3", 2), key="k3"), "an event of the copy is answered again, not done again"
        assert controller.seq == 4
        beat = read_beat(str(left))
        assert beat is not None
        assert controller.leadership.journal.term > beat.term
    assert found.replaced is not None
    with Controller(journal=found.replaced) as controller:
        assert controller.state() == later, "what was there is kept, with its log"
    assert restore(str(copy), str(left)).replaced == left.with_name(f"{path.name}-replaced-2")


def test_who_stands_by_goes_on_with_what_was_put_back(path: Path) -> None:
    copy = path.with_name("copy.db")
    leader = opened(path)
    standby = Controller(journal=path, is_standby=True)
    leader.submit(request("a", 2), key="a")
    back_up(str(path), str(copy))
    state = leader.state()
    leader.submit(request("b", 2), key="b")
    leader.close()
    restore(str(copy), str(path))
    standby.lead("http://here")
    assert standby.state() == state
    assert standby.submit(request("c", 2), key="c")
    assert standby.seq == 2
    standby.close()


def test_a_leader_from_before_neither_writes_nor_acts(path: Path) -> None:
    """Its file server took its locks away, and it goes on after another history has begun."""
    copy = path.with_name("copy.db")
    old = opened(path)
    old.submit(request("a", 2))
    back_up(str(path), str(copy))
    seen = old._durable.journal._seen
    assert seen is not None
    seen.close()
    restore(str(copy), str(path))
    with Controller(journal=path) as new:
        text = path.read_bytes()
        old._durable.journal._db.close()
        old._durable.journal._db = journal_file.connect(str(path))
        with pytest.raises(DeposedError):
            old.require_leading()
        with pytest.raises(DeposedError):
            old.submit(request("b", 2))
        assert path.read_bytes() == text
        assert new.seq == 1


def test_what_cannot_be_put_back_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_file, "BUSY_S", 0.05)
    copy, other, text = (path.with_name(name) for name in ("copy.db", "other.db", "notes.txt"))
    with opened(path) as controller:
        controller.submit(request("a", 2))
        back_up(str(path), str(copy))
        with pytest.raises(InputError, match="another controller uses it"):
            restore(str(copy), str(path))
    sqlite3.connect(other).execute("CREATE TABLE t (a)").connection.close()
    text.write_text("nothing of the kind\n" * 100)
    damaged = path.with_name("damaged.db")
    damaged.write_bytes(copy.read_bytes().replace(b'"e":"submit"', b'"e":"cancel"'))
    before = path.read_bytes()
    for given, said in (
        (other, "is no journal"), (text, "not a database"), (path.with_name("none"), "no such file"),
        (damaged, "is damaged"), (path, "is the journal itself"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=said):
            restore(str(given), str(path))
    assert path.read_bytes() == before
    assert not list(path.parent.glob("*-re*"))
    with pytest.raises(InputError, match="cannot be put in the place"):
        restore(str(copy), str(path.parent / "none" / "planner.db"))
