"""Links as queues, exactly, in steps in which everything leaves before any operator waits for a tensor.

Then only two places in a queue are possible for a copy back: right after its tensor left, where it is for one of the
first operators that wait, or behind everything that leaves, in the order in which operators wait.
"""

from dataclasses import dataclass, field

from ortools.sat.python import cp_model

from planner.pages.cpsat.ticks import Ticks
from planner.pages.cpsat.users import Item, Users
from planner.pages.cpsat.variables import Linear, Literal, PageVariables


def leaves_first(ticks: Ticks, users: Users) -> bool:
    """Whether everything that leaves does so before any operator may wait, and is not there when the step starts."""
    absences, leaves = ticks.task.program.absences, ticks.task.program.leaves
    first = min(users.is_active, default=len(ticks.operator))
    return all(each.after < first and goes for each, goes in zip(absences, leaves, strict=True))


@dataclass
class Queue:
    """Ends of what the links carry, copies of different operators in their order."""

    cp: cp_model.CpModel
    ticks: Ticks
    variables: PageVariables
    users: Users
    lookahead: int
    most_leaving: int | None
    ends: list[Linear] = field(default_factory=list)
    """by link, of the last copy"""
    left: list[Linear] = field(default_factory=list)
    """ends of the last tensors that left, latest first, as many as may be on their way out"""
    awaited: list[tuple[Linear, Literal]] = field(default_factory=list)
    """what the next operator waits for, where the literal holds"""
    is_early: dict[int, Literal] = field(default_factory=dict)
    early: dict[tuple[int, int], list[tuple[Linear, cp_model.IntVar]]] = field(default_factory=dict)
    """by user and absence: end and pages of the copy by link, where it follows its tensor's way out"""

    def __post_init__(self) -> None:
        self.ends = [0] * len(self.ticks.task.links)
        self.left = [0] * (self.most_leaving or 0)
        waiting: Linear = 0
        for number, (user, is_active) in enumerate(self.users.is_active.items()):
            if number < self.lookahead:
                self.is_early[user] = is_active
            else:
                is_early = self.cp.new_bool_var("")
                self.cp.add(waiting <= self.lookahead - 1).only_enforce_if(is_early)
                self.cp.add(waiting >= self.lookahead).only_enforce_if(~is_early, is_active)
                self.cp.add_implication(is_early, is_active)
                self.is_early[user] = is_early
            waiting += is_active

    def leave(self, absences: list[int], clock: Linear) -> None:
        """Tensors leave when an operator ends, at `clock`; what is asked for already follows at once."""
        ends = {absence: self._leave(absence, clock) for absence in absences}
        items = [item for absence in absences for item in self.users.items_after.get(absence, ())]
        for item in sorted(items, key=self.users.items.index):
            self._follow(item, ends[item.absence])

    def _leave(self, absence: int, clock: Linear) -> Linear:
        left, moves = self._time(), self.variables.moves[absence]
        for link, pages in enumerate(self.variables.pages[absence]):
            takes, end = self.ticks.page[absence][link] * pages, self._time()
            self.cp.add(end >= self.ends[link] + takes)
            self.cp.add(end >= clock + takes)
            self.cp.add(left >= end).only_enforce_if(self.variables.on_link[absence][link])
            self.ends[link] = end
        if self.left:
            self.awaited.append((self.left[-1], moves))
            self.left = [self._later(old, new, moves) for new, old in zip((left, *self.left), self.left, strict=False)]
        return left

    def _later(self, known: Linear, new: Linear, where: Literal) -> Linear:
        later = self._time()
        self.cp.add(later >= known)
        self.cp.add(later >= new).only_enforce_if(where)
        return later

    def _follow(self, item: Item, left: Linear) -> None:
        is_early, found = self.is_early[item.user], list[tuple[Linear, cp_model.IntVar]]()
        for link in range(len(self.ends)):
            pages, end = self.cp.new_int_var(0, int(self.ticks.task.count[item.absence]), ""), self._time()
            takes = self.ticks.page[item.absence][link] * pages
            is_here = (is_early, item.is_there, self.variables.on_link[item.absence][link])
            self.cp.add(pages == 0).only_enforce_if(~is_early)
            self.cp.add(pages == item.pages[link]).only_enforce_if(is_early)
            self.cp.add(end >= self.ends[link] + takes)
            self.cp.add(end >= left + takes).only_enforce_if(*is_here)
            self.ends[link] = end
            found.append((end, pages))
        self.early[item.user, item.absence] = found

    def wait(self, user: int, start: Linear, asked_at: Linear) -> None:
        """An operator waits for its items."""
        for item in self.users.items_of[user]:
            for link, (early_end, early_pages) in enumerate(self.early[user, item.absence]):
                takes, end = self.ticks.page[item.absence][link] * (item.pages[link] - early_pages), self._time()
                self.cp.add(end >= self.ends[link] + takes)
                self.cp.add(end >= asked_at + takes)
                is_here, is_early = self.variables.on_link[item.absence][link], self.is_early[user]
                self.cp.add(start >= early_end).only_enforce_if(is_here, item.is_there, is_early)
                self.cp.add(start >= end).only_enforce_if(is_here, item.is_there, ~is_early)
                self.ends[link] = end

    def _time(self) -> cp_model.IntVar:
        return self.cp.new_int_var(0, self.ticks.horizon, "")
