"""Whether the circuits of a job that runs already are those of its configuration, and can be on together."""

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from costmodel.fabrics import GroupPlan, Lightpath, OcsRail, Sipam, SlicedFabric
from costmodel.pricing.candidates import candidates_of
from planner.fabrics.demand import Demand, shape_of
from planner.fabrics.lightpath.routes import Device
from planner.fabrics.lightpath.rwa import Spectrum
from planner.fabrics.slices.free_slices import slice_circuits
from planner.model.cluster import Cluster
from planner.model.plan import Circuit, HeldCircuits

if TYPE_CHECKING:
    from planner.model.instance import Resident


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
    if resident.constraints.per_server is not None:
        _check_even(shape, devices, resident.constraints.per_server, where)
    if isinstance(cluster.fabric, SlicedFabric):
        _check_slices(cluster.fabric, rows.row_plans(0), shape, devices, resident, where)
    if not isinstance(cluster.fabric, Lightpath | OcsRail | Sipam):
        return
    for each in shape.by_phase:
        asked = [
            (name, Counter((resident.devices[u], resident.devices[v], width) for u, v, width in circuits))
            for name, circuits in each.configurations
        ]
        given = [
            (held.dimension, Counter((c.source, c.destination, len(set(c.wavelengths))) for c in held.circuits))
            for held in resident.circuits
            if held.phase in (None, each.phase)
        ]
        if asked != given:
            raise ValueError(
                f"{where}.circuits: these are not the circuits of its configuration; copy them from the plan that "
                "started it (`planner solve --plan-out`)"
            )
    if isinstance(cluster.fabric, OcsRail):
        _check_rails(shape, devices, resident, where)
    if not isinstance(cluster.fabric, Lightpath):
        return
    light = Spectrum(cluster)
    for held in resident.circuits:
        _check_together(light, held, where)


def _check_rails(shape: Demand, devices: list[Device], resident: "Resident", where: str) -> None:
    """A job with circuits: one block on each server, on the same rails, and each port of a device in one circuit."""
    blocks = [devices[i : i + shape.block] for i in range(0, len(devices), shape.block)]
    rails = {tuple(slot for _, slot in block) for block in blocks}
    if shape.num_ports and (len({server for server, _ in devices}) < len(blocks) or len(rails) > 1):
        raise ValueError(f"{where}.devices: a job with circuits has a block on each of its servers, in the same slots")
    circuits = [circuit for held in resident.circuits for circuit in held.circuits]
    ports = Counter(
        port for c in circuits for w in c.wavelengths for port in (("from", c.source, w), ("to", c.destination, w))
    )
    for (way, device, switch), count in ports.items():
        if count > 1:
            raise ValueError(f"{where}.circuits: {count} go {way} {device} through switch {switch} of its rail")


def _check_slices(
    fabric: SlicedFabric,
    plans: Sequence[GroupPlan],
    shape: Demand,
    devices: list[Device],
    resident: "Resident",
    where: str,
) -> None:
    """Ranks lie on slices that the fabric has, each at its place, and hold the circuits of these."""
    held = fabric.held(plans, devices) if shape.cut else []
    if held is None or shape.part % shape.block or (shape.cut and shape.part % prod(shape.cut)):
        raise ValueError(f"{where}.devices: these are no slices of {'x'.join(map(str, shape.cut))} by rank")
    asked = [(h.dimension, Counter(h.circuits)) for h in slice_circuits(fabric, plans, held)]
    if asked != [(h.dimension, Counter(h.circuits)) for h in resident.circuits]:
        raise ValueError(
            f"{where}.circuits: these are not the circuits of its slices; copy them from the plan that started it "
            "(`planner solve --plan-out`)"
        )


def _check_layout(cluster: Cluster, shape: Demand, devices: list[Device], where: str) -> None:
    fabric = cluster.fabric
    blocks = [devices[i : i + shape.block] for i in range(0, len(devices), shape.block)]
    if any(len({server for server, _ in block}) > 1 for block in blocks):
        raise ValueError(f"{where}.devices: each block of {shape.block} ranks must lie in one server")
    if not fabric.links_racks and len({fabric.rack_of(server) for server, _ in devices}) > 1:
        raise ValueError(f"{where}.devices: a job stays in one rack of a {fabric.kind}")


def _check_even(shape: Demand, devices: list[Device], per_server: int, where: str) -> None:
    """Each server gives what the job asks of it, as one part."""
    given = Counter(server for server, _ in devices)
    if set(given.values()) != {per_server}:
        raise ValueError(f"{where}.devices: each server must give constraints.per_server, {per_server} of them")
    if shape.part != per_server:
        problem = f"a server takes {shape.part} ranks together, constraints.per_server is {per_server}"
        raise ValueError(f"{where}.configuration.block: {problem}; write the same number there")


def _check_together(light: Spectrum, held: HeldCircuits, where: str) -> None:
    """Circuits of one configuration: wavelengths of tiles and waveguides once each, loss within the budget."""
    used: set[object] = set()
    for circuit in held.circuits:
        source, destination = map(light.fabric.parse_device, (circuit.source, circuit.destination))
        route = tuple(map(light.fabric.parse_fiber, circuit.fibers))
        if not light.ways.reaches(source, destination, route):
            raise ValueError(f"{where}.circuits: {_name(circuit)} loses more light than loss_budget allows")
        if route and max(circuit.wavelengths) >= light.fabric.wavelengths_per_fiber:
            last = light.fabric.wavelengths_per_fiber - 1
            raise ValueError(f"{where}.circuits: {_name(circuit)} takes a fiber, which carries wavelengths 0 to {last}")
        guides = [("from", source), ("to", destination), *light.ways.waveguides(source, destination, route)]
        for key in ((guide, wavelength) for guide in guides for wavelength in circuit.wavelengths):
            if key in used:
                raise ValueError(f"{where}.circuits: {_name(circuit)} meets another circuit on wavelength {key[1]}")
            used.add(key)


def _name(circuit: Circuit) -> str:
    return f"{circuit.source} to {circuit.destination}"
