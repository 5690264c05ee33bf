"""Plans over circulants that are worth offering beside the families."""

from functools import lru_cache
from typing import Literal

from costmodel.collectives.circulants import listed_strides
from costmodel.collectives.family import pareto
from costmodel.collectives.ladder import Algorithm, Collective
from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan

Offered = Literal["families", "circulants"]
"""what groups may run: rings, mixed radices, exchanges and relays that libraries know; or circulants as well, for which
software of the job reads a schedule"""


@lru_cache(maxsize=4096)
def circulants(collective: Collective, ranks: int, limits: Limits) -> tuple[CollectivePlan, ...]:
    """Over circuits as wide as may be, those that no other equals in latency and seconds per byte; none for groups that
    the catalog has no strides for. All-to-alls or all-reduces and their halves."""
    kind: Algorithm = "circulant_relay" if collective == "all_to_all" else "circulant"
    every = listed_strides("all_to_all" if collective == "all_to_all" else "all_reduce", ranks)
    return pareto(
        CollectivePlan(collective, kind, ranks, limits, strides, (1,), (limits.wavelengths // len(strides),))
        for strides in every
        if len(strides) <= limits.most_peers
    )


def beside(plans: tuple[CollectivePlan, ...], others: tuple[CollectivePlan, ...]) -> tuple[CollectivePlan, ...]:
    """Plans, and after them those of the others that none of them equals in latency and seconds per byte."""
    kept = set(pareto((*plans, *others)))
    return (*plans, *(plan for plan in others if plan in kept))
