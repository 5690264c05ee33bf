"""Runs of the whole controller end as they should, and those of one with a fault do not.

`python -m tests.simulation --seeds 300` draws more; seeds that found something stay here.
"""

import shutil
import sqlite3
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from planner.controller import journal, lease, shrinking, switch_reconciler
from planner.controller.journal_copies import Restored
from planner.controller.journal_file import Seen, prepare
from planner.controller.leadership import Leadership
from planner.controller.switch_reconciler import SwitchReconciler
from planner.fabrics.free_devices import FreeDevices
from planner.integrations.switch_drivers.recorded import RecordedDriver
from planner.model.errors import InputError
from tests.planner.controller.sites import remember_kinds
from tests.simulation import copies
from tests.simulation.run import run

KEPT, GROWN = shrinking._kept, FreeDevices.grown


@pytest.fixture(autouse=True, scope="module")
def _remembered_kinds() -> None:
    remember_kinds()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 3, 15])
def test_nothing_is_wrong_in_the_end(seed: int) -> None:
    """Seed 0 lost a record whose folder was not synced when the power was cut: its light was never put off."""
    found = run(seed)
    assert found.wrong == []
    assert found.counts["reigns"] > 3
    assert found.counts["kill"]
    assert found.counts["stop"]
    assert found.counts["answers"] > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", [971, 1339, 5638, 20417])
def test_what_was_wrong_once_is_not_again(seed: int) -> None:
    """971: whoever took the lead first asked switches what is on, and set light again for a job that had ended.
    1339: one that was stopped while it took the lead took itself for the leader ever after.
    5638: a job was said to be connected while light that a switch had lost was put on again; 20417: and after the disk
    was full meanwhile."""
    assert run(seed).wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [309, 1384, 2016, 3685])
def test_nobody_is_blamed_for_what_is_right(seed: int) -> None:
    """309: another process failed that had just taken the journal; 1384: light went after a node was told, before the
    answer came; 2016: a power cut undid a term; 3685: one was stopped as it began, and ended as another led."""
    assert run(seed).wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 10, 29, 112, 31002, 1000024])
def test_jobs_grow_around_light_while_light_fails(seed: int) -> None:
    """10: a circuit was lost for good whose ends other circuits of its job had in another turn. 29: a process that was
    stopped as it set circuits ended when it went on, as another had put down meanwhile what came of them. 112: a job
    that was to keep one accelerator was told that jobs that start take another one. 31002: a job that moved
    from a failed part and grew at the same event was told that it does not pause. 1000024: who was to lead was blamed
    for a disk that had been full until all was mended."""
    found = run(seed, on="lightpath")
    assert found.wrong == []
    assert found.counts["grew around light"]
    assert found.counts["faults of switches"]


@pytest.mark.slow
def test_light_that_goes_off_as_a_job_grows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reconciler that lets go of all that a job has before it has more."""
    monkeypatch.setattr(switch_reconciler, "holds_all", lambda circuits, before: False)
    assert any(text.startswith("dark") for text in run(0, on="lightpath").wrong)


@pytest.mark.slow
def test_light_that_is_missing_beside_what_stays_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that sets nothing for a job that has some light on."""
    monkeypatch.setattr(RecordedDriver, "more", lambda self, circuits, before: [] if before else circuits)
    assert any(text.startswith("early") for text in run(0, on="lightpath").wrong)


@pytest.mark.slow
def test_a_copy_that_the_log_overtakes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is put in the place of a journal as any file is."""

    def put_back(copy: str, path: str) -> Restored:
        shutil.copy(copy, path)
        return Restored(len(copies.rows_of(Path(path))), None)

    monkeypatch.setattr(copies, "restore", put_back)
    with pytest.raises(InputError, match="was on disk"):
        run(0)


@pytest.mark.slow
def test_a_copy_without_the_log_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def copied(path: str, copy: str) -> int:
        shutil.copy(path, copy)
        return len(copies.rows_of(Path(copy)))

    monkeypatch.setattr(copies, "back_up", copied)
    assert any("had been answered" in text for text in run(3).wrong)


@pytest.mark.slow
def test_who_acts_although_another_leads_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A controller that asks neither term nor lease before it acts."""
    monkeypatch.setattr(Leadership, "require", lambda self: self.journal.term)
    assert any("leads" in text for text in run(23).wrong)


@pytest.mark.slow
def test_light_that_is_told_before_it_is_on_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A controller that calls each job connected that runs."""
    monkeypatch.setattr(SwitchReconciler, "connected", lambda *_: True)
    assert any(text.startswith("early") for text in run(2).wrong)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [43, 92])
def test_a_journal_that_does_not_wait_for_the_disk_is_found(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    def prepared(db: sqlite3.Connection, path: str) -> int:
        term = prepare(db, path)
        db.execute("PRAGMA synchronous=NORMAL")
        return term

    monkeypatch.setattr(journal, "prepare", prepared)
    assert any("is lost" in text for text in run(seed).wrong)


@pytest.mark.slow
def test_who_leads_too_late_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that stands by and waits for twice as long as it should."""
    monkeypatch.setattr(lease, "SILENT_S", 2 * lease.SILENT_S)
    assert any("to take the lead" in text for text in run(6).wrong)


@pytest.mark.slow
def test_who_does_not_begin_for_a_reason_that_is_not_so_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of which each third takes the journal for another's."""
    number, compare = count(), Seen.compare

    def compared(self: Seen) -> None:
        if next(number) % 3 == 2:
            raise InputError("journal", "planner.db", "is written by another controller")
        compare(self)

    monkeypatch.setattr(Seen, "compare", compared)
    assert any("cannot begin" in text for text in run(0).wrong)


def others(entry: Any, place: Any, request: Any, kept: Any) -> Any:
    """Accelerators of a job that it was not to keep."""
    return [device for device in place.devices if device not in KEPT(entry, place, request, kept)]


def moved(self: Any, row: Any, devices: Any, *more: Any) -> Any:
    """Ways to grow in which ranks change places."""
    return GROWN(self, row, devices[::-1], *more)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("counted", "owner", "name", "wrong", "told"),
    [
        ("jobs that shrank", shrinking, "_kept", others, "does not keep what it asked for"),
        ("jobs that grew", FreeDevices, "grown", moved, "does not keep what it had"),
    ],
)
def test_elastic_jobs_keep_what_they_should(
    counted: str, owner: Any, name: str, wrong: Any, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed 34 has a user of elastic jobs; one that keeps other accelerators, or puts ranks elsewhere, is found."""
    found = run(34)
    assert found.wrong == []
    assert found.counts[counted]
    monkeypatch.setattr(owner, name, wrong)
    with pytest.raises(AssertionError, match=told):
        run(34)
