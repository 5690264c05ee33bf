"""Whether the circuits of a job that runs already are those of its configuration, and can be on together."""

from collections import Counter
from typing import TYPE_CHECKING

from costmodel.candidates import candidates_of
from costmodel.fabrics import Lightpath
from planner.cluster import Cluster
from planner.demand import Shape, shape_of
from planner.light import Device, Light
from planner.plan import Circuit, HeldCircuits

if TYPE_CHECKING:
    from planner.instance import Resident


def check_circuits(cluster: Cluster, resident: "Resident") -> None:
    """Raise ValueError for circuits that the configuration does not ask for, or that tiles or waveguides forbid."""
    where = f"residents[{resident.name}]"
    try:
        rows = candidates_of([resident.configuration], resident.workload, cluster.device, cluster.fabric)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{where}.configuration: {error}") from None
    shape = shape_of(rows, 0, cluster.fabric)
    devices = [cluster.fabric.parse_device(name) for name in resident.devices]
    _check_layout(cluster, shape, devices, where)
    if not isinstance(cluster.fabric, Lightpath):
        return
    asked = [
        (name, Counter((resident.devices[u], resident.devices[v], width) for u, v, width in circuits))
        for name, circuits in shape.configurations
    ]
    given = [
        (held.dimension, Counter((c.source, c.destination, len(set(c.wavelengths))) for c in held.circuits))
        for held in resident.circuits
    ]
    if asked != given:
        raise ValueError(
            f"{where}.circuits: these are not the circuits of its configuration; copy them from the plan that "
            "started it (`planner solve --plan-out`)"
        )
    light = Light(cluster)
    for held in resident.circuits:
        _check_together(light, held, where)


def _check_layout(cluster: Cluster, shape: Shape, devices: list[Device], where: str) -> None:
    fabric = cluster.fabric
    blocks = [devices[i : i + shape.block] for i in range(0, len(devices), shape.block)]
    if any(len({server for server, _ in block}) > 1 for block in blocks):
        raise ValueError(f"{where}.devices: each block of {shape.block} ranks must lie in one server")
    if not fabric.links_racks and len({fabric.rack_of(server) for server, _ in devices}) > 1:
        raise ValueError(f"{where}.devices: a job stays in one rack of a {fabric.kind}")


def _check_together(light: Light, held: HeldCircuits, where: str) -> None:
    """Circuits of one configuration: wavelengths of tiles and waveguides once each, loss within the budget."""
    used: set[object] = set()
    for circuit in held.circuits:
        source, destination = map(light.fabric.parse_device, (circuit.source, circuit.destination))
        index = int(circuit.fibers[0].rpartition("#")[2]) if circuit.fibers else None
        if not light.reaches(source, destination, index):
            raise ValueError(f"{where}.circuits: {_name(circuit)} loses more light than loss_budget allows")
        if index is not None and max(circuit.wavelengths) >= light.fabric.wavelengths_per_fiber:
            last = light.fabric.wavelengths_per_fiber - 1
            raise ValueError(f"{where}.circuits: {_name(circuit)} takes a fiber, which carries wavelengths 0 to {last}")
        guides = [("from", source), ("to", destination), *light.waveguides(source, destination, index)]
        for key in ((guide, wavelength) for guide in guides for wavelength in circuit.wavelengths):
            if key in used:
                raise ValueError(f"{where}.circuits: {_name(circuit)} meets another circuit on wavelength {key[1]}")
            used.add(key)


def _name(circuit: Circuit) -> str:
    return f"{circuit.source} to {circuit.destination}"
