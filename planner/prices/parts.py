"""What a cluster costs by its parts: numbers of parts follow from the fabric, prices are the reader's."""

from collections.abc import Iterator
from typing import Annotated, assert_never

from pydantic import Field

from costmodel.fabrics import DividedPorts, Fabric, FatTree, Lightpath, MemoryNodeRings, OcsRail, Sipac, Sipam, Torus
from costmodel.hardware.memory.providers import Appliances
from costmodel.spec import Spec
from planner.model.errors import InputError

Price = Annotated[float, Field(ge=0)]


class PartPrices(Spec):
    """Price of one part of each kind; a kind that is not given must not occur."""

    accelerator: Price
    """with its share of the server, and of links inside it"""
    electrical_port: Price | None = None
    """port of an accelerator or memory node into links or a network of packets, with its share of cables and switches
    there"""
    optical_port: Price | None = None
    """transmitter and receiver of an accelerator, memory tray, module, appliance or server, with its fiber"""
    optical_switch: Price | None = None
    memory_unit: Price | None = None
    """of a tray, where memory is pooled; a module behind light, or of an appliance; a DIMM of a memory node"""

    def capital(self, fabric: Fabric, place: str) -> float:
        """Price of all parts; InputError for one without a price."""
        total = 0.0
        for kind, number in parts_of(fabric).items():
            price: float | None = getattr(self, kind)
            if price is None:
                raise InputError(place, f"parts.{kind}", f"has no price, and there are {number:,} of them; add one")
            total += number * price
        return total


def parts_of(fabric: Fabric) -> dict[str, int]:
    """Number of parts by kind, those that do not occur left out."""
    found = {"accelerator": fabric.num_devices, **dict(_others(fabric))}
    return {kind: number for kind, number in found.items() if number}


def _others(fabric: Fabric) -> Iterator[tuple[str, int]]:
    devices = fabric.num_devices
    switches = len(fabric.switch_names)
    if isinstance(fabric, Lightpath):
        yield "optical_port", devices
    elif isinstance(fabric, OcsRail):
        yield "optical_port", devices * fabric.switches
    elif isinstance(fabric, Torus):
        faces = 2 * switches * fabric.servers
        yield "optical_port", faces
        yield "electrical_port", 6 * devices - faces
    elif isinstance(fabric, Sipac):
        yield "optical_port", devices * fabric.digits
        switches = devices * fabric.digits // fabric.radix
    elif isinstance(fabric, Sipam):
        trays = fabric.ports_per_rail * fabric.local_rails
        uplinks = fabric.uplinks * fabric.spine_rails
        yield "optical_port", devices * fabric.num_io + fabric.num_servers * (trays + uplinks)
        yield "memory_unit", fabric.num_servers * fabric.units_per_server
    elif isinstance(fabric, FatTree):
        yield "electrical_port", devices
    elif isinstance(fabric, DividedPorts):
        yield "electrical_port", devices
        yield from _divided(fabric)
    elif isinstance(fabric, MemoryNodeRings):
        yield from _rings(fabric)
    else:
        assert_never(fabric)
    yield "optical_switch", switches


def _divided(fabric: DividedPorts) -> Iterator[tuple[str, int]]:
    """Both ends of each way to memory: a module behind each pair of chiplets, or appliances of the servers."""
    memory = fabric.memory
    if isinstance(memory, Appliances):
        yield "optical_port", fabric.num_devices * memory.ports + fabric.num_servers * memory.all_ports
        yield "memory_unit", fabric.num_servers * memory.modules
    else:
        yield "optical_port", 2 * fabric.num_devices * memory.part.pairs
        yield "memory_unit", fabric.num_devices * memory.part.pairs


def _rings(fabric: MemoryNodeRings) -> Iterator[tuple[str, int]]:
    """Links of the devices and of as many memory nodes between them, each two on every ring; a port of each device into
    the network; the DIMMs."""
    node = fabric.node
    assert node.node is not None
    yield "electrical_port", fabric.num_devices * (node.links + 2 * node.num_rings + 1)
    yield "memory_unit", fabric.num_devices * node.node.dimms
