"""What a job over several racks claims of the layer that joins them."""

from collections.abc import Iterable, Sequence

from costmodel.fabrics import FabricBase, UpperPart
from costmodel.parallelism.configuration import Configuration
from planner.model.cluster import Cluster
from planner.model.plan import RackCircuit

OUT, IN = " out", " in"
"""behind the name of a port: the direction that a circuit takes of it"""


def rack_name(rack: int) -> str:
    return f"r{rack}"


def links_held(fabric: FabricBase, configuration: Configuration, devices: Iterable[str]) -> dict[UpperPart, int]:
    """Links of each part of the layer that a job on these devices holds."""
    links, upper = configuration.data_collective.links, fabric.upper_layer
    if not links or upper is None:
        return {}
    racks = sorted({fabric.rack_of(fabric.parse_device(name)[0]) for name in devices})
    return dict.fromkeys(upper.parts(racks), links)


def owned_between_racks(circuits: Iterable[RackCircuit]) -> dict[str, int]:
    """Masks by part: ports of racks by direction, and wavelengths of fibers."""
    owned: dict[str, int] = {}
    for circuit in circuits:
        if circuit.wavelengths:
            owned[circuit.over] = owned.get(circuit.over, 0) | sum(1 << w for w in {*circuit.wavelengths})
        else:
            owned |= {circuit.source + OUT: 1, circuit.destination + IN: 1}
    return owned


def switches_between_racks(circuits: Iterable[RackCircuit]) -> list[str]:
    """Switches that they rely on."""
    return sorted({circuit.over for circuit in circuits if not circuit.wavelengths})


def uplinks_held(fabric: FabricBase, configuration: Configuration, devices: Sequence[str]) -> dict[str, int]:
    """Links by name of what is counted: those of packets, that have no circuits of their own."""
    held = links_held(fabric, configuration, devices)
    return {_uplinks(part[0]): links for part, links in held.items()} if _switches_packets(fabric) else {}


def uplinks_there(cluster: Cluster) -> dict[str, int]:
    """The most of each that all jobs may hold."""
    links = cluster.upper_links if _switches_packets(cluster.fabric) else {}
    return {_uplinks(part[0]): sum(of_part.values()) for part, of_part in links.items()}


def _switches_packets(fabric: FabricBase) -> bool:
    return fabric.upper_layer is not None and not fabric.upper_layer.joined(2)


def _uplinks(rack: int) -> str:
    return f"uplinks of {rack_name(rack)}"
