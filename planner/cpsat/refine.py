"""A level whose amounts are too far apart for one integer: digit by digit, until the smallest job decides too."""

from planner.cpsat.benders import optimize
from planner.cpsat.core import restrict_to_ties
from planner.cpsat.search import Search
from planner.model.clock import Clock


def refine(search: Search, objective: str, clock: Clock) -> bool:
    """After a level that is proven at the resolution of its term: whether it is proven for all that decides.

    A plan that met its bound without a model is; else the best plan is then the best of those that the coarser digits
    do not tell from it.
    """
    if not search.can_state(objective) or search.model.term(objective).is_fine:
        return True
    if objective == "value" and not search.kept:
        restrict_to_ties(search, 0.0)
    while not (search.build(clock) and (term := search.model.term(objective)).is_fine):
        if not search.can_state(objective):
            return False
        amounts = search.amounts(objective)
        assert amounts is not None
        if isinstance(term.expression, int):
            return True
        search.model.terms[objective] = term.finer(search.model.cp, amounts)
        if not optimize(search, objective, clock).is_proven:
            return False
    return True
