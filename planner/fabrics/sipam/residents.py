"""What must hold of jobs that run already in pooled racks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from costmodel.fabrics import FabricBase, Sipam
from planner.fabrics.residents import ResidentRules, Running, check_asked_circuits
from planner.fabrics.sipam.free_pool import FreePool
from planner.model.cluster import Cluster
from planner.model.health import Health
from planner.model.plan import Circuit

if TYPE_CHECKING:
    from planner.model.job import Resident


class SipamResidents(ResidentRules):
    """Ranks have as many units and memory circuits as asked; units, ports and uplinks are there, each held once."""

    def check_memory(self, cluster: Cluster, residents: Sequence["Resident"]) -> None:
        pool = FreePool(Cluster.model_construct(device=cluster.device, fabric=cluster.fabric, health=Health()))
        for resident in residents:
            _check_memory(resident)
            try:
                pool.take(resident)
            except (ValueError, KeyError) as error:
                raise ValueError(
                    f"residents[{resident.name}].memory: a port, unit or uplink is not there, or held twice ({error})"
                ) from None

    def check_circuit(self, fabric: FabricBase, resident: "Resident", circuit: Circuit, where: str) -> None:
        """All circuits of a resident are compared with those of its configuration."""

    def check_circuits(self, running: Running) -> None:
        check_asked_circuits(running)


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


def numbered_parts(fabric: Sipam, prefix: str) -> list[str]:
    """Units of a tray, or ports or uplinks on a rail, whose names begin like this and end in a number."""
    of_rail = fabric.tray_ports if ".m" in prefix else fabric.uplinks
    return [f"{prefix}{number}" for number in range(fabric.units_per_tray if prefix.endswith("u") else of_rail)]
