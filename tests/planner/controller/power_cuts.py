"""Power cuts: a process dies at a chosen write of its journal."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from planner.controller import journal as journal_module
from planner.controller import journal_file

Point = tuple[str, str, str]
"""statement, transaction, and whether it was done"""


class PowerCutError(Exception):
    """The machine stops here."""


class Faulty:
    """A connection that stops the machine before or after one of its statements, and lists those that came."""

    def __init__(self, inner: sqlite3.Connection, cut: tuple[int, bool], came: list[Point]) -> None:
        self._inner, self._cut, self._came = inner, cut, came
        self._events = 0

    def _is_cut(self, statement: str) -> bool:
        """Whether the machine stops at this statement, which is listed."""
        words = " ".join(statement.split()[:5])
        self._events = 0 if words.startswith("BEGIN") else self._events + ("INTO events" in words)
        where = "of a group" if self._events > 1 else "of its own"
        self._came.append((words, where, "done" if self._cut[1] else "not done"))
        return len(self._came) == self._cut[0]

    def _run(self, statement: str, run: Callable[[], sqlite3.Cursor]) -> sqlite3.Cursor:
        if statement.startswith("SELECT"):
            return run()
        if len(self._came) >= self._cut[0] > 0:
            raise PowerCutError
        is_cut = self._is_cut(statement)
        if is_cut and not self._cut[1]:
            raise PowerCutError
        cursor = run()
        if is_cut:
            raise PowerCutError
        return cursor

    def execute(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        return self._run(statement, lambda: self._inner.execute(statement, values))

    def executemany(self, statement: str, rows: Any) -> sqlite3.Cursor:
        return self._run(statement, lambda: self._inner.executemany(statement, rows))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@contextmanager
def power_cut(monkeypatch: pytest.MonkeyPatch, cut: tuple[int, bool]) -> Iterator[list[Point]]:
    """The machine stops at the statement of this number, 0: at none, before or after it; gives all that came."""
    with monkeypatch.context() as patch:
        real, open_ones, came = journal_file.connect, list[sqlite3.Connection](), list[Point]()
        held = list[journal_file.Seen]()

        def connect(path: str) -> Any:
            open_ones.append(real(path))
            return Faulty(open_ones[-1], cut, came)

        class Seen(journal_file.Seen):
            def __init__(self, path: str) -> None:
                super().__init__(path)
                held.append(self)

        patch.setattr(journal_module, "connect", connect)
        patch.setattr(journal_module, "Seen", Seen)
        try:
            yield came
        finally:
            for each in (*open_ones, *held):
                each.close()
