"""Linear programs as rows of numbers, and what the multipliers of the simplex method prove about them.

Whatever multipliers it ends with prove a bound, since all columns lie in finite boxes: what is left of the objective
after the rows' share is smallest at a corner.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from ortools.linear_solver.python import model_builder

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass
class Rows:
    """least <= entries . columns <= most, row by row."""

    columns: list[Ints] = field(default_factory=list)
    entries: list[Floats] = field(default_factory=list)
    limits: list[tuple[float, float]] = field(default_factory=list)

    def add(self, columns: Iterable[int] | Ints, entries: Iterable[float] | Floats, least: float, most: float) -> None:
        self.columns.append(np.asarray(columns, np.int64))
        self.entries.append(np.asarray(entries, np.float64))
        self.limits.append((least, most))


@dataclass(frozen=True)
class LinearMinimum:
    """What the simplex method ends with."""

    bound: float
    """proven, on the least objective"""
    columns: Floats
    """that attain about it"""
    multipliers: Floats
    """by row: change of the objective for one more of its limit"""
    reduced: Floats
    """by column: what one more of it adds to the proven bound, from its lower end; where negative, one less from its
    upper end adds as much"""


def minimized(rows: Rows, box: Floats, objective: Floats, time_limit_s: float) -> LinearMinimum | None:
    """The least objective; None where the time does not suffice."""
    lp = model_builder.Model()  # type: ignore[no-untyped-call]
    columns = [lp.new_num_var(low, high, "") for low, high in box.tolist()]
    for row, entries, (least, most) in zip(rows.columns, rows.entries, rows.limits, strict=True):
        terms = [columns[c] for c in row.tolist()]
        lp.add_linear_constraint(model_builder.LinearExpr.weighted_sum(terms, entries.tolist()), least, most)
    lp.minimize(model_builder.LinearExpr.weighted_sum(columns, objective.tolist()))
    solver = model_builder.Solver("glop")
    solver.set_time_limit_in_seconds(max(time_limit_s, 0.01))
    if solver.solve(lp) != model_builder.SolveStatus.OPTIMAL:
        return None
    values = np.asarray(solver.values(lp.get_variables()), np.float64)
    multipliers = np.asarray(solver.dual_values(lp.get_linear_constraints()), np.float64)
    bound, reduced = _proven(rows, box, objective, multipliers)
    return LinearMinimum(bound, values, multipliers, reduced)


def _proven(rows: Rows, box: Floats, objective: Floats, multipliers: Floats) -> tuple[float, Floats]:
    """What multipliers prove, and what they leave of the objective: those that would need a limit that a row lacks
    count as zero."""
    limits = np.array(rows.limits).reshape(-1, 2)
    limit = np.where(multipliers > 0, limits[:, 0], limits[:, 1])
    used = np.where(np.isfinite(limit), multipliers, 0.0)
    share = float(np.sum(np.where(np.isfinite(limit), limit, 0.0) * used))
    columns = np.concatenate([*rows.columns, np.zeros(0, np.int64)])
    row = np.repeat(np.arange(len(used)), [len(each) for each in rows.columns])
    entries = np.concatenate([*rows.entries, np.zeros(0)]) * used[row]
    left = objective - np.bincount(columns, entries, len(objective))
    return share + float(np.minimum(left * box[:, 0], left * box[:, 1]).sum()), left
