"""What running jobs would leave free, counted alone: a place is not looked for while a job surely finds none."""

from collections.abc import Sequence
from typing import Protocol

from planner.fabrics.job_class import JobClass
from planner.fabrics.placement import Placement


class Leaving(Protocol):
    """A job that runs and will leave."""

    placement: Placement


class LookAhead:
    """Counts for one class of jobs while others leave; as given here free devices of the whole cluster."""

    def __init__(self, kind: JobClass, num_free: int) -> None:
        self._missing = kind.held - num_free
        self._left = 0
        """jobs that are counted"""
        self._is_open = True
        """whether a rack may have room"""

    def first(self, leaving: Sequence[Leaving], least: int) -> int:
        """How many of these leave, one after the other and `least` or more, before the class might find a place; one
        more than there are where it surely never does. Asked again, with the same ones, it goes on counting."""
        left, missing, number = self._left, self._missing, len(leaving)
        while left < number:
            placement = leaving[left].placement
            left += 1
            missing -= len(placement.held)
            if not self._is_open:
                self._free(placement)
            if missing <= 0 and self._is_open and left >= least:
                break
        else:
            left += 1
        self._left, self._missing = left, missing
        return left

    def _free(self, placement: Placement) -> None:
        """While no rack has room: count what a placement frees by rack."""


class LookAheadByRack(LookAhead):
    """The same, and those of each rack: one of them must have what a job takes of a rack at least."""

    def __init__(self, kind: JobClass, num_free: int, free_together: Sequence[int], servers: int) -> None:
        """`free_together`: free devices by rack of so many servers."""
        super().__init__(kind, num_free)
        self._least, self._by_rack, self._servers = kind.least_of_a_rack, [*free_together], servers
        self._is_open = max(free_together) >= self._least

    def _free(self, placement: Placement) -> None:
        by_rack, least = self._by_rack, self._least
        for server, slots in placement.by_server.items():
            rack = server // self._servers
            by_rack[rack] += slots.bit_count()
            if by_rack[rack] >= least:
                self._is_open = True
