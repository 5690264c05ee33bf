"""Turns of a step: circuits of one job that are on together, at ports that others of its circuits have in other turns.

Switching rails at the boundaries of phases of a training step: Ding et al., Photonic Rails in ML Datacenters with Opus
(arXiv:2602.12521).
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Literal, NamedTuple

import numpy as np

from costmodel.fabrics.group_plans import GroupPlan
from costmodel.parallelism.mappings import DIMENSIONS, Dimension

Turn = Literal["layers", "pipeline", "data", "layers+pipeline", "layers+data", "pipeline+data"]
"""kinds of circuits that are on together, joined by +"""
Turns = tuple[Turn, ...]
"""of a step; each kind of circuits that the job has is in one of them"""
KINDS: dict[Dimension, str] = dict.fromkeys(DIMENSIONS, "layers") | {
    "pipeline": "pipeline",
    "data": "data",
}
"""what circuits along a dimension serve: messages inside layers, between stages, between replicas"""
EVERY: tuple[Turns, ...] = (
    ("layers", "pipeline"),
    ("layers", "data"),
    ("pipeline", "data"),
    ("layers", "pipeline", "data"),
    ("layers+pipeline", "data"),
    ("layers", "pipeline+data"),
    ("layers+data", "pipeline"),
)
"""ways to divide the kinds of circuits that a job has among turns"""


class SwitchingInside(NamedTuple):
    """How circuits of one job give way to others of it while it runs."""

    switch_s: float = 0.0
    is_hidden: bool = False
    """whether operators run meanwhile, if there are any; else a step waits"""


def turn_of(turns: Turns, dimension: Dimension) -> Turn | None:
    """The turn in which the circuits along a dimension are on; None where there are none in any."""
    return next((turn for turn in turns if KINDS[dimension] in turn.split("+")), None)


def has_every_kind(turns: Turns, plans: Sequence[GroupPlan]) -> bool:
    """Whether all kinds of circuits that plans along DIMENSIONS have are in the turns, and no others."""
    lit = {KINDS[dimension] for dimension, plan in zip(DIMENSIONS, plans, strict=True) if plan.wavelengths}
    return lit == {kind for turn in turns for kind in turn.split("+")}


def most_at_once(turns: Turns, amounts: Sequence[int]) -> int:
    """What the turn that needs most needs, where the circuits along each of DIMENSIONS need so much."""
    return max(
        sum(amount for dimension, amount in zip(DIMENSIONS, amounts, strict=False) if turn_of(turns, dimension) == turn)
        for turn in turns
    )


def choices_in_turns(
    menus: Sequence[Sequence[GroupPlan]], turns: Turns, ports_of: Callable[[GroupPlan], int], most: int
) -> Iterator[tuple[int, ...]]:
    """Positions in the menus, one for each of DIMENSIONS, of plans that take at most so many ports in every turn.

    With p the ports of the turn that takes most, those are left out where other plans of one turn take no more than p
    and are nowhere worse: in latency, seconds and bytes sent for each byte.
    """
    axes = [[a for a, d in enumerate(DIMENSIONS) if turn_of(turns, d) == turn] for turn in turns]
    others = [axis for axis, dimension in enumerate(DIMENSIONS) if turn_of(turns, dimension) is None]
    rest = [_Together(0, place, ()) for place in product(*(range(len(menus[axis])) for axis in others))]
    each = [[*_together([menus[axis] for axis in of_turn], ports_of)] for of_turn in axes]
    order = np.argsort([axis for of_turn in (*axes, others) for axis in of_turn]).tolist()
    for ports in range(1, most + 1):
        best = (_best([found for found in of_turn if found.ports <= ports]) for of_turn in each)
        for chosen in product(*best, rest):
            if max(found.ports for found in chosen) == ports:
                places = [place for found in chosen for place in found.places]
                yield tuple(places[at] for at in order)


class _Together(NamedTuple):
    """Plans along some dimensions that are on together."""

    ports: int
    places: tuple[int, ...]
    """in the menus"""
    costs: tuple[float, ...]


def _together(menus: Sequence[Sequence[GroupPlan]], ports_of: Callable[[GroupPlan], int]) -> Iterator[_Together]:
    for places in product(*(range(len(menu)) for menu in menus)):
        plans = [menu[place] for menu, place in zip(menus, places, strict=True)]
        costs = tuple(c for plan in plans for c in (plan.latency_s, plan.seconds_per_byte, plan.bytes_per_byte))
        yield _Together(sum(map(ports_of, plans)), places, costs)


def _best(found: Sequence[_Together]) -> list[_Together]:
    """Those that no other is better than: of equal ones the first with the fewest ports."""
    kept: list[_Together] = []
    for each in sorted(found, key=lambda one: (one.costs, one.ports, one.places)):
        if not any(all(a <= b for a, b in zip(better.costs, each.costs, strict=True)) for better in kept):
            kept.append(each)
    return kept
