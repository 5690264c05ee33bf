"""The exact policy: CP-SAT over counts, then over ranks and wavelengths, from the best heuristic plan."""

from planner.cpsat.solve import search_levels
from planner.greedy import in_order, place_all, priced_rows, tightest
from planner.plan import Assignment
from planner.problem import Problem
from planner.result import Result, SolveOptions


def cpsat(problem: Problem, options: SolveOptions) -> Result:
    """Optimal over the listed candidates where time allows; else the best plan found and a valid bound."""
    starts: list[tuple[str, list[Assignment]]] = []
    if options.hint is not None:
        starts.append(("hint", list(options.hint.assignments)))
    rows, jobs = priced_rows(problem)
    plans = {
        "first_fit": place_all(problem, in_order),
        "best_fit": place_all(problem, tightest),
        "priced": place_all(problem, tightest, row_order=rows, job_order=jobs),
    }
    starts += [(name, plan) for name, plan in plans.items() if plan is not None]
    return search_levels(problem, options, starts)
