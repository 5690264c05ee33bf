"""What must hold of the jobs that run already, and which of them lost a part."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from costmodel.fabrics import Lightpath, OcsRail, Sipam, Torus
from planner.fabrics.divided_ports.free_shares import check_shared_residents
from planner.fabrics.lightpath.residents import check_circuits
from planner.fabrics.lightpath.rwa import Spectrum
from planner.fabrics.sipam.residents import check_pool_residents, parts_in_use, switches_in_use
from planner.model.cluster import Cluster
from planner.model.plan import Circuit

if TYPE_CHECKING:
    from planner.model.instance import Resident


def check_residents(cluster: Cluster, residents: Sequence["Resident"]) -> None:
    """Raise ValueError for a resident that cannot be running as the file says."""
    owner: dict[tuple[int, int], str] = {}
    owner_of_light: dict[tuple[str, int], str] = {}
    check_pool_residents(cluster, residents)
    for resident in residents:
        where = f"residents[{resident.name}]"
        _check_devices(cluster, resident, where, owner)
        for held in resident.circuits:
            for circuit in held.circuits:
                _check_circuit(cluster, resident, circuit, where)
        check_circuits(cluster, resident)
        for name, wavelength in sorted(_light_of(cluster, resident)):
            other = owner_of_light.setdefault((name, wavelength), resident.name)
            if other != resident.name:
                raise ValueError(f"{where}.circuits: {other} already uses wavelength {wavelength} of {name}")
        lost = lost_parts(cluster, resident)
        if lost and not resident.movable:
            raise ValueError(
                f"{where}.movable: the resident is on failed part {lost[0]} and may not move; "
                "let it move, or remove it or the failure"
            )
    check_shared_residents(cluster, residents)


def _light_of(cluster: Cluster, resident: "Resident") -> set[tuple[str, int]]:
    """Names of fibers and shared waveguides, and the wavelengths that the resident uses there."""
    if not isinstance(cluster.fabric, Lightpath):
        return set()
    light = Spectrum(cluster)
    circuits = [circuit for held in resident.circuits for circuit in held.circuits]
    return {
        (light.ways.name(guide), wavelength)
        for circuit in circuits
        for guide in light.guides_of(circuit)
        for wavelength in circuit.wavelengths
    }


def _check_devices(cluster: Cluster, resident: "Resident", where: str, owner: dict[tuple[int, int], str]) -> None:
    if len(resident.devices) != resident.configuration.num_devices:
        raise ValueError(
            f"{where}.devices: {len(resident.devices)} devices for the "
            f"{resident.configuration.num_devices} ranks of its configuration"
        )
    for name in resident.devices:
        try:
            device = cluster.fabric.parse_device(name)
        except ValueError as error:
            raise ValueError(f"{where}.devices: {error}") from None
        if device in owner:
            raise ValueError(f"{where}.devices: {name} already belongs to {owner[device]}")
        owner[device] = resident.name


def _check_circuit(cluster: Cluster, resident: "Resident", circuit: Circuit, where: str) -> None:
    fabric = cluster.fabric
    if isinstance(fabric, Torus | Sipam):
        return
    if not isinstance(fabric, Lightpath | OcsRail):
        raise ValueError(f"{where}.circuits: a {fabric.kind} has no circuits; remove them")
    for end in (circuit.source, circuit.destination):
        if end not in resident.devices:
            raise ValueError(f"{where}.circuits: {end} is none of its devices")
    if isinstance(fabric, OcsRail):
        _check_switches(fabric, circuit, where)
        return
    if max(circuit.wavelengths) >= fabric.wavelengths_per_tile or min(circuit.wavelengths) < 0:
        raise ValueError(f"{where}.circuits: wavelengths are 0 to {fabric.wavelengths_per_tile - 1}")
    source, destination = (fabric.parse_device(end)[0] for end in (circuit.source, circuit.destination))
    try:
        fabric.route(source, circuit.fibers, destination)
    except ValueError:
        wanted = f"one fiber such as {fabric.fiber_name(source, destination, 0)}"
        if fabric.transit:
            wanted = f"fibers that lead there over at most {fabric.transit} other servers"
        if source == destination:
            wanted = "no fiber"
        raise ValueError(
            f"{where}.circuits: {circuit.source} to {circuit.destination} takes {wanted}, not {list(circuit.fibers)}"
        ) from None


def _check_switches(fabric: OcsRail, circuit: Circuit, where: str) -> None:
    """A circuit joins devices of one rail on two servers, through switches of that rail."""
    (source, rail), (destination, other) = map(fabric.parse_device, (circuit.source, circuit.destination))
    if source == destination or rail != other or circuit.fibers:
        raise ValueError(
            f"{where}.circuits: {circuit.source} to {circuit.destination} does not join two servers in one slot by "
            "switches alone"
        )
    if max(circuit.wavelengths) >= fabric.switches or min(circuit.wavelengths) < 0:
        raise ValueError(f"{where}.circuits: switches of a rail are 0 to {fabric.switches - 1}")


def lost_parts(cluster: Cluster, resident: "Resident") -> list[str]:
    """Failed parts that the resident stands on; a displaced resident must move."""
    fabric = cluster.fabric
    failed = {fabric.device_name(*device) for device in cluster.failed_devices}
    if len(resident.devices) > 1:
        failed |= {fabric.device_name(*device) for device in cluster.dark_devices}
    lost = [device for device in resident.devices if device in failed]
    if isinstance(fabric, Lightpath):
        dark = {fabric.fiber_name(*fiber) for fiber in cluster.failed_fibers}
        circuits = [circuit for held in resident.circuits for circuit in held.circuits]
        lost += sorted(dark.intersection(fiber for circuit in circuits for fiber in circuit.fibers))
        lost += sorted({name for circuit in circuits for name in _dark_wavelengths(cluster, circuit)})
    if isinstance(fabric, Sipam):
        health = cluster.health
        failed = {*health.failed_memory_units, *health.failed_tray_ports, *health.failed_uplinks}
        lost += sorted(parts_in_use(resident) & failed)
        lost += sorted(switches_in_use(fabric, resident).intersection(health.failed_switches))
    if isinstance(fabric, Torus):
        names = {name for held in resident.circuits for circuit in held.circuits for name in circuit.fibers}
        lost += sorted(names.intersection(cluster.health.failed_switches))
    if isinstance(fabric, OcsRail):
        circuits = [circuit for held in resident.circuits for circuit in held.circuits]
        used = {(fabric.parse_device(c.source)[1], number) for c in circuits for number in c.wavelengths}
        lost += [fabric.switch_name(*switch) for switch in sorted(used & cluster.failed_switches)]
    return lost


def _dark_wavelengths(cluster: Cluster, circuit: Circuit) -> Iterator[str]:
    """Failed lasers and receivers that a circuit would need."""
    source, destination = map(cluster.fabric.parse_device, (circuit.source, circuit.destination))
    lasers, receivers = cluster.failed_lasers.get(source, 0), cluster.failed_receivers.get(destination, 0)
    yield from (f"{circuit.source}:w{w}" for w in circuit.wavelengths if lasers >> w & 1)
    yield from (f"{circuit.destination}:rx:w{w}" for w in circuit.wavelengths if receivers >> w & 1)
