"""What must hold of the jobs that run already, and which of them lost a part."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from costmodel.fabrics import Lightpath
from planner.cluster import Cluster
from planner.plan import Circuit
from planner.resident_circuits import check_circuits

if TYPE_CHECKING:
    from planner.instance import Resident


def check_residents(cluster: Cluster, residents: Sequence["Resident"]) -> None:
    """Raise ValueError for a resident that cannot be running as the file says."""
    owner: dict[tuple[int, int], str] = {}
    light: dict[tuple[str, int], str] = {}
    for resident in residents:
        where = f"residents[{resident.name}]"
        _check_devices(cluster, resident, where, owner)
        for held in resident.circuits:
            for circuit in held.circuits:
                _check_circuit(cluster, resident, circuit, where)
        check_circuits(cluster, resident)
        for key in {
            (f, w) for held in resident.circuits for c in held.circuits for f in c.fibers for w in c.wavelengths
        }:
            if key in light:
                raise ValueError(f"{where}.circuits: {light[key]} already uses wavelength {key[1]} of fiber {key[0]}")
            light[key] = resident.name
        lost = lost_parts(cluster, resident)
        if lost and not resident.movable:
            raise ValueError(
                f"{where}.movable: the resident is on failed part {lost[0]} and may not move; "
                "let it move, or remove it or the failure"
            )


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
    if not isinstance(fabric, Lightpath):
        raise ValueError(f"{where}.circuits: a {fabric.kind} has no circuits; remove them")
    for end in (circuit.source, circuit.destination):
        if end not in resident.devices:
            raise ValueError(f"{where}.circuits: {end} is none of its devices")
    if max(circuit.wavelengths) >= fabric.wavelengths_per_tile or min(circuit.wavelengths) < 0:
        raise ValueError(f"{where}.circuits: wavelengths are 0 to {fabric.wavelengths_per_tile - 1}")
    source, destination = (fabric.parse_device(end)[0] for end in (circuit.source, circuit.destination))
    known = {fabric.fiber_name(source, destination, i) for i in range(fabric.num_fibers(source, destination))}
    expected = 0 if source == destination else 1
    if len(circuit.fibers) != expected or not known.issuperset(circuit.fibers):
        wanted = f"one fiber such as {fabric.fiber_name(source, destination, 0)}" if expected else "no fiber"
        raise ValueError(
            f"{where}.circuits: {circuit.source} to {circuit.destination} takes {wanted}, not {list(circuit.fibers)}"
        )


def lost_parts(cluster: Cluster, resident: "Resident") -> list[str]:
    """Failed parts that the resident stands on; a displaced resident must move."""
    fabric = cluster.fabric
    failed = {fabric.device_name(*device) for device in cluster.failed_devices}
    if len(resident.devices) > 1:
        failed |= {fabric.device_name(*device) for device in cluster.dark_devices}
    lost = [device for device in resident.devices if device in failed]
    if isinstance(fabric, Lightpath):
        dark = {fabric.fiber_name(*fiber) for fiber in cluster.failed_fibers}
        used = {fiber for held in resident.circuits for c in held.circuits for fiber in c.fibers}
        lost += sorted(dark & used)
    return lost
