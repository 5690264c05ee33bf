"""What no exchange format carries: the circuits of each configuration, and the rounds that use them."""

import json
from collections.abc import Iterable
from typing import Any

from costmodel.plans.schedule import Schedule
from planner.exports.groups import GroupRun
from planner.exports.runs import rounds_of
from planner.plan import Circuit


def sidecar_text(run: GroupRun) -> str:
    """JSON of the circuits by device and of the schedule by rank; ranks of a group are its devices in order."""
    return json.dumps(sidecar(run), indent=1) + "\n"


def sidecar(run: GroupRun) -> dict[str, Any]:
    schedule = schedule_document(run.schedule)
    used = [each["configuration"] for each in schedule["rounds"]]
    return {
        "job": run.job,
        "dimension": run.dimension,
        "plan": run.plan.name,
        "groups": [list(group) for group in run.groups],
        "configurations": [
            {
                "id": number,
                "circuits": [_circuit(circuit) for circuit in held.circuits],
                "rounds": [index for index, configuration in enumerate(used) if configuration == number],
            }
            for number, held in enumerate(run.held)
        ],
        "schedule": schedule,
    }


def _circuit(circuit: Circuit) -> dict[str, Any]:
    """Ends, wavelengths by index, and the way: fibers in order, none inside a server."""
    return {
        "from": circuit.source,
        "to": circuit.destination,
        "wavelengths": list(circuit.wavelengths),
        "path": [circuit.source, *circuit.fibers, circuit.destination],
    }


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
