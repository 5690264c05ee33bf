"""Policies for pages: rules from papers, and the solver that starts from the best of them."""

import time
from collections.abc import Callable

from planner.model.errors import InputError
from planner.model.result import Incumbent, SolveOptions, Status, relative_gap
from planner.pages.cpsat.place import place_pages, steps_kept_s
from planner.pages.even_shares import even_shares
from planner.pages.heuristics import all_local, bw_aware, greedy_keep, proportional
from planner.pages.problem import PageProblem, Pages
from planner.pages.result import OBJECTIVE, PROVEN, PagePolicy, PageResult

Rule = Callable[[PageProblem], list[Pages] | None]
RULES: dict[str, Rule] = {
    "local": all_local,
    "bw_aware": bw_aware,
    "proportional": proportional,
    "greedy_keep": greedy_keep,
}


def cpsat(problem: PageProblem, options: SolveOptions) -> PageResult:
    """The best placement found, never slower than any rule's, with a valid bound."""
    return place_pages(problem, options, (*RULES.items(), ("even", even_shares)))


def _by_rule(name: str, rule: Rule) -> PagePolicy:
    def policy(problem: PageProblem, options: SolveOptions) -> PageResult:
        started = time.perf_counter()
        placed = rule(problem)
        if placed is None:
            return PageResult(Status.NO_PLAN, name, problem, None, None, None, time.perf_counter() - started)
        value_s, bound_s = problem.value_s(placed), sum(steps_kept_s(problem))
        wall_time_s = time.perf_counter() - started
        event = Incumbent(wall_time_s, OBJECTIVE, value_s, bound_s, name)
        if options.on_incumbent is not None:
            options.on_incumbent(event)
        gap = relative_gap(value_s, bound_s)
        status = Status.OPTIMAL if gap is not None and gap <= PROVEN else Status.FEASIBLE
        return PageResult(status, name, problem, tuple(placed), value_s, bound_s, wall_time_s, (event,))

    return policy


def rule_values_s(problem: PageProblem) -> dict[str, float | None]:
    """Weighted time of the steps by each rule; None where it finds no placement."""
    placed = {name: rule(problem) for name, rule in RULES.items()}
    return {name: None if pages is None else problem.value_s(pages) for name, pages in placed.items()}


PAGE_POLICIES: dict[str, PagePolicy] = {"cpsat": cpsat} | {name: _by_rule(name, rule) for name, rule in RULES.items()}


def find_page_policy(name: str) -> PagePolicy:
    """A policy by name; InputError lists them where it is unknown."""
    if name not in PAGE_POLICIES:
        raise InputError("policy", name, f"is unknown; policies for pages are: {', '.join(PAGE_POLICIES)}")
    return PAGE_POLICIES[name]
