"""Switches behind a command of the site."""

import json
import os
import pwd
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import PIPE
from typing import Any

from planner.controller.switch_driver import CircuitError, Circuits, UnsureError
from planner.integrations.switch_drivers.parts import taken
from planner.integrations.switch_drivers.recorded import RecordedDriver, unfenced

UMASK = 0o077
"""of commands: what they write is theirs alone, whoever started them"""
_MOST_CHARACTERS = 2000
"""of what a command says"""


class HookDriver(RecordedDriver):
    """Runs a command, never through a shell, with {"action": "connect" | "release", "job", "circuits"} on its input,
    and "term" where a controller leads: a switch that remembers the largest one can refuse what comes too late.
    With the action "report" it is asked for {"circuits": [...]}: all that are on, as far as the switches tell.

    Exit code 0: done. Any other: nothing is on that it has set (connect), or some may be left (release), and its output
    may be {"part": "s0>s1#0", "said": "no light"}. Both actions may come again for a job. A command that takes longer
    than `timeout_s` is killed, with all that it started; nobody knows then what is on, so the same circuits may be
    connected again. What one has set that hung is forgotten once it is released, whatever other commands refuse. For a
    job that has circuits on, connect gives those that it gets beside them; others come only after a release. Commands
    on one switch follow each other: if this process dies, the next one there waits until the command has ended, and all
    that it started. It runs as the owner of the folder, whether slurmctld, a daemon of root or that owner asks for it.
    """

    takes_back = False

    def __init__(
        self, command: Sequence[str], folder: Path, timeout_s: float, fence: Callable[[], int] = unfenced
    ) -> None:
        super().__init__(folder, fence)
        self._command = list(command)
        self._timeout_s = timeout_s

    def set(self, job: str, circuits: Circuits, lock: int) -> None:
        self._run("connect", job, circuits, lock)

    def unset(self, job: str, circuits: Circuits, lock: int) -> None:
        self._run("release", job, circuits, lock)

    def lit(self) -> list[dict[str, Any]]:
        found = _answer(self._run("report", "", [], None)).get("circuits")
        try:
            taken([{"circuits": found}])
        except (TypeError, KeyError):
            problem = (
                'does not say what is on; answer the action "report" with {"circuits": [...]}, as connect gets them'
            )
            raise CircuitError(f"{self._command[0]} {problem}") from None
        assert isinstance(found, list)
        return found

    def _run(self, action: str, job: str, circuits: Circuits, lock: int | None) -> str:
        """Run the command; returns its output. CircuitError where it fails."""
        body = {"action": action, "job": job, "circuits": circuits}
        given = json.dumps(body | {"term": term} if (term := self.fence()) else body)
        name = f"{action} {job}: {self._command[0]}"
        try:
            code, out, err = self._finished(given, lock)
        except subprocess.TimeoutExpired:
            raise UnsureError(f"{name} took longer than {self._timeout_s:g} s") from None
        except OSError as error:
            raise CircuitError(f"{name} cannot be run: {error.strerror}") from None
        if code < 0:
            raise UnsureError(f"{name} was killed by signal {-code}")
        if code > 0:
            answer = _answer(out)
            said = str(answer.get("said") or err.strip() or "it gave no reason")[:_MOST_CHARACTERS]
            part = answer.get("part")
            raise CircuitError(f"{name} exited with {code}: {said}", part if isinstance(part, str) else None)
        return out

    def _finished(self, given: str, lock: int | None) -> tuple[int, str, str]:
        """Exit code and output of the command; in time, or it is killed with all that it started."""
        with subprocess.Popen(
            self._command, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True, encoding="utf-8",
            errors="replace", pass_fds=[] if lock is None else [lock], umask=UMASK, **_account(self.folder),
        ) as process:  # fmt: skip
            try:
                out, err = process.communicate(given, self._timeout_s)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        return process.returncode, out, err


def _account(folder: Path) -> dict[str, Any]:
    """The owner of a folder with its groups, for root to run a command as; else nothing: nobody else can."""
    if os.geteuid() != 0:
        return {}
    user = folder.stat().st_uid
    try:
        entry = pwd.getpwuid(user)
    except KeyError:
        return {"user": user, "group": folder.stat().st_gid, "extra_groups": []}
    return {"user": user, "group": entry.pw_gid, "extra_groups": os.getgrouplist(entry.pw_name, entry.pw_gid)}


def _answer(text: str) -> dict[str, Any]:
    """The JSON object in which a command describes its failure; empty where there is none."""
    try:
        answer = json.loads(text)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}
