"""Rules for residents over several racks: equal parts, and circuits that lead from rack to rack."""

from collections import Counter
from collections.abc import Sequence

from costmodel.fabrics import FabricBase, UpperSwitches
from costmodel.fabrics.across_racks import upper_links
from planner.fabrics.rack_claims import rack_name
from planner.model.plan import RackCircuit


def check_racks(fabric: FabricBase, racks: Sequence[int], wanted: int, where: str) -> None:
    """Raise ValueError where ranks, of which `racks` has the rack, do not lie in equal runs in as many racks as the
    configuration says."""
    size = len(racks) // wanted
    runs = [{*racks[first : first + size]} for first in range(0, len(racks), size)]
    order = [min(run) for run in runs]
    if wanted == 1 and len(runs[0]) > 1:
        raise ValueError(f"{where}.devices: a job stays in one rack of a {fabric.kind}")
    if any(len(run) > 1 for run in runs) or order != sorted({*order}):
        raise ValueError(
            f"{where}.devices: its ranks lie in {wanted} racks, {size} in each, the first ones in the first rack"
        )


def check_rack_circuits(
    fabric: FabricBase, racks: Sequence[int], links: int, circuits: Sequence[RackCircuit], where: str
) -> None:
    """Raise ValueError where circuits are not those of so many links between these racks, ascending."""
    upper = fabric.upper_layer
    joined = upper.joined(len(racks)) if upper is not None and links else []
    asked = Counter({(rack_name(racks[a]), rack_name(racks[b])): links for a, b in joined})
    given: Counter[tuple[str, str]] = Counter()
    for circuit in circuits:
        ends = circuit.source.partition(".")[0], circuit.destination.partition(".")[0]
        given[ends] += len({*circuit.wavelengths}) or 1
        if not _is_there(fabric, circuit):
            raise ValueError(f"{where}.upper: there is no circuit from {circuit.source} over {circuit.over}")
    if asked != given:
        raise ValueError(
            f"{where}.upper: these are not the circuits between its racks; copy them from the plan that started it "
            "(`planner solve --plan-out`)"
        )


def _is_there(fabric: FabricBase, circuit: RackCircuit) -> bool:
    """True if the layer has the switch or fiber of a circuit, and its ports or wavelengths."""
    upper = fabric.upper_layer
    if isinstance(upper, UpperSwitches):
        ports = upper.ports_by_switch(fabric.racks).get(circuit.over, ())
        names = {f"{rack_name(rack)}.p{port}" for rack in range(fabric.racks) for port in ports}
        return not circuit.wavelengths and {circuit.source, circuit.destination} <= names
    fibers = {name: (part, number) for part, of in upper_links(fabric).items() for name, number in of.items()}
    part, number = fibers.get(circuit.over, ((), 0))
    return tuple(map(rack_name, part)) == (circuit.source, circuit.destination) and {*circuit.wavelengths} <= {
        *range(number)
    }
