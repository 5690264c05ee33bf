"""The lease of a service: renewed while it leads, waited for while it stands by."""

import json
import logging
import sqlite3
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict
from threading import Event, Thread

from planner.controller import Controller
from planner.controller.claim import ClaimWatch
from planner.controller.journal_file import is_held
from planner.controller.lease import RENEW_S, Beat, end_leader
from planner.model.errors import DeposedError, InputError

LOOK_S = 0.5
"""between two looks at the journal and the lease of who leads"""
FENCE_S = 60.0
"""for the command that ends a leader of another machine"""
log = logging.getLogger("planner.serve")


class LeaseKeeper:
    """A thread that sees to it that one controller leads, and tells what becomes of this one."""

    def __init__(self, controller: Controller, url: str, fence: Sequence[str] = ()) -> None:
        """`url`: where this service listens; `fence`: a command that ends the leader which its input names, and exits
        with 0 once that can write and act no more."""
        self._controller, self._url, self._fence = controller, url, list(fence)
        self._stopped = Event()
        self._told = set[Beat]()
        """leaders that are ended, or of which all has been said"""
        self._trouble = ""
        """as told last"""
        self._claims = ClaimWatch(controller.leadership.journal.path)
        self._thread = Thread(target=self._run, name="lease", daemon=True)

    def begin(self, on_change: Callable[[], None], on_lost: Callable[[], None]) -> None:
        """Hold the lease from now on where the controller leads. `on_change`: it has begun to lead, or the leader has
        written; `on_lost`: it is to lead no more."""
        self._on_change, self._on_lost = on_change, on_lost
        if not self._controller.leadership.journal.is_reader:
            self._controller.leadership.hold_lease(self._url)

    def start(self) -> None:
        """Tick in a thread, which calls what `begin` was given."""
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        wait_s: float | None = 0.0
        while wait_s is not None and not self._stopped.wait(wait_s):
            wait_s = self.tick()

    def tick(self) -> float | None:
        """Renew the lease, or look for it; seconds until that is due again, None where this is to lead no more: also
        where nobody asks anything of it, and another leads."""
        lease = self._controller.leadership.lease
        try:
            if lease is None:
                wait_s = 0.0 if self._look() else LOOK_S
            else:
                lease.renew()
                self._controller.require_leading()
                wait_s = RENEW_S
            self._trouble = ""
            return wait_s
        except DeposedError as error:
            log.error("this controller leads no more: %s", error)
            self._on_lost()
            return None
        except (OSError, sqlite3.OperationalError) as error:
            if str(error) != self._trouble:
                log.warning("the lease cannot be renewed, or looked for: %s", error)
            self._trouble = str(error)
        except Exception:
            log.exception("standing by failed, and is tried again")
        return LOOK_S

    def _look(self) -> bool:
        """Read what was written, and lead if nobody does; True where something has changed."""
        controller = self._controller
        seen = controller.seq
        controller.refresh()
        if not self._may_lead():
            if controller.seq != seen:
                self._on_change()
            return False
        try:
            controller.lead(self._url)
        except InputError as error:
            log.error("this controller cannot lead: %s", error)
            return False
        fields = {"term": controller.leadership.journal.term, "events": controller.seq}
        log.warning("this controller leads from now on", extra={"fields": fields})
        self._on_change()
        return True

    def _may_lead(self) -> bool:
        """True if nobody writes the journal, nor may go on to act. A leader that is silent is ended first."""
        journal, watch = self._controller.leadership.journal, self._controller.leadership.watch
        watch.look()
        self._claims.look()
        beat = watch.beat if watch.beat is not None and watch.beat.term == journal.last_term else None
        if is_held(journal.path):
            if beat is None or watch.is_silent:
                self._end_silent(beat)
            return False
        return beat is None or watch.is_gone or watch.is_silent

    def _end_silent(self, beat: Beat | None) -> None:
        """End a leader whose lease is silent, and who began to lead and hangs before its first lease."""
        claimed = self._claims.idle
        if beat is not None:
            self._end(beat)
        if claimed is not None and (beat is None or (claimed.pid, claimed.began) != (beat.pid, beat.began)):
            self._end_claimed(claimed)

    def _end_claimed(self, process: Beat) -> None:
        """End a service of this machine that hangs before its first lease; no fence knows it apart from this one."""
        if process not in self._told and end_leader(process):
            log.warning("a service that hung before its first lease was killed", extra={"fields": {"pid": process.pid}})
            self._told.add(process)

    def _end(self, beat: Beat) -> None:
        """Make sure that a silent leader never goes on; told once, and a fence that failed is tried again."""
        fields = {"leader": beat.url, "term": beat.term}
        if beat in self._told:
            return
        if end_leader(beat):
            log.warning("a leader that did not renew its lease was killed", extra={"fields": fields})
        elif not self._fence:
            remedy = "it cannot be ended from here and holds the journal: end it, or give --fence"
            log.error("the leader does not renew its lease; %s", remedy, extra={"fields": fields})
        elif self._is_fenced(beat):
            log.warning("a leader that did not renew its lease was fenced", extra={"fields": fields})
        else:
            return
        self._told.add(beat)

    def _is_fenced(self, beat: Beat) -> bool:
        try:
            done = subprocess.run(self._fence, input=json.dumps(asdict(beat)).encode(), timeout=FENCE_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            log.error("the fence failed: %s", error)
            return False
        return done.returncode == 0
