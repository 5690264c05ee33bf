"""A bound on value by all that servers have little of at once: one row of each job, sums over all jobs in capacities.

It is the knapsack over accelerators with more rows, and no servers: valid, since each row holds for every plan.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from ortools.sat.python import cp_model

from planner.cpsat.search import Search
from planner.cpsat.step2.fix_configurations import step_two_limits
from planner.fabrics import plugin_of
from planner.fabrics.problem import JobOptions
from planner.formulation.step_one import Scarce
from planner.formulation.step_two import FOUND
from planner.formulation.terms import Part, sum_of
from planner.formulation.variables import total
from planner.model.clock import Clock

DEPTHS = (0.015, 1.0)
"""how far below the relaxation's bound, as a fraction, the value of plans may be whose rows take part"""
Asked = tuple[float, tuple[int, ...]]
"""value of a row, and what it needs: devices first"""


def bound_scarce(search: Search, clock: Clock) -> None:
    """Tighten the bound by what servers have little of, where the fabric says so, all rows are listed and time allows.

    Only rows that plans of a threshold or more may use take part: no other plan is worth more than these two say. If
    the threshold says it, a lower one is tried. A level that is searched once more keeps what it knew.
    """
    problem, value = search.full, search.value("value")
    is_known = search.bound is not None and search.bound < search.knapsack.bound
    if value is None or is_known or not search.has_all_rows:
        return
    scarce = plugin_of(problem.cluster.fabric).step_one.scarce(problem.cluster)
    if scarce is None:
        return
    clock = search.options.counted(clock)
    for depth in DEPTHS:
        least = max(value, (1 - depth) * search.knapsack.bound)
        bound = _bound(search, scarce, least, clock)
        if bound is None:
            return
        search.tighten("value", max(least, bound))
        if bound >= least or least == value:
            return


def _bound(search: Search, scarce: Scarce, least: float, clock: Clock) -> float | None:
    """Over rows that plans of at least so much value may use; None where time was too short."""
    problem = search.full
    core, jobs = search.knapsack.core(problem, least, [None] * len(problem.options)), list[list[Asked]]()
    for options in core.options:
        if clock.is_over:
            return None
        jobs.append([*_asked(options, scarce)])
    return _most(search, jobs, (problem.cluster.num_healthy, *scarce.capacities), clock)


def _asked(options: JobOptions, scarce: Scarce) -> Iterator[Asked]:
    """Rows, the most valuable first, without those that need no less than one before; rows that ask for the same share
    a demand, which is asked about once. Of a job that may stay nothing is known but its devices."""
    devices, nothing = options.candidates.num_devices, (0,) * len(scarce.capacities)
    before, known = dict[int, list[tuple[int, ...]]](), dict[int, tuple[int, ...] | None]()
    for row in options.rows_by_value():
        found = before.setdefault(int(devices[row]), [])
        if nothing in found:
            continue
        demand = options.shapes[row]
        if id(demand) not in known:
            known[id(demand)] = nothing if options.can_stay else scarce.needs(demand)
        needs = known[id(demand)]
        if needs is None or any(all(np.less_equal(each, needs)) for each in found):
            continue
        found.append(needs)
        yield float(options.value[row]), (int(devices[row]), *needs)


def _most(search: Search, jobs: list[list[Asked]], capacities: tuple[int, ...], clock: Clock) -> float | None:
    """Bound on the value of at most one row of each job within the capacities; None where time was too short."""
    cp = cp_model.CpModel()
    chosen = [[cp.new_bool_var("") for _ in rows] for rows in jobs]
    for literals in chosen:
        cp.add_at_most_one(literals)
    pairs = [list(zip(rows, literals, strict=True)) for rows, literals in zip(jobs, chosen, strict=True)]
    for number, capacity in enumerate(capacities):
        cp.add(total(needs[number] * literal for rows in pairs for (_, needs), literal in rows) <= capacity)
    parts: list[list[Part]] = [[(value, literal) for (value, _), literal in rows] for rows in pairs]
    term = sum_of(parts, is_maximized=True)
    cp.maximize(term.expression)
    limits = step_two_limits(search, clock)
    solver = replace(limits, time_limit_s=min(limits.time_limit_s, clock.left_s)).solver()
    return term.to_float(round(solver.best_objective_bound)) if solver.solve(cp) in FOUND else None
