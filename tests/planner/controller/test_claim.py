"""Who has the lock of a journal says so until its first lease, and for how long it has not run."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest

from planner.controller import Controller
from planner.controller.claim import Claim, ClaimWatch, claim, disclaim, read_claim
from planner.controller.journal_file import Seen, is_held
from planner.controller.lease import SILENT_S, steady_s, this_process
from planner.service.lease_keeper import LeaseKeeper
from tests.paths import ROOT
from tests.planner.service.running import until
from tests.planner.simulate.grounds import cluster

BEGINS = """
import sys, time
from planner.controller.journal import Journal
journal = Journal(sys.argv[1], is_leased=True)
print("begun", flush=True)
time.sleep(1e6)
"""


def test_who_needs_no_lease_claims_nothing(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    with Controller(cluster("torus"), path, is_leased=True):
        found = read_claim(str(path))
        assert found is not None
        assert found.process == this_process()
    with Controller(journal=path) as second:
        assert read_claim(str(path)) is None
        second.leadership.hold_lease("http://here")
        assert read_claim(str(path)) is None


def test_a_claim_that_is_damaged_is_none(tmp_path: Path) -> None:
    path = tmp_path / "j.db-seq"
    assert read_claim(str(tmp_path / "j.db")) is None
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    claim(file)
    assert isinstance(read_claim(str(tmp_path / "j.db")), Claim)
    os.pwrite(file, b"?", 80)
    assert read_claim(str(tmp_path / "j.db")) is None
    claim(file)
    disclaim(file)
    assert read_claim(str(tmp_path / "j.db")) is None
    os.close(file)


def test_a_thread_that_runs_is_not_idle_and_one_that_waits_is(tmp_path: Path) -> None:
    path, now_s, goes_on, has_run = str(tmp_path / "j.db"), 0.0, Event(), Event()

    def begin() -> None:
        seen = Seen(path)
        seen.claim()
        has_run.set()
        goes_on.wait()
        sum(range(2_000_000))
        has_run.set()
        goes_on.clear()
        goes_on.wait()
        seen.close()

    thread = Thread(target=begin)
    thread.start()
    watch = ClaimWatch(path, lambda: now_s)
    assert has_run.wait(10)

    def is_idle() -> bool:
        """On a busy machine the thread may only now begin to wait."""
        nonlocal now_s
        now_s += SILENT_S + 0.1
        watch.look()
        return watch.idle == this_process()

    until(is_idle, 10.0)
    has_run.clear()
    goes_on.set()
    assert has_run.wait(10)
    watch.look()
    assert watch.idle is None, "it has run since"
    goes_on.set()
    thread.join()


@pytest.mark.slow
def test_a_process_that_is_stopped_before_its_first_lease_is_killed(tmp_path: Path) -> None:
    path, late_s = tmp_path / "j.db", 0.0
    Controller(cluster("torus"), path).close()
    begun = subprocess.Popen([sys.executable, "-c", BEGINS, str(path)], stdout=subprocess.PIPE, cwd=ROOT)
    assert begun.stdout is not None
    try:
        assert begun.stdout.readline() == b"begun\n"
        begun.send_signal(signal.SIGSTOP)
        os.waitpid(begun.pid, os.WUNTRACED)  # until then it may run once more, which would be seen
        with Controller(journal=path, is_standby=True) as standby:
            keeper = LeaseKeeper(standby, "http://here")
            keeper._claims = ClaimWatch(str(path), lambda: steady_s() + late_s)
            keeper.begin(lambda: None, lambda: None)
            keeper.tick()
            assert is_held(str(path))
            assert begun.poll() is None, "it may go on yet"
            late_s = SILENT_S + 1
            keeper.tick()
            until(lambda: begun.poll() is not None, 10.0)
            assert begun.returncode == -signal.SIGKILL
            keeper.tick()
            assert standby.require_leading() == 3
    finally:
        begun.kill()
        begun.stdout.close()
        begun.wait()
