"""A step of one job as constraints on times, operator by operator, as `costmodel.dataflow.streams.simulate` runs it.

Starts and ends are bounded from below by what they follow, so that the smallest solution is the simulated step
where links are queues exactly, and a lower bound on it otherwise. Collectives that take links for themselves are
counted apart from what these links carry: a bound too.
"""

from collections import defaultdict
from itertools import chain

from ortools.sat.python import cp_model

from costmodel.dataflow.streams.simulate import Rules
from planner.pages.cpsat.fetches import Fetches
from planner.pages.cpsat.leaves import Leaves
from planner.pages.cpsat.queue import Queue, leaves_first
from planner.pages.cpsat.ticks import Ticks
from planner.pages.cpsat.users import any_of, users_of
from planner.pages.cpsat.variables import Linear, Literal, PageVariables


class StepModel:
    """Times of one job; `end` is that of its step."""

    def __init__(self, cp: cp_model.CpModel, ticks: Ticks, variables: PageVariables, rules: Rules) -> None:
        self.cp, self.ticks, self.variables = cp, ticks, variables
        self.users = users_of(cp, ticks.task, variables)
        self.fetches = Fetches(cp, ticks, rules.lookahead)
        self.leaves = Leaves(cp, ticks, variables, rules.most_leaving)
        self.is_exact = leaves_first(ticks, self.users)
        """whether the smallest solution is the simulated step"""
        self.queue = (
            Queue(cp, ticks, variables, self.users, rules.lookahead, rules.most_leaving) if self.is_exact else None
        )
        self.clock: Linear = 0
        self.collectives: Linear = 0
        self.awaited: Linear | None = None
        """end of a collective that the next operator waits for"""
        self.left_at: dict[int, Linear] = {}
        self.again = self._remakes()
        self._run()
        self.end = self._end()

    def _remakes(self) -> dict[int, list[tuple[int, Literal]]]:
        """By operator, ticks of each operator that may run again before it, and whether it does."""
        task, found = self.ticks.task, defaultdict[tuple[int, int | None], list[int]](list)
        for a, each in enumerate(task.program.absences):
            if task.can_be_remade[a]:
                found[each.before, each.remade_by].append(a)
        again = defaultdict[int, list[tuple[int, Literal]]](list)
        for (before, _), made in found.items():
            takes = self.ticks.of(float(task.program.remake_s[made[0]]))
            again[before].append((takes, any_of(self.cp, [self.variables.remade[a] for a in made])))
        return again

    def _run(self) -> None:
        program = self.ticks.task.program
        leaving = defaultdict[int, list[int]](list)
        for a, each in enumerate(program.absences):
            if program.leaves[a]:
                leaving[each.after].append(a)
        for operator in range(len(self.ticks.operator)):
            self._start(operator)
            self.clock = self.clock + self.ticks.operator[operator]
            self._exchange(operator)
            if operator in leaving:
                self._leave(operator, leaving[operator])

    def _start(self, operator: int) -> None:
        is_user = operator in self.users.is_active
        if not (is_user or self.leaves.awaited or self.awaited is not None or (self.queue and self.queue.awaited)):
            return
        start = self._time()
        waits = [self.clock, *self.leaves.awaited, *([] if self.awaited is None else [self.awaited])]
        for each in waits:
            self.cp.add(start >= each)
        self.awaited = None
        self.leaves.awaited.clear()
        if self.queue:
            for end, where in self.queue.awaited:
                self.cp.add(start >= end).only_enforce_if(where)
            self.queue.awaited.clear()
        if is_user:
            self.fetches.look_ahead()
            if self.queue:
                self.queue.wait(operator, start, self.fetches.asked_at)
            items, is_active = self.users.items_of[operator], self.users.is_active[operator]
            self.fetches.wait(operator, start, is_active, items, self.left_at)
        self.clock = start + sum(takes * runs for takes, runs in self.again.get(operator, ()))

    def _exchange(self, operator: int) -> None:
        takes = self.ticks.exchange[operator]
        if takes == 0:
            return
        end = self._time()
        self.cp.add(end >= self.clock + takes)
        self.cp.add(end >= self.collectives + takes)
        self.collectives = end
        exchange = self.ticks.task.program.operators[operator].exchange
        if exchange is not None and exchange.is_awaited:
            self.awaited = end

    def _leave(self, operator: int, absences: list[int]) -> None:
        self.left_at[operator] = self.clock
        for absence in absences:
            self.leaves.leave(operator, absence, self.clock)
        if self.queue:
            self.queue.leave(absences, self.clock)

    def _end(self) -> Linear:
        end = self._time()
        links = self.queue.ends if self.queue else []
        behind = self.leaves.done[-1].ends if self.leaves.done else []
        for each in chain([self.clock, self.collectives], links, behind, self._carried()):
            self.cp.add(end >= each)
        return end

    def _carried(self) -> list[Linear]:
        """By link, everything that it carries, after the first operator that anything leaves after."""
        absences, leaves = self.ticks.task.program.absences, self.ticks.task.program.leaves
        first = min((each.after for each in absences), default=-1)
        begin = self.left_at.get(first, 0)
        gone = [a for a, goes in enumerate(leaves) if goes and not self.ticks.task.program.returns[a]]
        return [
            begin + carried + sum(self.ticks.page[a][link] * self.variables.pages[a][link] for a in gone)
            for link, carried in enumerate(self.fetches.carried)
        ]

    def _time(self) -> cp_model.IntVar:
        return self.cp.new_int_var(0, self.ticks.horizon, "")
