"""What disks and people do to a journal is told when it is opened, and never taken for less than was answered."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from planner.controller import Controller, Settings, journal_file
from planner.controller.journal_copies import back_up, restore
from planner.model.errors import InputError
from tests.planner.controller.journal_cases import ROOMY
from tests.planner.controller.journal_file_cases import opened
from tests.planner.controller.sites import request
from tests.planner.simulate.grounds import cluster


def written(path: Path, number: int = 6) -> Any:
    """A journal that was closed, and its state."""
    with opened(path) as controller:
        for i in range(number):
            controller.submit(request(f"j{i}", 2 + 2 * (i % 3)), key=f"k{i}")
        return controller.state()


def changed(path: Path, statement: str, *values: object) -> None:
    database = sqlite3.connect(path)
    assert database.execute(statement, values).rowcount > 0
    database.commit()
    database.close()


DAMAGES: dict[str, Callable[[Path], None]] = {
    "a digit of an event": lambda p: changed(p, "UPDATE events SET body = replace(body, 'j5', 'j7') WHERE seq = 6"),
    "a decision": lambda p: changed(p, "UPDATE events SET decisions = '[]' WHERE seq = 6"),
    "a key": lambda p: changed(p, "UPDATE events SET key = 'other' WHERE seq = 6"),
    "an event in the middle": lambda p: changed(p, "DELETE FROM events WHERE seq = 4"),
    "the last event": lambda p: changed(p, "DELETE FROM events WHERE seq = 6"),
    "a snapshot": lambda p: changed(p, "UPDATE snapshots SET body = replace(body, '\"j1\"', '\"j9\"')"),
    "a kind": lambda p: changed(p, "UPDATE kinds SET body = replace(body, '2', '4')"),
    "a configuration": lambda p: changed(p, "UPDATE configurations SET body = replace(body, '1', '2')"),
    "a wiring": lambda p: changed(p, "UPDATE wirings SET body = replace(body, '1', '2')"),
    "a cluster that is no text": lambda p: changed(
        p, "UPDATE meta SET value = CAST(x'7bff' AS TEXT) WHERE name = 'cluster'"
    ),
    "a cluster that is none": lambda p: changed(p, "UPDATE meta SET value = '{}' WHERE name = 'cluster'"),
    "settings that are none": lambda p: changed(p, "UPDATE meta SET value = '{\"x\": 1}' WHERE name = 'settings'"),
    "a term": lambda p: changed(p, "UPDATE meta SET value = '1x' WHERE name = 'term'"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", DAMAGES)
def test_what_is_not_as_it_was_written_is_told(what: str, path: Path) -> None:
    written(path)
    DAMAGES[what](path)
    with pytest.raises(InputError, match=r"damaged|was on disk|put a copy in its place"):
        Controller(journal=path)


def test_a_flipped_bit_of_the_log_is_told(path: Path) -> None:
    """Each copy has one bit changed, anywhere in the log: it is told, or nothing is lost."""
    rules = Settings(greedy_budget_s=60, repair_budget_s=0)
    live, random = Controller(cluster("lightpath"), path, rules), Random(1)
    for i in range(8):
        live.submit(request(f"j{i}", 2 + 2 * (i % 3)))
    state, told = live.state(), list[str]()
    for number in range(25):
        folder = path.parent / f"copy{number}"
        folder.mkdir()
        for each in path.parent.glob("journal.db*"):
            shutil.copy(each, folder)
        log = folder / "journal.db-wal"
        text = bytearray(log.read_bytes())
        text[random.randrange(32, len(text))] ^= 1 << random.randrange(8)
        log.write_bytes(text)
        for _ in range(2):
            try:
                with Controller(cluster("lightpath"), folder / "journal.db", rules) as again:
                    assert again.state() == state
            except InputError as error:
                told.append(str(error))
        assert told.count(told[-1]) == 2, "what was told once is told again"
        assert log.read_bytes() == text, "what is left of the log is kept"
    live.close()
    assert len(told) == 50
    assert all("but event 8 was on disk" in said for said in told)


def test_the_remedy_that_is_told_works(path: Path) -> None:
    written(path)
    changed(path, "DELETE FROM events WHERE seq = 6")
    changed(path, "DELETE FROM snapshots")
    with pytest.raises(InputError, match=r"ends with event 5, but event 6 was on disk.*or delete .*journal.db-seq"):
        Controller(journal=path)
    path.with_name("journal.db-seq").unlink()
    with Controller(journal=path) as controller:
        assert controller.seq == 5


@pytest.mark.parametrize("is_emptied", [False, True])
def test_a_journal_that_is_lost_is_not_taken_for_a_new_one(is_emptied: bool, path: Path, tmp_path: Path) -> None:
    state, copy = written(path, 2), tmp_path / "copy.db"
    back_up(str(path), str(copy))
    if is_emptied:
        os.truncate(path, 0)
    else:
        path.unlink()
    for _ in range(2):
        with pytest.raises(InputError, match=r"(gone|empty), but event 2 was on disk.*delete .*journal.db-seq"):
            opened(path)
        assert path.exists() == is_emptied, "nothing is made in its place"
    restore(str(copy), str(path))
    with Controller(journal=path) as controller:
        assert controller.state() == state
    path.unlink()
    path.with_name("journal.db-seq").unlink()
    with opened(path) as controller:
        assert controller.seq == 0


def as_format(path: Path, number: int) -> None:
    """Write a journal as versions before wrote it."""
    database = sqlite3.connect(path)
    for table in ("kinds", "configurations", "wirings", "events", "snapshots"):
        database.execute(f"ALTER TABLE {table} DROP COLUMN sum")
    database.execute("DELETE FROM meta WHERE name = 'id'")
    if number == 1:
        database.execute("DROP TABLE uses")
    database.execute("UPDATE meta SET value = ? WHERE name = 'format'", (str(number),))
    database.commit()
    database.close()
    path.with_name(f"{path.name}-seq").unlink()


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
def test_journals_of_earlier_formats_go_on(number: int, path: Path) -> None:
    state = written(path)
    as_format(path, number)
    with Controller(journal=path) as controller:
        assert controller.state() == state
        assert [d.body() for d in controller.submit(request("j5", 6), key="k5")]
        assert controller.seq == 6
        for i in range(6, 14):
            controller.submit(request(f"j{i}", 2))
        state = controller.state()
    with Controller(journal=path) as again:
        assert again.state() == state
        assert again.check() == []


def test_a_place_that_breaks_a_rule_is_told_at_once(path: Path) -> None:
    """Well written, and wrong: two jobs on the same accelerators."""
    written(path)
    database = sqlite3.connect(path)
    seq, text, _ = database.execute("SELECT * FROM snapshots").fetchone()
    body = json.loads(text)
    jobs = [job for job in body["jobs"] if job["place"] and len(job["place"]["devices"]) == 8]
    assert len(jobs) == 2
    jobs[1]["place"] = jobs[0]["place"]
    database.close()
    from planner.controller.journal_file import summed

    changed(path, "UPDATE snapshots SET body = ?, sum = ?", *summed(seq, json.dumps(body))[1:])
    with pytest.raises(InputError, match="belongs to j1"):
        Controller(journal=path)


def test_a_second_controller_is_kept_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_file, "BUSY_S", 0.05)
    with Controller(cluster("fat_tree"), path, ROOMY), pytest.raises(InputError, match="another controller uses it"):
        Controller(journal=path)
    Controller(journal=path).close()


def test_other_files_and_clusters_are_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="say which cluster"):
        Controller(journal=path)
    Controller(cluster("fat_tree"), path, ROOMY).close()
    with pytest.raises(InputError, match="another cluster"):
        Controller(cluster("lightpath"), path, ROOMY)
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
