"""How many slices are free, in words, beside those that a job needs."""

from collections.abc import Sequence

from costmodel.fabrics import SliceShape
from planner.fabrics.demand import Demand
from planner.fabrics.slices.free_slices import FreeSlices
from planner.model.phrases import listed

MAX_NAMED = 3
"""most extents that a sentence names"""


def slices_short(free: FreeSlices, demands: Sequence[Demand]) -> str | None:
    """How many slices of which extent are needed in one rack; None where one of the demands finds them, or needs
    none."""
    needs = sorted({(demand.num_parts * demand.slices_together, demand.cut) for demand in demands if demand.cut})
    if not needs or not all(demand.cut for demand in demands) or any(_fits(free, demand) for demand in demands):
        return None
    ways = [f"{number} of {free.fabric.in_words(cut)} ({_most(free, cut)} found)" for number, cut in needs[:MAX_NAMED]]
    others = " and so on" if len(needs) > MAX_NAMED else ""
    return f"needs slices of working accelerators and switches: {listed(ways, 'or')}{others}"


def _fits(free: FreeSlices, demand: Demand) -> bool:
    return _most(free, demand.cut, demand.slices_together, demand.most_parts) >= demand.num_parts


def _most(free: FreeSlices, cut: SliceShape, together: int = 1, most: int | None = None) -> int:
    """Slices, or so many together in one server, at most `most` of these, that first fit finds in the best rack."""
    fabric = free.fabric
    counts = [len(free.disjoint(server, cut)) // together for server in range(fabric.num_servers)]
    counts = counts if most is None else [min(count, most) for count in counts]
    return max(sum(counts[first : first + fabric.servers]) for first in range(0, fabric.num_servers, fabric.servers))
