"""A lease is over for its leader before anybody else calls it silent, and a silent leader of this machine is killed."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from planner.controller import lease
from planner.controller.lease import LEASE_S, SILENT_S, Beat, Lease, LeaseWatch, end_leader, machine, read_beat
from planner.model.errors import DeposedError

NOBODY = 2**22 + 1
"""no process has this number: Linux gives smaller ones"""


def test_a_leader_that_renews_too_late_leads_no_more(tmp_path: Path) -> None:
    now_s = [0.0]
    held = Lease(str(tmp_path / "j.db"), 3, "http://a", lambda: now_s[0])
    now_s[0] += LEASE_S - 0.1
    held.renew()
    now_s[0] += LEASE_S - 0.1
    held.require()
    assert held.left_s == pytest.approx(0.1)
    now_s[0] += 0.2
    for call in (held.require, held.renew):
        with pytest.raises(DeposedError, match="of term 3 was not renewed"):
            call()
    before = read_beat(str(tmp_path / "j.db"))
    held.close()
    assert read_beat(str(tmp_path / "j.db")) == before, "the file may be another's by now"


@pytest.mark.parametrize("late_s", [0.0, 0.3, 1.0])
def test_nobody_calls_a_leader_silent_that_may_act(tmp_path: Path, late_s: float) -> None:
    """However late the watch looks after a renewal, by clocks that differ."""
    path, now_s = str(tmp_path / "j.db"), [50.0]
    held, watch = Lease(path, 1, "", lambda: now_s[0]), LeaseWatch(path, lambda: now_s[0] + 1e6)
    for _ in range(4):
        now_s[0] += 1.0
        held.renew()
        now_s[0] += late_s
        watch.look()
    while held.left_s > 0:
        assert not watch.is_silent
        now_s[0] += 0.01
        watch.look()
    now_s[0] += SILENT_S - LEASE_S + late_s + 0.02
    assert not watch.is_silent, "nobody has looked meanwhile"
    watch.look()
    assert watch.is_silent


def test_a_file_that_is_half_written_says_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "j.db")
    assert read_beat(path) is None
    held = Lease(path, 1, "http://a")
    file = Path(f"{path}-lease")
    whole = file.read_bytes()
    assert (found := read_beat(path)) is not None
    assert (found.term, found.url, found.machine, found.pid) == (1, "http://a", machine(), os.getpid())
    for end in (0, 5, 9, 60):
        file.write_bytes(whole[:end])
        assert read_beat(path) is None
    file.write_bytes(whole.replace(b'"term":1', b'"term":2'))
    assert read_beat(path) is None
    held.close()
    assert (left := read_beat(path)) is not None
    assert left.machine == ""


def test_who_has_gone_is_known(tmp_path: Path) -> None:
    path = str(tmp_path / "j.db")
    watch = LeaseWatch(path)
    assert watch.is_gone, "there is no lease"
    held = Lease(path, 1, "")
    watch.look()
    assert not watch.is_gone
    assert watch.beat is not None
    mine = watch.beat
    watch.beat = replace(mine, pid=NOBODY)
    assert watch.is_gone
    watch.beat = replace(mine, began=mine.began + 1)
    assert watch.is_gone, "its number is another's by now"
    watch.beat = replace(mine, pid=NOBODY, machine="another")
    assert not watch.is_gone, "that cannot be told from here"
    held.close()
    watch.look()
    assert watch.is_gone


def test_a_silent_leader_of_this_machine_is_killed() -> None:
    """And no other process: not one whose number was given again, nor one of another machine."""
    process = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    try:
        began = lease._began(process.pid)
        beat = Beat(1, 1, machine(), process.pid, began, "")
        assert not end_leader(replace(beat, machine="another"))
        assert end_leader(replace(beat, began=began + 1))
        assert end_leader(replace(beat, pid=NOBODY))
        assert process.poll() is None
        assert end_leader(beat)
        assert process.wait() == -9
        assert end_leader(beat)
    finally:
        process.kill()
        process.wait()
