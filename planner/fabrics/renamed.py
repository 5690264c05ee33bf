"""An assignment on other devices."""

from collections.abc import Mapping

from planner.model.plan import Assignment, Circuit


def renamed(assignment: Assignment, names: Mapping[str, str]) -> Assignment:
    """The assignment on other devices, its circuits with it; `names` has the new name of each device."""

    def rename(circuit: Circuit) -> Circuit:
        return circuit.model_copy(update={"source": names[circuit.source], "destination": names[circuit.destination]})

    held = tuple(h.model_copy(update={"circuits": tuple(rename(c) for c in h.circuits)}) for h in assignment.circuits)
    devices = tuple(names[name] for name in assignment.devices)
    return assignment.model_copy(update={"devices": devices, "circuits": held})
