"""Operators that wait for tensors, as literals: who waits, for what, and what is fetched before anybody waits.

A tensor is fetched for the operator that needs it next, or for an earlier one that makes another tensor again from
it: each of these is an item, and exactly one item of a tensor that moves is there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from ortools.sat.python import cp_model

from planner.pages.cpsat.variables import Linear, Literal, PageVariables
from planner.pages.problem import Task


@dataclass(frozen=True)
class Item:
    """A tensor fetched for one operator."""

    user: int
    absence: int
    is_there: Literal
    pages: list[Linear]
    """by link, 0 unless it is there"""


@dataclass(frozen=True)
class Users:
    """Items in the order in which links carry them, and their operators."""

    items: tuple[Item, ...]
    is_active: dict[int, Literal]
    """by operator, ascending: whether it waits for any item"""

    @cached_property
    def items_of(self) -> dict[int, list[Item]]:
        return {user: list(found) for user, found in groupby(self.items, key=lambda item: item.user)}

    @cached_property
    def items_after(self) -> dict[int, list[Item]]:
        """By absence."""
        found: dict[int, list[Item]] = {}
        for item in self.items:
            found.setdefault(item.absence, []).append(item)
        return found


def users_of(cp: cp_model.CpModel, task: Task, variables: PageVariables) -> Users:
    """Literals of all items and their operators."""
    absences, makers = task.program.absences, _makers(task, variables)
    found = [item for a, users in enumerate(makers) if users for item in _items(cp, task, variables, a, users)]
    items = sorted(found, key=lambda each: (each.user, -absences[each.absence].after, each.absence))
    active = {}
    for user, group in groupby(items, key=lambda item: item.user):
        active[user] = any_of(cp, [item.is_there for item in group])
    return Users(tuple(items), active)


def any_of(cp: cp_model.CpModel, literals: list[Literal]) -> Literal:
    """Whether any of the literals holds."""
    if len(literals) == 1:
        return literals[0]
    result = cp.new_bool_var("")
    cp.add_max_equality(result, literals)
    return result


def _makers(task: Task, variables: PageVariables) -> list[dict[int, list[Literal]]]:
    """For each absence the operators before which it may be needed first, and what is then made again from it."""
    absences = task.program.absences
    found: list[dict[int, list[Literal]]] = [
        {each.before: []} if returns else {} for each, returns in zip(absences, task.program.returns, strict=True)
    ]
    for maker in range(len(absences)):
        if task.can_be_remade[maker]:
            for source in task.program.remade_from[maker]:
                if found[source]:
                    found[source].setdefault(absences[maker].before, []).append(variables.remade[maker])
    return found


def _items(
    cp: cp_model.CpModel, task: Task, variables: PageVariables, absence: int, makers: dict[int, list[Literal]]
) -> Iterator[Item]:
    """One for each operator; the tensor is fetched for the first that needs it."""
    moves, pages, last = variables.moves[absence], variables.pages[absence], max(makers)
    if len(makers) == 1:
        yield Item(last, absence, moves, list(pages))
        return
    count, earlier = int(task.count[absence]), list[Literal]()
    literals, split = [], []
    for user in sorted(makers):
        is_there = cp.new_bool_var("")
        for maker in earlier:
            cp.add_implication(is_there, ~maker)
        if user != last:
            cp.add_bool_or([*makers[user], ~is_there])
        earlier += makers[user]
        part = [cp.new_int_var(0, count, "") for _ in pages]
        for variable in part:
            cp.add(variable <= count * is_there)
        literals.append(is_there)
        split.append(part)
        yield Item(user, absence, is_there, list(part))
    cp.add(sum(literals) == moves)
    for link, variable in enumerate(pages):
        cp.add(sum(part[link] for part in split) == variable)
