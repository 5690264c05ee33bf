"""Which slices a job lacks on servers that have devices enough."""

from costmodel.fabrics import Cut, SlicedFabric
from planner.candidates.expand import list_options
from planner.explain.words import listed
from planner.fabrics.demand import Demand
from planner.fabrics.slices.free_slices import FreeSlices
from planner.model.instance import Instance
from planner.whatif.edit import with_job

MAX_NAMED = 3
"""most extents that a sentence names"""


def why_no_slices(instance: Instance, name: str, size: int) -> str | None:
    """How many slices of which extent a job of some size needs and does not find beside the residents; None where it
    would find them, or needs none."""
    fabric = instance.cluster.fabric
    if not isinstance(fabric, SlicedFabric):
        return None
    shapes = list_options(instance, with_job(instance, name, accelerators=size).job(name)).shapes
    needs = sorted({(shape.num_parts * shape.slices_together, shape.cut) for shape in shapes if shape.cut})
    free = FreeSlices(instance.cluster)
    for resident in instance.residents:
        free.take(map(fabric.parse_device, resident.devices))
    if not needs or not all(shape.cut for shape in shapes) or any(_fits(free, shape) for shape in shapes):
        return None
    ways = [f"{number} of {_extent(cut)} ({_most(free, cut)} found)" for number, cut in needs[:MAX_NAMED]]
    others = " and so on" if len(needs) > MAX_NAMED else ""
    return f"needs slices of working devices and switches: {listed(ways, 'or')}{others}"


def _extent(cut: Cut) -> str:
    return " x ".join(map(str, cut))


def _fits(free: FreeSlices, shape: Demand) -> bool:
    return _most(free, shape.cut, shape.slices_together, shape.most_parts) >= shape.num_parts


def _most(free: FreeSlices, cut: Cut, together: int = 1, most: int | None = None) -> int:
    """Slices, or so many together in one server, at most `most` of these, that first fit finds in the best rack."""
    fabric = free.fabric
    counts = [len(free.disjoint(server, cut)) // together for server in range(fabric.num_servers)]
    counts = counts if most is None else [min(count, most) for count in counts]
    return max(sum(counts[first : first + fabric.servers]) for first in range(0, fabric.num_servers, fabric.servers))
