"""More links between racks: what the cluster could have, and what a job lacks of them."""

from collections.abc import Iterator, Mapping
from contextlib import suppress

from pydantic import ValidationError

from costmodel.counts import MOST_FIBERS, MOST_PARTS
from costmodel.fabrics import FabricBase, UpperFibers, UpperLayer, UpperPackets, UpperPart, UpperSwitches
from planner.candidates.expand import list_options
from planner.fabrics.free_state import FreeState
from planner.fabrics.rack_claims import rack_name
from planner.fabrics.shortages import Lifted
from planner.fabrics.upgrades import Upgrade
from planner.model.edit import edited, with_fabric, with_job
from planner.model.instance import Instance
from planner.model.phrases import listed

PLENTY = 4
"""times the links that there are, where links are no limit"""
MOST_TOLD = 3
"""parts of the layer that a shortage names"""


def upgrades(instance: Instance) -> Iterator[Upgrade]:
    """One more link of each part, and twice the bandwidth; nothing where racks are not joined.

    Jobs take halvings of the links that there are, so that one more may take away what fitted: it is no addition.
    """
    upper = instance.cluster.fabric.upper_layer
    if upper is None:
        return
    more = _with_more(instance.cluster.fabric, upper, 1)
    name = "fiber between all racks" if isinstance(upper, UpperFibers) else f"{upper.link_name} of each rack"
    if more is not None:
        yield Upgrade.of(f"one more {name}", lambda: with_fabric(instance, upper=more), is_addition=False)
    rate = upper.link_bytes_per_s
    field = "wavelength_bandwidth_bytes_per_s" if isinstance(upper, UpperFibers) else "bandwidth_bytes_per_s"
    change = f"twice the bandwidth of {_a(upper.link_name)} between racks"
    yield Upgrade.of(change, lambda: with_fabric(instance, upper=edited(upper, **{field: 2 * rate})))


def lifted(instance: Instance) -> Iterator[Lifted]:
    """The instance with more links than jobs take."""
    fabric, upper = instance.cluster.fabric, instance.cluster.fabric.upper_layer
    if upper is None:
        return
    most = max(sum(links.values()) for links in instance.cluster.upper_links.values())
    more = _with_more(fabric, upper, PLENTY * max(most, fabric.devices_per_rack))
    if more is None:
        return
    reason = f"the {upper.link_name}s between racks are too few where it finds accelerators"
    with suppress(ValidationError):  # a resident takes what is not listed of more
        yield Lifted(reason, with_fabric(instance, upper=more))


def counted(instance: Instance, name: str, size: int) -> str | None:
    """Links that a job of some size lacks beside residents, where racks have accelerators enough; None where it does
    not, or need not span racks."""
    upper = instance.cluster.fabric.upper_layer
    if upper is None:
        return None
    state, job = FreeState.beside_residents(instance), with_job(instance, name, accelerators=size).job(name)
    asked = sorted({(d.links, d.racks) for d in list_options(instance, job).shapes.distinct[0] if d.links})
    if not asked or state.links is None:
        return None
    for links, racks in asked:
        roomy = [rack for rack, free in enumerate(state.free_together) if free >= size // racks]
        short = {part: free for part, free in state.links.free.items() if {*part} <= {*roomy} and free < links}
        able = [rack for rack in roomy if all(rack not in part for part in short)]
        if len(able) < racks <= len(roomy):
            return _short(upper, links, racks, short)
    return None


def _short(upper: UpperLayer, links: int, racks: int, short: Mapping[UpperPart, int]) -> str:
    """What is needed, and how much of it the first parts have."""
    told = [f"{_of(upper, part)} {'are' if free != 1 else 'is'} {free} free" for part, free in sorted(short.items())]
    each = f"{links} {upper.link_name}{'s' * (links > 1)}"
    where = "between each two" if isinstance(upper, UpperFibers) else "in each"
    return f"needs {each} {where} of {racks} racks; of the {upper.link_name}s {listed(told[:MOST_TOLD])}"


def _of(upper: UpperLayer, part: UpperPart) -> str:
    """Where a part is, in words."""
    return f"of rack {part[0]}" if len(part) == 1 else f"from {rack_name(part[0])} to {rack_name(part[1])}"


def _a(name: str) -> str:
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _with_more(fabric: FabricBase, upper: UpperLayer, more: int) -> UpperLayer | None:
    """The layer with so many more links of each part; None where it cannot have them."""
    devices = fabric.devices_per_rack
    if isinstance(upper, UpperPackets):
        uplinks = int(devices / upper.oversubscription) + more
        return edited(upper, oversubscription=max(1.0, devices / uplinks)) if upper.oversubscription > 1 else None
    if isinstance(upper, UpperSwitches):
        return edited(upper, ports=min(upper.ports + more, MOST_PARTS)) if upper.ports < MOST_PARTS else None
    assert isinstance(upper, UpperFibers)
    if isinstance(upper.fibers, int):
        return edited(upper, fibers=min(upper.fibers + more, MOST_FIBERS)) if upper.fibers < MOST_FIBERS else None
    if all(each.count >= MOST_FIBERS for each in upper.fibers):
        return None
    wider = (edited(each, count=min(each.count + more, MOST_FIBERS)) for each in upper.fibers)
    return edited(upper, fibers=tuple(wider))
