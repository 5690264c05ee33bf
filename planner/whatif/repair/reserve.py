"""Reserve of a plan that must survive failures, part by part."""

from collections import Counter
from collections.abc import Sequence

from planner.fabrics import plugin_of
from planner.fabrics.spares import Place
from planner.model.instance import Instance
from planner.whatif.failures import Failure


def one_more(instance: Instance, reserve: Sequence[str], weak: Sequence[Failure]) -> str | None:
    """One more part to keep free where most failures are: a device of the server, or a fiber of the pair."""
    fabric = instance.cluster.fabric
    spares = plugin_of(fabric).spares
    counts: Counter[Place] = Counter()
    for failure in weak:
        place = spares.place_of(fabric, failure.kind, failure.part)
        if place is not None:
            counts[place] += 1
    for place, _ in counts.most_common():
        name = _unreserved(instance, spares.healthy_parts(instance.cluster, place), reserve)
        if name is not None:
            return name
    return None


def _unreserved(instance: Instance, names: Sequence[str], reserve: Sequence[str]) -> str | None:
    """The last of these parts that is not in the reserve; those of residents last."""
    held = {name for r in instance.residents for name in r.devices}
    held |= {f for r in instance.residents for h in r.circuits for c in h.circuits for f in c.fibers}
    left = [name for name in names if name not in reserve]
    return max(left, key=lambda name: (name not in held, names.index(name)), default=None)
