"""The exact policy: CP-SAT over counts, then over ranks and wavelengths, from the best heuristic plan."""

from planner.cpsat.search import pattern_of
from planner.cpsat.solve import search_levels
from planner.greedy import in_order, place_all, priced_rows, tightest
from planner.plan import Assignment, Plan
from planner.problem import Problem
from planner.result import Result, SolveOptions
from planner.routing import route_pattern


def cpsat(problem: Problem, options: SolveOptions) -> Result:
    """Optimal over the listed candidates where time allows; else the best plan found and a valid bound."""
    starts: list[tuple[str, list[Assignment]]] = []
    if options.hint is not None and (hinted := realized_hint(problem, options.hint)) is not None:
        starts.append(("hint", hinted))
    rows, jobs = priced_rows(problem)
    plans = {
        "first_fit": place_all(problem, in_order),
        "best_fit": place_all(problem, tightest),
        "priced": place_all(problem, tightest, row_order=rows, job_order=jobs),
    }
    starts += [(name, plan) for name, plan in plans.items() if plan is not None]
    return search_levels(problem, options, starts)


def realized_hint(problem: Problem, plan: Plan) -> list[Assignment] | None:
    """A given plan as a start: its jobs and counts routed anew; None where it does not fit this problem."""
    by_name = {options.job.name: options for options in problem.options}
    known = [a for a in plan.assignments if a.job in by_name and by_name[a.job].row_of(a.configuration) is not None]
    admitted = {a.job for a in known}
    if any(options.must_run and options.job.name not in admitted for options in problem.options):
        return None
    pattern = pattern_of(problem, known)
    if any(problem.options[j].must_stay and not choice.stays for j, choice in pattern.items()):
        return None
    return route_pattern(problem, pattern)
