"""Run a program on its streams: kernels in order, copies in order on each link, collectives in order.

The order on every stream is known before the run, so that each start is the latest of a few ends: the end of a step
only grows with any duration, and so only shrinks with a bandwidth.
"""

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from costmodel.dataflow.streams.placement import Link, Placement
from costmodel.dataflow.streams.program import Program
from costmodel.dataflow.streams.schedule import Orders, orders
from costmodel.dataflow.streams.timeline import Copy, Timeline
from costmodel.spec import Spec


class Rules(Spec):
    """How copies are scheduled."""

    lookahead: int = Field(default=2, ge=1)
    """users ahead of which a tensor is fetched; a user is an operator that waits for a tensor"""
    most_leaving: int | None = Field(default=None, ge=1)
    """tensors that may be on their way out while operators go on; absent: any number"""


def simulate(program: Program, links: Sequence[Link], placement: Placement, rules: Rules | None = None) -> Timeline:
    """One step; ValueError for a placement that does not fit the program.

    An operator starts after the one before it, the collectives it awaits, and the return of the tensors it needs.
    """
    chosen = rules or Rules()
    placement.require(program.size_bytes, len(links))
    run = _Run(program, links, placement, chosen)
    run.execute(orders(program, placement, chosen.lookahead))
    return run.timeline()


class _Run:
    """Times at which streams are free, while operators pass; plain lists, as numbers come one at a time."""

    def __init__(self, program: Program, links: Sequence[Link], placement: Placement, rules: Rules) -> None:
        self.program, self.links, self.placement, self.rules = program, links, placement, rules
        bandwidth = np.array([link.bandwidth_bytes_per_s for link in links])
        self.copy_s: list[list[float]] = (placement.moved_bytes / bandwidth).tolist()
        self.shared = [number for number, link in enumerate(links) if link.shares_collectives]
        self.operator_s: list[float] = program.operator_s.tolist()
        self.exchange_s: list[float] = program.exchange_s.tolist()
        self.free_s = [0.0] * len(links)
        self.collectives_free_s = self.awaited_s = self.compute_free_s = 0.0
        self.left_s = [0.0] * len(program.absences)
        self.back_s = [0.0] * len(program.absences)
        self.leaving_s: list[float] = []
        """ends of copies away, none before the one before it"""
        self.copies: list[tuple[int, int, bool, float, float]] = []
        self.remakes: list[tuple[int, float, float]] = []
        self.starts_s = [0.0] * len(self.operator_s)
        self.ends_s = [0.0] * len(self.operator_s)
        self.exchanges: list[tuple[int, float, float]] = []
        self.waits: list[tuple[float, float]] = []

    def execute(self, issue: Orders) -> None:
        needed, at_start, at_end = issue.needed, issue.fetched_at_start, issue.fetched_at_end
        self._fetch(at_end.get(-1, ()), 0.0)
        for number, takes_s in enumerate(self.operator_s):
            start_s = self._start_s(needed.get(number, ()))
            if number in at_start:
                self._fetch(at_start[number], start_s)
            for absence in issue.remade.get(number, ()):
                end_s = start_s + float(self.program.remake_s[absence])
                self.remakes.append((absence, start_s, end_s))
                start_s = end_s
            end_s = start_s + takes_s
            self.starts_s[number], self.ends_s[number], self.compute_free_s = start_s, end_s, end_s
            if self.exchange_s[number] > 0:
                self._exchange(number, end_s)
            if number in issue.leaving:
                self._leave(issue.leaving[number], end_s)
            if number in at_end:
                self._fetch(at_end[number], end_s)

    def _start_s(self, needed: Sequence[int]) -> float:
        """When compute goes on, and how long it waited for copies and beyond that for collectives."""
        free_s = copied_s = self.compute_free_s
        for absence in needed:
            if self.back_s[absence] > copied_s:
                copied_s = self.back_s[absence]
        most = self.rules.most_leaving
        if most is not None and len(self.leaving_s) > most:
            copied_s = max(copied_s, self.leaving_s[-most - 1])
        start_s = self.awaited_s if self.awaited_s > copied_s else copied_s
        self.waits.append((copied_s - free_s, start_s - copied_s))
        return start_s

    def _exchange(self, number: int, ready_s: float) -> None:
        """Start a collective; it takes the links that it shares for itself."""
        start_s = max([ready_s, self.collectives_free_s, *(self.free_s[link] for link in self.shared)])
        end_s = start_s + self.exchange_s[number]
        self.collectives_free_s = end_s
        for link in self.shared:
            self.free_s[link] = end_s
        exchange = self.program.operators[number].exchange
        if exchange is not None and exchange.is_awaited:
            self.awaited_s = end_s
        self.exchanges.append((number, start_s, end_s))

    def _leave(self, absences: Sequence[int], ready_s: float) -> None:
        for absence in absences:
            end_s = self._copy(absence, ready_s, is_return=False)
            self.left_s[absence] = end_s
            self.leaving_s.append(max(end_s, self.leaving_s[-1]) if self.leaving_s else end_s)

    def _fetch(self, absences: Sequence[int], ready_s: float) -> None:
        for absence in absences:
            self.back_s[absence] = self._copy(absence, max(ready_s, self.left_s[absence]), is_return=True)

    def _copy(self, absence: int, ready_s: float, *, is_return: bool) -> float:
        """Put a tensor's parts on their links; the end of the last."""
        last_s, free_s = ready_s, self.free_s
        for link, takes_s in enumerate(self.copy_s[absence]):
            if takes_s > 0:
                start_s = free_s[link] if free_s[link] > ready_s else ready_s
                end_s = free_s[link] = start_s + takes_s
                self.copies.append((absence, link, is_return, start_s, end_s))
                if end_s > last_s:
                    last_s = end_s
        return last_s

    def timeline(self) -> Timeline:
        end_s = max([self.compute_free_s, self.collectives_free_s, *self.free_s])
        return Timeline(
            self.program, tuple(self.links), self.placement, end_s, np.array(self.starts_s), np.array(self.ends_s),
            np.array(self.waits).reshape(-1, 2), tuple(map(Copy._make, self.copies)), tuple(self.remakes),
            tuple(self.exchanges),
        )  # fmt: skip
