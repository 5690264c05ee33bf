"""Sidecar of exchange formats, which carry no circuits: those of each configuration, and the rounds that use them."""

import json
from collections.abc import Iterable
from typing import Any

from costmodel.collectives.schedule import Schedule
from costmodel.fabrics import FabricBase
from planner.fabrics import plugin_of
from planner.integrations.exports.held import Held
from planner.integrations.exports.runs import rounds_of
from planner.model.plan import Circuit, HeldCircuits, MemoryCircuit


def sidecar_text(each: Held, fabric: FabricBase) -> str:
    """JSON of the circuits by device and, of a collective, of the schedule by rank; ranks of a group are its devices
    in order."""
    return json.dumps(sidecar(each, fabric), indent=1) + "\n"


def sidecar(each: Held, fabric: FabricBase) -> dict[str, Any]:
    """The keys `schedule` and, of each configuration, `rounds` with a collective alone, `memory` with memory alone,
    `circuits` where they join racks."""
    document: dict[str, Any] = {
        "job": each.job,
        "dimension": each.dimension,
        "plan": each.plan,
        "groups": [list(group) for group in each.groups],
    }
    if each.memory:
        return document | {"memory": [_memory(circuit) for circuit in each.memory]}
    if each.upper:
        return document | {"circuits": [circuit.model_dump(mode="json", by_alias=True) for circuit in each.upper]}
    document["configurations"] = [_configuration(number, held, fabric) for number, held in enumerate(each.held)]
    if each.run is not None:
        schedule = document["schedule"] = schedule_document(each.run.schedule)
        for held in document["configurations"]:
            rounds = enumerate(schedule["rounds"])
            held["rounds"] = [index for index, used in rounds if used["configuration"] == held["id"]]
    return document


def _configuration(number: int, held: HeldCircuits, fabric: FabricBase) -> dict[str, Any]:
    """Circuits that are on at the same time; `phase` where they are in one phase of the workload alone."""
    phase = {} if held.phase is None else {"phase": held.phase}
    return {"id": number, **phase, "circuits": [_circuit(circuit, fabric) for circuit in held.circuits]}


def _circuit(circuit: Circuit, fabric: FabricBase) -> dict[str, Any]:
    """Ends, wavelengths by index, and the way: fibers, uplinks or the switch in order; `switches` of its rail by name,
    where wavelengths are their numbers."""
    switches = plugin_of(fabric).drawing.switches(fabric, circuit)
    return {
        "from": circuit.source,
        "to": circuit.destination,
        "wavelengths": list(circuit.wavelengths),
        "path": [circuit.source, *circuit.fibers, circuit.destination],
        **({"switches": switches} if switches else {}),
    }


def _memory(circuit: MemoryCircuit) -> dict[str, Any]:
    phase = {} if circuit.phase is None else {"phase": circuit.phase}
    ends = {"device": circuit.device, "rail": circuit.rail, "port": circuit.port}
    return ends | phase | {"units": list(circuit.units)}


def schedule_document(schedule: Schedule) -> dict[str, Any]:
    """A schedule as plain data: transfers are [sender, receiver, chunk, target, count, adds]."""
    return {
        "collective": schedule.collective,
        "ranks": schedule.ranks,
        "num_chunks": schedule.num_chunks,
        "num_slots": schedule.num_slots,
        "rounds": [
            {"configuration": each.configuration, "transfers": _transfers(each.runs)} for each in rounds_of(schedule)
        ],
    }


def _transfers(runs: Iterable[Any]) -> list[list[int]]:
    return [[r.sender, r.receiver, r.chunk, r.target, r.count, int(r.is_reduction)] for r in runs]
