"""What must hold of jobs that run already in pooled racks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from costmodel.fabrics import Sipam
from planner.fabrics.sipam.free_pool import FreePool
from planner.model.cluster import Cluster, Health
from planner.model.plan import Assignment

if TYPE_CHECKING:
    from planner.model.instance import Resident


def check_pool_residents(cluster: Cluster, residents: Sequence["Resident"]) -> None:
    """Raise ValueError for memory that is not what a configuration asks for, or parts that are not there or taken."""
    fabric = cluster.fabric
    for resident in residents:
        if resident.memory and not isinstance(fabric, Sipam):
            raise ValueError(f"residents[{resident.name}].memory: memory is local on a {fabric.kind}; remove it")
    if not isinstance(fabric, Sipam):
        return
    pool = FreePool(Cluster.model_construct(device=cluster.device, fabric=fabric, health=Health()))
    for resident in residents:
        _check_memory(resident)
        try:
            pool.take(_running(resident))
        except (ValueError, KeyError) as error:
            raise ValueError(
                f"residents[{resident.name}].memory: a port, unit or uplink is not there, or held twice ({error})"
            ) from None


def _check_memory(resident: "Resident") -> None:
    """Circuits and units of every rank as many as the configuration says, in each phase where it changes."""
    settings, names = resident.configuration.by_phase, resident.workload.phases
    most = max(setting.memory_units or 0 for setting in settings)
    for setting, phase in zip(settings, (*names[:1], *names[-1:]) or ("", ""), strict=False):
        units, each = setting.memory_units or 0, setting.memory_io or 0
        for device in resident.devices:
            held = [c for c in resident.memory if c.device == device and c.phase in (None, phase)]
            found = sum(len(circuit.units) for circuit in held)
            if len(held) != each or found < units or (found > units and units == most):
                raise ValueError(
                    f"residents[{resident.name}].memory: {device} needs {units} units over {each} memory circuits"
                    f"{f' in {phase}' if len(settings) > 1 else ''}; copy them from the plan that started it"
                )


def _running(resident: "Resident") -> Assignment:
    return Assignment(
        job=resident.name,
        configuration=resident.configuration,
        devices=resident.devices,
        circuits=resident.circuits,
        memory=resident.memory,
    )


def parts_in_use(job: "Resident | Assignment") -> set[str]:
    """Names of units, ports and uplinks that a job needs."""
    circuits = (circuit for held in job.circuits for circuit in held.circuits)
    plugged = {name for plug in job.memory for name in (plug.port, *plug.units)}
    return plugged.union(*(circuit.fibers for circuit in circuits))


def switches_in_use(fabric: Sipam, job: "Resident | Assignment") -> set[str]:
    """Names of switches that a job needs."""
    used = {fabric.switch_name(plug.rail, fabric.parse_device(plug.device)[0]) for plug in job.memory}
    for circuit in (circuit for held in job.circuits for circuit in held.circuits):
        servers = {fabric.parse_device(name)[0] for name in (circuit.source, circuit.destination)}
        numbers = [*servers, *(fabric.num_servers + fabric.rack_of(s) for s in servers if len(servers) > 1)]
        used |= {fabric.switch_name(rail, number) for rail in circuit.wavelengths for number in numbers}
    return used


def numbered_parts(fabric: Sipam, prefix: str) -> list[str]:
    """Units of a tray, or ports or uplinks on a rail, whose names begin like this and end in a number."""
    of_rail = fabric.tray_ports if ".m" in prefix else fabric.uplinks
    return [f"{prefix}{number}" for number in range(fabric.units_per_tray if prefix.endswith("u") else of_rail)]
