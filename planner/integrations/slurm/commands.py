"""Runs commands of Slurm, never through a shell. Commands to scontrol go line after line to one that stays,
which costs a tenth of a process each; what is more than plain words goes as arguments to one of its own."""

import contextlib
import os
import re
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

TIMEOUT_S = 20.0
_DOWN = ("unable to contact slurm", "socket timed out", "connection refused", "temporarily unable", "connect failure")
_WORD = re.compile(r"[A-Za-z0-9_.,:=\[\]-]+")
"""what stands in a line of scontrol: it splits lines at spaces, and keeps quotes as part of some values"""
_WHOLE_LISTS = {"SLURM_BITSTR_LEN": "0"}
"""all task numbers of an array, however many"""
_FILTERS = ("SQUEUE_", "SINFO_")
"""variables of the account by which squeue and sinfo would leave jobs and nodes out: those would count as gone"""
_NO_KEYS = {"INPUTRC": os.devnull}
"""scontrol reads lines with readline: no file of the account may give a letter another meaning"""


class SlurmError(Exception):
    """Slurm refused a command; the text is what it said."""


class SlurmDownError(SlurmError):
    """slurmctld does not answer: nothing is known, and the last command may have been carried out or not."""


class Commands:
    """Runs Slurm's commands, for any number of threads."""

    def __init__(self, timeout_s: float = TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._idle: list[_Lines] | None = None
        """those that stay, and that no thread talks to; None where none does"""

    def run(self, *argv: str) -> str:
        """Output of a command, run as a process of its own; SlurmError where it fails."""
        env = {name: value for name, value in os.environ.items() if not name.startswith(_FILTERS)} | _WHOLE_LISTS
        try:
            done = subprocess.run(
                argv, capture_output=True, text=True, errors="replace", timeout=self._timeout_s, env=env
            )
        except subprocess.TimeoutExpired:
            raise SlurmDownError(f"{' '.join(argv[:2])} did not answer in {self._timeout_s:g} s") from None
        except OSError as error:
            raise SlurmDownError(f"{argv[0]} cannot be run: {error.strerror}") from None
        if done.returncode != 0:
            raise _error(done.stderr or done.stdout or f"exit code {done.returncode}")
        return done.stdout

    def scontrol(self, *words: str) -> None:
        """Change something; SlurmError where scontrol has anything to say against it."""
        if self._idle is None or not all(map(_WORD.fullmatch, words)):
            self.run("scontrol", *words)
        elif said := self._said(self._idle, " ".join(words)):
            raise _error(said)

    @contextmanager
    def staying(self) -> Iterator[None]:
        """While this lasts, a scontrol stays for each thread that needs one; not to be entered twice."""
        self._idle = []
        try:
            yield
        finally:
            idle, self._idle = self._idle, None
            for lines in idle:
                lines.close()

    def _said(self, idle: "list[_Lines]", line: str) -> str:
        try:
            lines = idle.pop()
        except IndexError:
            lines = _Lines(self._timeout_s)
        try:
            said = lines.say(line)
        except BaseException:
            lines.close()
            raise
        idle.append(lines)
        return said


class _Lines:
    """One scontrol that reads lines. The next one is written once the last has been answered: a planner that dies
    leaves at most one behind. After each line comes one that it does not know, and says so: that ends the answer."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s, self._number = timeout_s, 0
        try:
            self._process = subprocess.Popen(
                ("scontrol",), bufsize=0, env=os.environ | _NO_KEYS,
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            )  # fmt: skip
        except OSError as error:
            raise SlurmDownError(f"scontrol cannot be run: {error.strerror}") from None

    def say(self, line: str) -> str:
        """Send a line to scontrol; returns its error, empty for none. SlurmDownError where it does not answer."""
        if self._number == 0:
            self._answer("")  # complaints of its start are not about a line
        return self._answer(line)

    def close(self) -> None:
        """End it: it has answered all lines, or it hangs."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stderr):
            assert pipe is not None
            pipe.close()
        self._process.wait()

    def _answer(self, line: str) -> str:
        self._number += 1
        end = f"<{self._number}>\n".encode()
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended, and what it said before tells why
            self._process.stdin.write(line.encode("ascii") + b"\n" + end)
        *said, _ = self._heard(end).splitlines()
        return "\n".join(said)

    def _heard(self, end: bytes) -> str:
        """All that it says up to this end; SlurmDownError where that does not come."""
        assert self._process.stderr is not None
        stream, heard, until_s = self._process.stderr, b"", time.monotonic() + self._timeout_s
        while not heard.endswith(end):
            if not select.select([stream], [], [], max(0.0, until_s - time.monotonic()))[0]:
                raise SlurmDownError(f"scontrol did not answer in {self._timeout_s:g} s")
            more = os.read(stream.fileno(), 65536)
            if not more:
                raise SlurmDownError(f"scontrol has ended: {' '.join(heard.decode(errors='replace').split())}")
            heard += more
        return heard.decode(errors="replace")


def _error(said: str) -> SlurmError:
    text = " ".join(said.split())
    return (SlurmDownError if any(word in text.lower() for word in _DOWN) else SlurmError)(text)
