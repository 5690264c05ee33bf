"""Families of plans, and all plans of one that some message size may call for."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from costmodel.collectives.front import Digits, Front, straight_front
from costmodel.collectives.ladder import Algorithm, Collective, Order, ladder
from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan, tree_depth

ALGORITHMS: dict[Collective, tuple[Algorithm, ...]] = {
    "all_reduce": ("ring", "radix", "exchange"),
    "reduce_scatter": ("ring", "radix"),
    "all_gather": ("ring", "radix"),
    "broadcast": ("fixed_tree", "tree", "scatter"),
    "all_to_all": ("direct", "bruck"),
}
ORDERS: tuple[Order, ...] = ("fixed", "alternating")
MOST_RANKS = 4096
"""of one group"""


@dataclass(frozen=True)
class Family:
    """Which plans are considered; all of them unless told otherwise."""

    algorithms: tuple[Algorithm, ...] | None = None
    """None: every algorithm of the collective"""
    orders: tuple[Order, ...] = ORDERS
    """order of the configurations on successive calls"""
    padded: bool = True
    """whether radices may reach beyond the number of ranks"""
    overlap: bool = False
    """whether circuits that do not change may send while the others turn"""
    held: bool = False
    """whether only plans of one configuration are, where digits are searched for"""


EVERY_PLAN = Family()


def plans_of(
    collective: Collective, ranks: int, limits: Limits, family: Family = EVERY_PLAN
) -> tuple[CollectivePlan, ...]:
    """For each algorithm and number of rounds and changes, the plan with the least seconds per byte, no bridges.

    Exact over all ordered radices (those whose product exceeds the ranks included) x held groups x whole
    wavelengths x orders. Ranks that fold into a smaller group before and out after need no entry: a digit of
    radix 2 in front does the same in half the rounds, with as many peers and no more data.
    """
    if not 1 <= ranks <= MOST_RANKS:
        raise ValueError(f"ranks: must be 1 to {MOST_RANKS}, got {ranks}; plan the parts of a larger group")
    return tuple(
        plan
        for kind in kinds_of(collective, family)
        for order in orders_of(collective, kind, family)
        for plan in _plans(collective, kind, ranks, limits, order, family.padded, family.held)
    )


def kinds_of(collective: Collective, family: Family) -> list[Algorithm]:
    return [kind for kind in ALGORITHMS[collective] if family.algorithms is None or kind in family.algorithms]


def orders_of(collective: Collective, kind: Algorithm, family: Family) -> tuple[Order, ...]:
    """Orders worth a search: there and back is in order by itself, alternating is otherwise never slower.

    Only for a reduce-scatter or all-gather does the order decide how much each digit sends.
    """
    if kind in ("ring", "fixed_tree", "scatter") or (collective == "all_reduce" and kind == "radix"):
        return ("fixed",)
    if collective in ("reduce_scatter", "all_gather"):
        return family.orders
    return ("alternating",) if "alternating" in family.orders else ("fixed",)


def pareto(plans: Iterable[CollectivePlan]) -> tuple[CollectivePlan, ...]:
    """Plans that no other equals or beats in both latency and seconds per byte, by increasing latency.

    Of equal plans the first is kept; seconds per byte within 1e-12 are equal.
    """
    kept: list[CollectivePlan] = []
    for plan in sorted(plans, key=lambda p: (p.latency_s, p.seconds_per_byte)):
        if not kept or plan.seconds_per_byte < kept[-1].seconds_per_byte * (1 - 1e-12):
            kept.append(plan)
    return tuple(kept)


def fastest(plans: Iterable[CollectivePlan]) -> tuple[CollectivePlan, ...]:
    """Plans that are faster than all others for some message size, by increasing size."""
    kept: list[CollectivePlan] = []
    for plan in pareto(plans):
        while len(kept) > 1 and crossing_bytes(kept[-1], plan) <= crossing_bytes(kept[-2], kept[-1]) * (1 + 1e-9):
            kept.pop()
        kept.append(plan)
    return tuple(kept)


def crossing_bytes(quick: CollectivePlan, wide: CollectivePlan) -> float:
    """Message size from which on the second plan, of more latency and fewer seconds per byte, is faster."""
    return (wide.latency_s - quick.latency_s) / (quick.seconds_per_byte - wide.seconds_per_byte)


@lru_cache(maxsize=4096)
def _plans(
    collective: Collective, kind: Algorithm, ranks: int, limits: Limits, order: Order, padded: bool, held: bool
) -> tuple[CollectivePlan, ...]:
    if kind == "ring":
        return (CollectivePlan(collective, kind, ranks, limits, (), (1,), (limits.wavelengths,)),)
    if kind == "fixed_tree":
        return tuple(_fixed_trees(ranks, limits))
    front: Iterable[Digits]
    if kind == "direct":
        front = straight_front(ranks, limits)
    else:
        front = Front(ladder(kind, collective, ranks, order, padded), limits, held=held)
    return tuple(
        CollectivePlan(collective, kind, ranks, limits, *digits, order if len(digits.held) > 1 else "fixed")
        for digits in front
    )


def _fixed_trees(ranks: int, limits: Limits) -> Iterator[CollectivePlan]:
    """Trees that are never changed, of every fan-out that makes them lower."""
    for fan_out in range(1, limits.most_peers + 1):
        if fan_out == 1 or tree_depth(ranks, fan_out) < tree_depth(ranks, fan_out - 1):
            width = limits.wavelengths // fan_out
            yield CollectivePlan("broadcast", "fixed_tree", ranks, limits, (fan_out + 1,), (1,), (width,))
