"""Answers about configurations: the very object is found without hashing it, which takes microseconds."""

from collections.abc import Callable
from typing import Generic, TypeVar

from costmodel.parallelism.configuration import Configuration

Answer = TypeVar("Answer")
MOST = 1 << 17
"""objects remembered; equal ones share an answer"""


class Answers(Generic[Answer]):
    """What was found of some configurations."""

    def __init__(self) -> None:
        self._equal: dict[Configuration, Answer] = {}
        self._same: dict[int, tuple[Configuration, Answer]] = {}

    def has(self, configuration: Configuration) -> bool:
        """True if an equal one was asked for."""
        return configuration in self._equal

    def put(self, configuration: Configuration, answer: Answer) -> None:
        """Remember an answer."""
        self._equal[configuration] = answer

    def of(self, configuration: Configuration, find: Callable[[], Answer]) -> Answer:
        """The answer, found where no equal one was asked for."""
        known = self._same.get(id(configuration))
        if known is not None:
            return known[1]
        if configuration not in self._equal:
            self._equal[configuration] = find()
        if len(self._same) >= MOST:
            self._same.clear()
        found = self._equal[configuration]
        self._same[id(configuration)] = configuration, found
        return found
