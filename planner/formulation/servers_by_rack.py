"""Servers of each rack that a job asks for, in models that count what it takes of each server."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ortools.sat.python import cp_model

from costmodel.pricing.servers_by_rack import ServersByRack, ServersOfRack

Expression = cp_model.LinearExprT


@dataclass(frozen=True)
class AskedOfRacks:
    """What a job asks for, on the servers of a model."""

    asked: ServersByRack
    racks: tuple[int, ...]
    """of each server"""

    def add(self, model: cp_model.CpModel, entered: Sequence[Expression], placed: Expression = 1) -> None:
        r"""With $y_s$ whether a job that is `placed` enters server s, each rack gives one of the numbers asked for,
        $\sum_{s \in r} y_s = \sum_k k x_{rk}$, $\sum_r x_{rk} = n_k placed$; or within bounds of each rack that it
        uses, $least\, u_r \le \sum_{s \in r} y_s \le most\, u_r$."""
        inside: defaultdict[int, list[Expression]] = defaultdict(list)
        for rack, literal in zip(self.racks, entered, strict=True):
            inside[rack].append(literal)
        if isinstance(self.asked, ServersOfRack):
            _add_bounds(model, [*inside.values()], self.asked)
        else:
            _add_numbers(model, [*inside.values()], Counter(self.asked), placed)


def _add_bounds(model: cp_model.CpModel, racks: Sequence[Sequence[Expression]], asked: ServersOfRack) -> None:
    for literals in racks:
        used = model.new_bool_var("")
        model.add(sum(literals) >= asked.min * used)
        model.add(sum(literals) <= asked.max * used)


def _add_numbers(
    model: cp_model.CpModel, racks: Sequence[Sequence[Expression]], numbers: Counter[int], placed: Expression
) -> None:
    gives = [{count: model.new_bool_var("") for count in numbers} for _ in racks]
    for literals, given in zip(racks, gives, strict=True):
        model.add_at_most_one(given.values())
        model.add(sum(literals) == sum(count * literal for count, literal in given.items()))
    for count, often in numbers.items():
        model.add(sum(given[count] for given in gives) == often * placed)
