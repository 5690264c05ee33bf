"""The schedule of a plan."""

from collections.abc import Callable

from costmodel.collectives.circulant_rounds import circulant, circulant_relay
from costmodel.collectives.digits import is_exact, nearest_first
from costmodel.collectives.exchange import exchange
from costmodel.collectives.ladder import Algorithm
from costmodel.collectives.plan import CollectivePlan
from costmodel.collectives.relays import bruck, direct, fixed_tree, tree
from costmodel.collectives.schedule import Schedule
from costmodel.collectives.windows import ring, scatter, windows

MAKERS: dict[Algorithm, Callable[[CollectivePlan], Schedule]] = {
    "ring": ring,
    "radix": windows,
    "exchange": exchange,
    "tree": tree,
    "fixed_tree": fixed_tree,
    "scatter": scatter,
    "direct": direct,
    "bruck": bruck,
    "circulant": circulant,
    "circulant_relay": circulant_relay,
}


def schedule_of(plan: CollectivePlan) -> Schedule:
    """Every transfer of one call of a plan, or of two where successive calls differ; circuits as the plan has them."""
    schedule = MAKERS[plan.kind](plan)
    if plan.kind in ("radix", "exchange") and is_exact(plan.ranks, plan.radices):
        return schedule.relabelled(nearest_first(plan.ranks, plan.radices))
    return schedule
