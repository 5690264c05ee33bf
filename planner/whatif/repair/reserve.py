"""What a plan that must survive failures is made without, part by part."""

import re
from collections import Counter
from collections.abc import Sequence

from costmodel.fabrics import Lightpath, Sipam
from planner.fabrics.sipam.residents import numbered_parts
from planner.model.edit import failed_parts
from planner.model.instance import Instance
from planner.whatif.failures import Failure

POOLED = ("memory unit", "tray port", "uplink")
"""kinds of parts that are reserved by number, beside tiles and fibers"""
Place = tuple[int] | tuple[int, int] | tuple[str]
"""where parts are alike: a server for its tiles, a pair of servers for its fibers, or the name of a pooled part without
its number"""


def one_more(instance: Instance, reserve: Sequence[str], weak: Sequence[Failure]) -> str | None:
    """One more part to keep free: a tile of the server, or a fiber of the pair, where most failures are."""
    cluster = instance.cluster
    fabric = cluster.fabric
    counts: Counter[Place] = Counter()
    for failure in weak:
        part = failure.part
        if failure.kind == "fiber":
            source, _, rest = part.partition(">")
            counts[fabric.parse_server(source), fabric.parse_server(rest.partition("#")[0])] += 1
        elif failure.kind in POOLED:
            counts[(re.sub(r"\d+$", "", part),)] += 1
        elif failure.kind != "switch":
            counts[(fabric.parse_device(part)[0],)] += 1
    for place, _ in counts.most_common():
        name = _unreserved(instance, place, reserve)
        if name is not None:
            return name
    return None


def _unreserved(instance: Instance, place: Place, reserve: Sequence[str]) -> str | None:
    """The last healthy part of a place that is not in the reserve; those of residents last."""
    cluster, fabric = instance.cluster, instance.cluster.fabric
    if len(place) == 2:
        assert isinstance(fabric, Lightpath)
        names = [fabric.fiber_name(place[0], place[1], i) for i in cluster.healthy_fibers(*place)]
    elif isinstance(place[0], str):
        assert isinstance(fabric, Sipam)
        names = [name for name in numbered_parts(fabric, place[0]) if name not in failed_parts(instance)]
    else:
        names = [fabric.device_name(place[0], slot) for slot in cluster.lit_slots(place[0])]
    held = {name for r in instance.residents for name in r.devices}
    held |= {f for r in instance.residents for h in r.circuits for c in h.circuits for f in c.fibers}
    left = [name for name in names if name not in reserve]
    return max(left, key=lambda name: (name not in held, names.index(name)), default=None)
