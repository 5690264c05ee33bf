"""The linear relaxation of a CP-SAT model of 0/1 choices and sums, by the simplex method.

CP-SAT first rewrites a model, which may take ten times as long as this bound.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from planner.formulation.linear import Floats, Rows, minimized

LARGEST = 2**60
"""limits beyond it are none"""
NOISE = 1e-6
"""of the least objective or the largest entry of it, by which a variable that is fixed must exceed what it is compared
with"""


@dataclass(frozen=True)
class Relaxed:
    """The relaxation of a model that is minimized."""

    least: float
    """objective"""
    box: Floats
    """ends of each variable, shape (variables, 2)"""
    reduced: Floats
    """by variable: one step from its lower end adds so much to the least objective, or, where this is negative, one
    from its upper end"""
    largest: float
    """entry of the objective"""

    def fix(self, cp: cp_model.CpModel, most: float) -> None:
        """Variables that lie at an end in every solution whose objective is at most so much are fixed there."""
        low, high = self.box.T
        noise = NOISE * max(abs(self.least), self.largest)
        is_fixed = (np.abs(self.reduced) > most - self.least + noise) & (low < high)
        for i in np.flatnonzero(is_fixed).tolist():
            cp.add(cp.get_int_var_from_proto_index(i) == int(low[i] if self.reduced[i] > 0 else high[i]))


def relaxed(cp: cp_model.CpModel, time_limit_s: float) -> Relaxed | None:
    """The relaxation of a model that is minimized; None where the time does not suffice.

    Rows that hold only where literals are true, and those that are no sums or clauses, are left out.
    """
    proto, rows = cp.proto, Rows()
    box = np.array([_ends(variable.domain) for variable in proto.variables], dtype=np.float64)
    for constraint in proto.constraints:
        for terms, least, most in () if len(constraint.enforcement_literal) else _sums(constraint):
            columns, entries, shift = _columns(terms)
            rows.add(columns, entries, least - shift, most - shift)
    objective = np.zeros(len(box))
    for variable, entry in zip(proto.objective.vars, proto.objective.coeffs, strict=True):
        objective[variable] += entry
    largest = float(np.abs(objective).max(initial=0.0)) or 1.0
    found = minimized(rows, box, objective / largest, time_limit_s)
    if found is None:
        return None
    return Relaxed(found.bound * largest + proto.objective.offset, box, found.reduced * largest, largest)


def _ends(domain: Iterable[int]) -> tuple[float, float]:
    least, *_, most = domain
    return (-np.inf if least < -LARGEST else least), (np.inf if most > LARGEST else most)


def _sums(constraint: Any) -> Iterator[tuple[list[tuple[int, int]], float, float]]:
    """Terms (literal, entry) of a row, and its limits."""
    if constraint.has_linear():
        row = constraint.linear
        yield [*zip(row.vars, row.coeffs, strict=True)], *_ends(row.domain)
    elif constraint.has_bool_or():
        yield [(literal, 1) for literal in constraint.bool_or.literals], 1, np.inf
    elif constraint.has_at_most_one():
        yield [(literal, 1) for literal in constraint.at_most_one.literals], -np.inf, 1
    elif constraint.has_exactly_one():
        yield [(literal, 1) for literal in constraint.exactly_one.literals], 1, 1


def _columns(terms: Iterable[tuple[int, int]]) -> tuple[list[int], list[float], float]:
    """Columns and entries of a row whose terms may be of negated literals, numbered below zero, and their constant."""
    columns, entries, constant = list[int](), list[float](), 0.0
    for literal, entry in terms:
        columns.append(literal if literal >= 0 else -literal - 1)
        entries.append(entry if literal >= 0 else -entry)
        constant += entry if literal < 0 else 0
    return columns, entries, constant
