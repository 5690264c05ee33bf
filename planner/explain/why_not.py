"""Why a job does not run: alone in the cluster, or beside what a plan admits."""

from collections.abc import Iterator

from planner.explain import remedies
from planner.explain.capacity import told_sizes, why_no_block, why_too_few, why_unlisted
from planner.explain.cost import Cost, cost_of, what_gives
from planner.explain.explanation import Statement, Tag
from planner.explain.fewest_links import why_no_links
from planner.explain.whatif_solver import WhatIfSolver
from planner.explain.words import amount, place
from planner.fabrics import plugin_of
from planner.model.edit import only, pinned, required
from planner.model.instance import Instance
from planner.model.phrases import accelerators
from planner.model.plan import Plan

Reason = tuple[Tag, str, list[Statement], float | None]
"""Tag, headline, statements, cost."""


def why_impossible(solver: WhatIfSolver, name: str) -> Reason | None:
    """What a job lacks with the whole cluster, as it is now, to itself; None unless proven impossible."""
    waiting = only(solver.instance, name)
    if solver.answer(waiting, any_plan=True).is_possible is not False:
        return None
    statements = [*_by_size(solver, waiting, name), *remedies.repairs(solver, waiting, name)]
    statements += remedies.working_sizes(solver, waiting, name)
    statements += remedies.without_constraints(solver, waiting, name)
    return "impossible alone", f"{name} cannot run even with the whole cluster to itself", statements, None


def why_not(solver: WhatIfSolver, plan: Plan, name: str) -> Reason:
    """What a job lacks beside the plan, what would make it fit, and what admitting it costs."""
    waiting = pinned(solver.instance, plan, name)
    answer = solver.answer(waiting)
    if answer.is_possible is None:
        return _undecided(solver, plan, name)
    if answer.is_possible:
        assert answer.plan is not None
        fits = Statement(f"fits beside the other jobs {place(waiting.cluster.fabric, answer.plan[name])}")
        cost = cost_of(solver, plan, name)
        return "worth less", _worth(name, cost), [fits, *_after(plan, name, cost)], cost.at_most
    statements = list(_by_size(solver, waiting, name))
    cost = cost_of(solver, plan, name)
    statements += remedies.moves(solver, plan, name)
    statements += remedies.repairs(solver, waiting, name)
    statements += remedies.other_size(solver, waiting, name)
    statements += remedies.without_constraints(solver, waiting, name)
    statements += _after(plan, name, cost)
    headline = f"{name} does not fit beside this plan"
    if cost.phrase is not None:
        headline += _gain(cost) or f" (admitting it would cost {cost.phrase})"
    return "does not fit beside this plan", headline, statements, cost.at_most


def _by_size(solver: WhatIfSolver, waiting: Instance, name: str) -> Iterator[Statement]:
    """What each size lacks, for an instance in which the job was found impossible."""
    sizes = told_sizes(waiting, waiting.job(name))
    for size in sizes:
        if why_unlisted(waiting, name, size) is None and (reason := why_too_few(waiting, size)):
            sizes_told = f"{size} or more accelerators" if size < sizes[-1] else accelerators(size)
            yield Statement(f"with {sizes_told}: {reason}")
            return
        yield Statement(f"with {accelerators(size)}: {what_is_lacking(solver, waiting, name, size)}")


def what_is_lacking(solver: WhatIfSolver, waiting: Instance, name: str, size: int) -> str:
    """By a job of this size, for an instance in which it was found impossible."""
    shortages = plugin_of(waiting.cluster.fabric).shortages
    reason = why_unlisted(waiting, name, size) or why_too_few(waiting, size) or why_no_block(waiting, name, size)
    reason = reason or shortages.counted(waiting, name, size)
    reason = reason or why_no_links(solver, required(waiting, name, accelerators=size), name, size)
    return reason or "no place has all that it needs at once"


def _worth(name: str, cost: Cost) -> str:
    if cost.phrase is None:
        return f"{name} fits beside this plan, which leaves it out"
    if gain := _gain(cost):
        return f"{name} fits beside this plan, which leaves it out{gain}"
    return f"{name} is worth less than it takes (admitting it costs {cost.phrase})"


def _gain(cost: Cost) -> str:
    """Said instead of a cost where a better plan admits the job."""
    if cost.at_most is None or cost.at_most >= 0:
        return ""
    sure = "" if cost.at_least == cost.at_most else "at least "
    return f" (a better plan admits it: {sure}{amount(-cost.at_most)} more {cost.objective})"


def _after(plan: Plan, name: str, cost: Cost) -> Iterator[Statement]:
    """What the best plan with the job changes, or that there is none."""
    if cost.plan is not None:
        yield from what_gives(plan, cost.plan, name)
    elif cost.is_possible is False:
        yield Statement(f"no plan runs {name} and all required jobs and residents")


def _undecided(solver: WhatIfSolver, plan: Plan, name: str) -> Reason:
    text = f"{name} beside this plan: not decided within {solver.time_limit_s:g} s; give more time"
    return "undecided in time", f"{name} is undecided in time", [Statement(text, is_verified=False)], None
