"""The exact policy: CP-SAT over counts, then over ranks and wavelengths, from the best heuristic plan."""

from collections.abc import Callable, Iterator

from planner.cpsat.search import pattern_of
from planner.cpsat.solve import search_levels
from planner.greedy import in_order, place_all, priced_rows, tightest
from planner.plan import Assignment, Plan
from planner.problem import Problem
from planner.result import Result, SolveOptions
from planner.routing import route_pattern


def cpsat(problem: Problem, options: SolveOptions) -> Result:
    """Optimal over the listed candidates where time allows; else the best plan found and a valid bound."""
    return search_levels(problem, options, _starts(problem, options))


def _starts(problem: Problem, options: SolveOptions) -> Iterator[tuple[str, list[Assignment]]]:
    """Plans to start from, one at a time."""
    if options.hint is not None and (hinted := realized_hint(problem, options.hint)) is not None:
        yield "hint", hinted
    rows, jobs = priced_rows(problem)
    makers: dict[str, Callable[[], list[Assignment] | None]] = {
        "priced": lambda: place_all(problem, tightest, row_order=rows, job_order=jobs),
        "first_fit": lambda: place_all(problem, in_order),
        "best_fit": lambda: place_all(problem, tightest),
    }
    for name, make in makers.items():
        found = make()
        if found is not None:
            yield name, found


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
