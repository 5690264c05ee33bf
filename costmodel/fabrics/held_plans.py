"""Collectives whose circuits are all held at once, by the ports or I/Os that they take of each rank."""

from collections.abc import Iterable
from functools import cache

from costmodel.collectives.circulant_offers import Offered, beside, circulants
from costmodel.collectives.family import MOST_RANKS, Family, pareto, plans_of
from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan
from costmodel.fabrics.group_plans import LinkPlan
from costmodel.parallelism.mappings import Dimension
from costmodel.parallelism.pools import most_peers

HELD = Family(("radix", "exchange"), held=True)
ALL_TO_ALL = Family(held=True)


def held_reductions(
    dimension: Dimension,
    ranks: int,
    switches: int,
    alpha_s: float,
    port_bytes_per_s: float,
    offered: Offered = "families",
) -> tuple[CollectivePlan, ...]:
    """All-reduces of groups along a dimension; along context either half is called alone."""
    found = held_all_reduces(ranks, switches, alpha_s, port_bytes_per_s, offered)
    return tuple(plan for plan in found if plan.has_halves) if dimension == "context" else found


@cache
def held_all_reduces(
    ranks: int, switches: int, alpha_s: float, port_bytes_per_s: float, offered: Offered = "families"
) -> tuple[CollectivePlan, ...]:
    """All-reduces that hold one configuration: a ring over each number of ports up to `switches`, and for each number
    the others that no other with as many ports equals in latency and seconds per byte; above MOST_RANKS rings alone.

    Circulants come beside these, so that nothing that families have is missed.
    """
    if switches < 1:
        return ()
    limits = Limits(switches, switches, alpha_s, 0.0, port_bytes_per_s)
    ring = CollectivePlan("all_reduce", "ring", ranks, limits, (), (1,), (switches,))
    others = plans_of("all_reduce", ranks, limits, HELD) if ranks <= MOST_RANKS else ()
    own = ring, *pareto(plan for plan in others if len(plan.held) == 1)
    if offered == "circulants":
        own = beside(own, circulants("all_reduce", ranks, limits))
    return _with_new(own, held_all_reduces(ranks, switches - 1, alpha_s, port_bytes_per_s, offered))


@cache
def held_all_to_alls(
    ranks: int, switches: int, alpha_s: float, port_bytes_per_s: float, offered: Offered = "families"
) -> tuple[CollectivePlan, ...]:
    """All-to-alls that hold one configuration: for each number of ports up to `switches` those that no other with as
    many equals in latency and seconds per byte; none above MOST_RANKS."""
    if switches < 1 or ranks > MOST_RANKS:
        return ()
    limits = Limits(switches, switches, alpha_s, 0.0, port_bytes_per_s)
    own = pareto(plan for plan in plans_of("all_to_all", ranks, limits, ALL_TO_ALL) if len(plan.held) == 1)
    if offered == "circulants":
        own = beside(own, circulants("all_to_all", ranks, limits))
    return _with_new(own, held_all_to_alls(ranks, switches - 1, alpha_s, port_bytes_per_s, offered))


def _with_new(own: Iterable[CollectivePlan], fewer: Iterable[CollectivePlan]) -> tuple[CollectivePlan, ...]:
    """Plans of so many ports, and after them those of fewer ports that are other ones."""
    found: dict[object, CollectivePlan] = {}
    for plan in (*own, *fewer):
        found.setdefault((plan.kind, plan.radices, plan.wavelengths), plan)
    return tuple(found.values())


@cache
def held_transfers(
    prefill: int, decode: int, switches: int, alpha_s: float, port_bytes_per_s: float
) -> tuple[LinkPlan, ...]:
    """Circuits of all pairs of two pools, over each number of ports that the busiest replica has for each peer."""
    ranks, radices = prefill + decode, (prefill, decode)
    return tuple(
        LinkPlan("transfer", ranks, alpha_s, 1 / (width * port_bytes_per_s), 1.0, (width,), radices)
        for width in range(switches // most_peers(*radices), 0, -1)
    )
