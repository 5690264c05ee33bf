"""One level by logic-based Benders decomposition (Hooker and Ottosson, 2003).

Step 1 is the master problem: it proposes configurations and counts of blocks by server, with a relaxation of what else
jobs hold. Step 2 is the subproblem: it realises the proposal, or proves that it cannot be, which becomes a no-good of
step 1. The loop ends when nothing better is left, or time is up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner.cpsat.search import Search
from planner.cpsat.set_aside import SetAside, renumbered
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
    is_exhausted: bool = False
    """whether step 1 has nothing better to propose"""


def optimize(search: Search, objective: str, clock: Clock) -> LevelOutcome:
    """Optimize an objective over the candidates in force; nothing is proven where step 1 would be too large.

    What was set aside is decided once nothing else is left, and the search then goes on.
    """
    outcome = _propose(search, objective, clock)
    while outcome.is_exhausted and search.set_aside and _decide(search, objective, clock):
        outcome = _propose(search, objective, clock)
    return outcome


def _propose(search: Search, objective: str, clock: Clock) -> LevelOutcome:
    """Ever better choices, until one is realised as the best or none is left."""
    if not (search.build(clock) and search.can_state(objective)):
        return LevelOutcome(is_proven=False)
    term = search.model.term(objective)
    while True:
        outcome = _step_one(search, objective, term, clock)
        is_searched = outcome.is_optimal or outcome.is_infeasible
        if outcome.bound is not None:
            search.tighten(objective, term.to_float(outcome.bound))
        if outcome.is_infeasible and search.assignments is None:
            return LevelOutcome(is_proven=False, is_infeasible=search.is_exact, is_exhausted=True)
        if outcome.pattern is None or _is_no_better(search, objective, term, outcome):
            return LevelOutcome(search.is_exact and is_searched, is_exhausted=is_searched)
        found = _step_two(search, objective, outcome, clock)
        if found is not None:
            is_kept = _adopt(search, objective, term, found)
            is_best = is_kept and outcome.is_optimal
            return LevelOutcome(is_best and search.is_exact, is_exhausted=is_best)
        if search.is_stopped or clock.is_over:
            return LevelOutcome(is_proven=False)


def _decide(search: Search, objective: str, clock: Clock) -> bool:
    """What was set aside is realised or refuted in the time that is left; true if all of it is.

    Where work is limited instead of time, the same work would end the same way. Where the best plan lies below all that
    a core is for, larger cores come first.
    """
    value, term = search.value(objective), search.model.term(objective)
    if search.options.deterministic_limit is not None or (float("-inf") if value is None else value) < search.floor:
        return False
    for number, each in reversed([*enumerate(search.set_aside, start=1)]):
        if search.is_stopped or clock.is_over or renumbered(each.pattern, search.full, search.problem) is None:
            return False
        limits = replace(step_two_limits(search, clock), time_limit_s=clock.left_s / number)
        realized = realize(search.full, each.pattern, limits, each.nogood.most_lit)
        if realized.is_undecided:
            return False
        search.set_aside.remove(each)
        if realized.assignments is None:
            search.add_nogood(nogood_of_counts(search.full, each.pattern, realized.nogood, each.nogood.most_lit))
            continue
        _adopt(search, objective, term, realized.assignments)
        search.nogoods.remove(each.nogood)
        search.restrict(search.problem)
    return True


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
    jobs = realized.nogood or tuple(outcome.pattern)
    nogood = nogood_of_counts(search.problem, outcome.pattern, jobs, most_lit)
    search.add_nogood(nogood)
    if realized.is_undecided:
        pattern = renumbered(outcome.pattern, search.problem, search.full)
        assert pattern is not None
        search.set_aside.append(SetAside(pattern, nogood))
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
