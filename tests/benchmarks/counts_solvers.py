"""Ways to solve a datacenter by counts: one CP-SAT model, one HiGHS model, POP's random parts.

HiGHS comes with ortools (MathOpt). Never import highspy beside it: both ship the same library.
"""

import re
import time
from collections.abc import Callable, Sequence
from datetime import timedelta

import numpy as np
from ortools.math_opt.python import mathopt
from ortools.sat.python import cp_model

from tests.benchmarks.counts import Counts

Report = Callable[[float | None, float | None], None]
"""takes a value and a bound as they are found, None for what is not known"""
ROW = re.compile(r"^ ?[A-Za-z]? +\d+ +\d+ +\d+ +[\d.]+% +(\S+) +(\S+) +\S+ ")
"""bound and value in HiGHS's table"""


def cp_sat(counts: Counts, limit_s: float, report: Report, *, workers: int = 1) -> None:
    """One boolean for each option and rack; TimeoutError where it is not built in time."""
    ends = time.perf_counter() + limit_s
    model = cp_model.CpModel()
    racks: list[tuple[list[cp_model.IntVar], list[int]]] = [([], []) for _ in counts.room]
    chosen: list[cp_model.IntVar] = []
    worth: list[float] = []
    for rows in counts.options_of():
        _require_time(ends)
        mine = []
        for row in rows.tolist():
            for rack, (literals, sizes) in enumerate(racks):
                if counts.devices[row] <= counts.room[rack]:
                    mine.append(model.new_bool_var(""))
                    literals.append(mine[-1])
                    sizes.append(int(counts.devices[row]))
                    worth.append(float(counts.value[row]))
        model.add_at_most_one(mine)
        chosen += mine
    for (literals, sizes), room in zip(racks, counts.room.tolist(), strict=True):
        model.add(cp_model.LinearExpr.weighted_sum(literals, sizes) <= room)
    model.maximize(cp_model.LinearExpr.weighted_sum(chosen, worth))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = workers
    solver.parameters.max_time_in_seconds = _require_time(ends)
    solver.best_bound_callback = lambda bound: report(None, bound)
    status = solver.solve(model, _Found(report))
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        report(solver.objective_value, solver.best_objective_bound)


class _Found(cp_model.CpSolverSolutionCallback):
    def __init__(self, report: Report) -> None:
        super().__init__()
        self._report = report

    def on_solution_callback(self) -> None:
        self._report(self.objective_value, self.best_objective_bound)


def highs(counts: Counts, limit_s: float, report: Report) -> float:
    """The same rows as a mixed-integer linear model; the value found. TimeoutError where it is not built in time."""
    ends = time.perf_counter() + limit_s
    model = mathopt.Model()
    racks: list[list[mathopt.LinearTerm]] = [[] for _ in counts.room]
    worth: list[mathopt.LinearTerm] = []
    for rows in counts.options_of():
        _require_time(ends)
        mine = []
        for row in rows.tolist():
            for rack, terms in enumerate(racks):
                if counts.devices[row] <= counts.room[rack]:
                    mine.append(model.add_binary_variable())
                    terms.append(int(counts.devices[row]) * mine[-1])
                    worth.append(float(counts.value[row]) * mine[-1])
        model.add_linear_constraint(mathopt.fast_sum(mine) <= 1)
    for terms, room in zip(racks, counts.room.tolist(), strict=True):
        model.add_linear_constraint(mathopt.fast_sum(terms) <= room)
    model.maximize(mathopt.fast_sum(worth))
    parameters = mathopt.SolveParameters(time_limit=timedelta(seconds=_require_time(ends)))
    result = mathopt.solve(model, mathopt.SolverType.HIGHS, params=parameters, msg_cb=lambda said: _heard(said, report))
    value = result.objective_value() if result.has_primal_feasible_solution() else 0.0
    bound = result.dual_bound()
    report(value, bound if np.isfinite(bound) else None)
    return value


def pop(counts: Counts, limit_s: float, report: Report, *, parts: int, seed: int = 0) -> None:
    """Jobs and racks in random parts, each solved by HiGHS in as many parts of the time; there is no bound.

    As Narayanan et al., SOSP 2021, one part after the other on one core. Where all racks are one, each part has its
    share of the accelerators; else there are no more parts than racks.
    """
    rng = np.random.default_rng(seed)
    is_one = len(counts.room) == 1
    parts = parts if is_one else min(parts, len(counts.room))
    of_job = rng.permutation(counts.num_jobs) % parts
    of_rack = rng.permutation(len(counts.room)) % parts
    total = 0.0
    for part in range(parts):
        room = counts.room // parts if is_one else counts.room[of_rack == part]
        total += highs(counts.part(of_job == part, room), limit_s / parts, lambda value, bound: None)
        report(total, None)


def _heard(lines: Sequence[str], report: Report) -> None:
    for line in lines:
        if row := ROW.match(line):
            bound, value = (float(each) for each in row.groups())
            report(value if np.isfinite(value) else None, bound if np.isfinite(bound) else None)


def _require_time(ends: float) -> float:
    """Seconds that are left."""
    left = ends - time.perf_counter()
    if left <= 0:
        raise TimeoutError("the model is not built in time")
    return left
