"""One level by logic-based Benders decomposition (Hooker and Ottosson, 2003).

Step 1 is the master problem: it proposes configurations and counts of blocks by server, with a relaxation of what else
jobs hold. Step 2 is the subproblem: it realises the proposal, or proves that it cannot be, which becomes a no-good of
step 1. The loop ends when nothing better is left, or time is up.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from planner.cpsat.search import Search
from planner.cpsat.step1.objectives import OBJECTIVES
from planner.cpsat.step1.run import Outcome, run
from planner.cpsat.step2.fix_configurations import fix_configurations, nogood_of_counts, place_again, step_two_limits
from planner.cpsat.step2.realize import realize
from planner.fabrics.pattern import Pattern, route_pattern
from planner.formulation.terms import Term
from planner.model.clock import Clock
from planner.model.plan import Assignment


@dataclass(frozen=True)
class LevelOutcome:
    """True if the best plan is optimal over the candidates in force; its valid bound is `Search.bound`."""

    is_proven: bool
    is_infeasible: bool = False


def optimize(search: Search, objective: str, clock: Clock) -> LevelOutcome:
    """Optimize an objective over the candidates in force; nothing is proven where step 1 would be too large."""
    if not (search.build(clock) and search.can_state(objective)):
        return LevelOutcome(is_proven=False)
    term = search.model.term(objective)
    while True:
        outcome = _step_one(search, objective, term, clock)
        if outcome.bound is not None:
            search.tighten(objective, term.to_float(outcome.bound))
        if outcome.is_infeasible and search.assignments is None:
            return LevelOutcome(is_proven=False, is_infeasible=search.is_exact)
        if outcome.pattern is None or _is_no_better(search, objective, term, outcome):
            return LevelOutcome(search.is_exact and (outcome.is_optimal or outcome.is_infeasible))
        found = _step_two(search, objective, outcome, clock)
        if found is not None:
            is_kept = _adopt(search, objective, term, found)
            return LevelOutcome(is_kept and search.is_exact and outcome.is_optimal)
        if search.is_stopped or clock.is_over:
            return LevelOutcome(is_proven=False)


def _step_one(search: Search, objective: str, term: Term, clock: Clock) -> Outcome:
    """Solve the relaxation from the best plan so far; plans that first fit can route are adopted on the way."""
    model = search.model
    if search.assignments is not None:
        model.hint(search.pattern(), search.assignments)
    if term.is_maximized:
        model.cp.maximize(term.expression)
    else:
        model.cp.minimize(term.expression)

    depends_on_counts = OBJECTIVES[objective].depends_on_counts or search.needs_counts

    def on_pattern(pattern: Pattern, most_lit: dict[tuple[int, int], int]) -> None:
        limit = most_lit if depends_on_counts else None
        found = route_pattern(search.problem, pattern, limit)
        if found is not None and search.improves(objective, term, found):
            search.assignments = tuple(found)
            search.report(objective, search.bound, "cpsat")

    return run(
        model,
        time_limit_s=max(clock.left_s, 0.01),
        options=search.options,
        workers=search.workers,
        on_pattern=on_pattern,
        on_bound=lambda steps: search.tighten(objective, term.to_float(steps)),
        on_stop=search.stop,
    )


def _is_no_better(search: Search, objective: str, term: Term, outcome: Outcome) -> bool:
    """True if the best plan so far already reaches what step 1 found, at its resolution."""
    value = search.value(objective)
    if value is None or outcome.objective is None:
        return False
    return term.is_reached(value, search.amounts(objective), outcome.objective)


def _step_two(search: Search, objective: str, outcome: Outcome, clock: Clock) -> Sequence[Assignment] | None:
    """Realise the choices of step 1, or forbid them; None if they were not realised.

    Where no objective depends on where jobs lie, any counts with these configurations will do.
    """
    assert outcome.pattern is not None
    depends_on_counts = OBJECTIVES[objective].depends_on_counts or search.needs_counts
    most_lit = outcome.most_lit if depends_on_counts else None
    realized = realize(search.problem, outcome.pattern, step_two_limits(search, clock), most_lit)
    if realized.assignments is not None:
        return realized.assignments
    if realized.is_undecided:
        search.num_undecided += 1
    jobs = realized.nogood or tuple(outcome.pattern)
    search.add_nogood(nogood_of_counts(search.problem, outcome.pattern, jobs, most_lit))
    if depends_on_counts:
        return None
    return place_again(search, outcome.pattern, clock) or fix_configurations(search, outcome.pattern, clock)


def _adopt(search: Search, objective: str, term: Term, found: Sequence[Assignment]) -> bool:
    """Take what step 2 realised as the best plan, if it is better; whether it keeps the finished levels."""
    if search.improves(objective, term, found):
        search.assignments = tuple(found)
        search.report(objective, search.bound, "cpsat")
        return True
    return search.holds(found)
