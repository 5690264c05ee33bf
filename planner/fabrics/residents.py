"""What must hold of the jobs that run already, and which of them lost a part."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from costmodel.fabrics import Lightpath, OcsRail, Sipam, Torus
from planner.fabrics import plugin_of
from planner.fabrics.claims import Placed, lost
from planner.fabrics.divided_ports.free_shares import check_shared_residents
from planner.fabrics.lightpath.residents import check_circuits
from planner.fabrics.lightpath.rwa import Spectrum
from planner.fabrics.sipam.residents import check_pool_residents
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
        failed = lost_parts(cluster, resident)
        if failed and not resident.movable:
            raise ValueError(
                f"{where}.movable: the resident is on failed part {failed[0]} and may not move; "
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


def lost_parts(cluster: Cluster, resident: Placed) -> list[str]:
    """Failed parts that a resident stands on; a displaced resident must move."""
    return lost(plugin_of(cluster.fabric).claims.of(cluster.fabric, resident), cluster.failed_parts)
