"""Plans that are worth offering to a planner: few, but the fastest for every message and every demand for light."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from costmodel.collectives.circuits import Circuits
from costmodel.collectives.circulant_offers import Offered, circulants
from costmodel.collectives.digits import is_exact
from costmodel.collectives.family import MOST_RANKS, Family, fastest, pareto, plans_of
from costmodel.collectives.ladder import Algorithm, Collective
from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan

SWITCHED: tuple[Algorithm, ...] = ("radix", "exchange")


@lru_cache(maxsize=4096)
def all_reduces(
    ranks: int, limits: Limits, ring_widths: tuple[int, ...], offered: Offered = "families"
) -> tuple[CollectivePlan, ...]:
    """Rings of these widths, and plans that no other of their sort equals in latency and seconds per byte.

    Radices that multiply to the ranks keep what they can inside blocks of ranks, so that they stay beside faster ones
    that do not; of these only such as are faster than all others for some message are listed. Groups above
    MOST_RANKS have rings alone. Circulants come beside all of these, on as many wavelengths as rings.
    """
    rings = tuple(CollectivePlan("all_reduce", "ring", ranks, limits, (), (1,), (width,)) for width in ring_widths)
    if ranks > MOST_RANKS:
        return rings
    exact = pareto(plans_of("all_reduce", ranks, limits, Family(SWITCHED, padded=False)))
    padded = plans_of("all_reduce", ranks, limits, Family(SWITCHED))
    best = fastest([*rings, *exact, *padded])
    families = (*rings, *exact, *(plan for plan in best if plan.radices and not is_exact(ranks, plan.radices)))
    return (*families, *_circulants("all_reduce", ranks, limits, ring_widths, offered))


@lru_cache(maxsize=4096)
def all_to_alls(
    ranks: int, limits: Limits, widths: tuple[int, ...], offered: Offered = "families"
) -> tuple[CollectivePlan, ...]:
    """Plans that no other equals in latency and seconds per byte, on so many wavelengths of a device in all; none above
    MOST_RANKS.

    Successive calls, there and back, go through the configurations forth and back.
    """
    found: dict[object, CollectivePlan] = {}
    for width in widths if ranks <= MOST_RANKS else ():
        for plan in pareto(plans_of("all_to_all", ranks, replace(limits, wavelengths=width))):
            found.setdefault((plan.kind, plan.radices, plan.held, plan.wavelengths), plan)
    return (*found.values(), *_circulants("all_to_all", ranks, limits, widths, offered))


def _circulants(
    collective: Collective, ranks: int, limits: Limits, widths: tuple[int, ...], offered: Offered
) -> Iterator[CollectivePlan]:
    """Those of each width of a device in all, where they are offered."""
    for width in widths if offered == "circulants" else ():
        for plan in circulants(collective, ranks, replace(limits, wavelengths=width)):
            yield replace(plan, limits=limits)


@lru_cache(maxsize=4096)
def is_runnable(plan: CollectivePlan) -> bool:
    """Whether a group can run an all-reduce over circuits as described, offered or not."""
    is_whole = min(plan.held, default=0) > 0 and sum(plan.held) == len(plan.radices) == len(plan.wavelengths)
    if plan.kind not in SWITCHED or not is_whole or min(plan.radices) < 2 or min(plan.wavelengths) < 1:
        return False
    if plan.order == "alternating" and (plan.kind == "radix" or len(plan.held) == 1):
        return False
    try:
        return plan.seconds_per_byte > 0 and all(_fits(each, plan.limits) for each in plan.configurations())
    except ValueError:
        return False


def _fits(circuits: Circuits, limits: Limits) -> bool:
    """Whether one configuration has as many circuits and wavelengths as a tile may have, and none twice."""
    own = [(to, width) for rank, to, width in circuits if rank == 0]
    is_once = len({to for to, _ in own}) == len(own)
    return is_once and len(own) <= limits.max_peers and sum(width for _, width in own) <= limits.wavelengths
