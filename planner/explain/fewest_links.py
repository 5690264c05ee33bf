"""Which links between servers a job lacks, as few as make it fit, and which limit of the fabric keeps it out."""

from collections.abc import Mapping

from planner.explain.whatif_solver import WhatIfSolver
from planner.fabrics import plugin_of
from planner.fabrics.shortages import MoreLinks, Pair
from planner.model.instance import Instance


def why_no_links(solver: WhatIfSolver, instance: Instance, name: str, size: int) -> str | None:
    """Links or a limit of the fabric that keep out a job with devices enough; None where it is something else, or
    time is up.

    The instance is one in which the job, at this size, was found impossible.
    """
    if size == 1:
        return None
    fabric = instance.cluster.fabric
    shortages = plugin_of(fabric).shortages
    if (links := shortages.links) is not None:
        more = fewest_links(solver, links, instance, name, plenty=size)
        if more is not None:
            verb = "needs" if _all_needed(solver, links, instance, more, plenty=size) else "fits with"
            return f"{verb} {links.phrase(fabric, more)}"
    for lifted in shortages.lifted(instance):
        if solver.answer(lifted.instance, any_plan=True).is_possible:
            return lifted.reason
    return None


def fewest_links(
    solver: WhatIfSolver, links: MoreLinks, instance: Instance, name: str, *, plenty: int
) -> dict[Pair, int] | None:
    """Links by ordered pair that make the job fit, none of them to spare; None where no links do.

    The least number on every pair is found by bisection; then only the pairs on which the job uses new ones keep
    theirs, and each is lowered while the job still fits.
    """
    low, high = 0, plenty
    best = solver.answer(links.added_everywhere(instance, plenty), any_plan=True)
    if not best.is_possible:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        answer = solver.answer(links.added_everywhere(instance, middle), any_plan=True)
        if answer.is_possible:
            high, best = middle, answer
        else:
            low = middle
    assert best.plan is not None
    return _lowered(solver, links, instance, dict.fromkeys(links.newly_used(instance, best.plan[name]), high))


def _lowered(solver: WhatIfSolver, links: MoreLinks, instance: Instance, more: Mapping[Pair, int]) -> dict[Pair, int]:
    """Each pair in turn as few as still fit beside the others."""
    current = dict(more)
    for pair in more:
        while current.get(pair):
            fewer = {p: count - (p == pair) for p, count in current.items() if count > (p == pair)}
            if not solver.answer(links.added(instance, fewer), any_plan=True).is_possible:
                break
            current = fewer
    return current


def _all_needed(
    solver: WhatIfSolver, links: MoreLinks, instance: Instance, more: Mapping[Pair, int], *, plenty: int
) -> bool:
    """Whether the job cannot do with one link less on any of these pairs, however many others have."""
    pairs = links.pairs(instance.cluster.fabric)
    for pair, count in more.items():
        others = {p: count - 1 if p == pair else plenty for p in pairs}
        if solver.answer(links.added(instance, others), any_plan=True).is_possible is not False:
            return False
    return True
