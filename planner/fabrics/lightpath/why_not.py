"""How many fibers a job lacks, and whether it is light inside servers that it lacks."""

from collections.abc import Mapping

from costmodel.fabrics import Lightpath
from planner.explain.whatif_solver import WhatIfSolver
from planner.explain.words import more_fibers
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.whatif.edit import (
    Pair,
    server_pairs,
    with_fabric,
    with_fibers,
    with_fibers_everywhere,
)


def why_no_light(asker: WhatIfSolver, instance: Instance, name: str, size: int) -> str | None:
    """What light a job lacks that has devices enough; None where it is something else, or time is up.

    The instance is one in which the job, at this size, was found impossible.
    """
    fabric = instance.cluster.fabric
    if not isinstance(fabric, Lightpath) or size == 1:
        return None
    more = fewest_fibers(asker, instance, name, plenty=size)
    if more is not None:
        verb = "needs" if _all_needed(asker, instance, more, plenty=size) else "fits with"
        return f"{verb} {more_fibers(fabric, more)}"
    if fabric.waveguides == "shared":
        dedicated = with_fabric(instance, waveguides="dedicated")
        if asker.ask(dedicated, any_plan=True).is_possible:
            return "the waveguides inside the servers are full; fits with dedicated ones"
    lossless = with_fabric(instance, loss_budget_db=None)
    if fabric.loss_budget_db is not None and asker.ask(lossless, any_plan=True).is_possible:
        return f"no path stays within the loss budget of {fabric.loss_budget_db:g} dB"
    return None


def fewest_fibers(asker: WhatIfSolver, instance: Instance, name: str, *, plenty: int) -> dict[Pair, int] | None:
    """Fibers by ordered pair that make the job fit, none of them to spare; None where no fibers do.

    The least number on every pair is found by bisection; then only the pairs that the job lights anew keep
    theirs, and each is lowered while the job still fits.
    """
    low, high = 0, plenty
    best = asker.ask(with_fibers_everywhere(instance, plenty), any_plan=True)
    if not best.is_possible:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        answer = asker.ask(with_fibers_everywhere(instance, middle), any_plan=True)
        if answer.is_possible:
            high, best = middle, answer
        else:
            low = middle
    assert best.plan is not None
    return _lowered(asker, instance, dict.fromkeys(_newly_lit(instance, best.plan, name), high))


def _newly_lit(instance: Instance, plan: Plan, name: str) -> list[Pair]:
    """Ordered pairs on which the job uses a fiber that the instance does not have."""
    fabric = instance.cluster.fabric
    pairs: set[Pair] = set()
    for circuit in (circuit for held in plan[name].circuits for circuit in held.circuits):
        for fiber in circuit.fibers:
            ends, _, index = fiber.rpartition("#")
            source, _, destination = ends.partition(">")
            pair = fabric.parse_server(source), fabric.parse_server(destination)
            if int(index) >= fabric.num_fibers(*pair):
                pairs.add(pair)
    return sorted(pairs)


def _lowered(asker: WhatIfSolver, instance: Instance, more: Mapping[Pair, int]) -> dict[Pair, int]:
    """Each pair in turn as few as still fit beside the others."""
    current = dict(more)
    for pair in more:
        while current.get(pair):
            fewer = {p: count - (p == pair) for p, count in current.items() if count > (p == pair)}
            if not asker.ask(with_fibers(instance, fewer), any_plan=True).is_possible:
                break
            current = fewer
    return current


def _all_needed(asker: WhatIfSolver, instance: Instance, more: Mapping[Pair, int], *, plenty: int) -> bool:
    """Whether the job cannot do with one fiber less on any of these pairs, however many others have."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, Lightpath)
    for pair, count in more.items():
        others = {p: count - 1 if p == pair else plenty for p in server_pairs(fabric)}
        answer = asker.ask(with_fibers(instance, others), any_plan=True)
        if answer.is_possible is not False:
            return False
    return True
