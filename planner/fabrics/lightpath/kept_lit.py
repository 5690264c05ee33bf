"""Circuits that stay on while a job gets more: which of those that it is to have they are."""

from collections.abc import Sequence

from costmodel.fabrics import Circuits
from planner.fabrics.demand import Served
from planner.fabrics.lightpath.routes import Device
from planner.fabrics.lightpath.rwa import Spectrum
from planner.fabrics.lit import Lit
from planner.model.masks import bits
from planner.model.plan import Circuit


def kept_lit(
    light: Spectrum,
    configurations: Sequence[tuple[Served, Circuits]],
    devices: Sequence[Device],
    lit: Lit,
) -> list[dict[int, Circuit]] | None:
    """By configuration and position the circuits that are `lit`, each in the first configuration that has one of its
    width between its ends and in which nothing else that stays has its light; None where one has no place. `devices`
    are those of the first ranks at least, between which such circuits are."""
    rank = {light.fabric.device_name(*device): number for number, device in enumerate(devices)}
    left: dict[tuple[int, int, int], list[Circuit]] = {}
    for circuit in dict.fromkeys(circuit for held in lit.circuits for circuit in held.circuits):
        key = rank[circuit.source], rank[circuit.destination], len(circuit.wavelengths)
        left.setdefault(key, []).append(circuit)
    kept = list[dict[int, Circuit]]()
    for _, circuits in configurations:
        stays, used = dict[int, Circuit](), dict[object, int]()
        for i, key in enumerate(circuits):
            alike = left.get(key, [])
            found = next((each for each in alike if not _meets(light, each, used)), None)
            if found is not None:
                stays[i] = found
                alike.remove(found)
        kept.append(stays)
    return None if any(left.values()) else kept


def _meets(light: Spectrum, circuit: Circuit, used: dict[object, int]) -> bool:
    """Whether a circuit has light in common with what is `used` of ends and ways; if not it uses them, too."""
    mask = bits(circuit.wavelengths)
    parts = [("from", circuit.source), ("to", circuit.destination), *light.guides_of(circuit)]
    if any(used.get(part, 0) & mask for part in parts):
        return True
    for part in parts:
        used[part] = used.get(part, 0) | mask
    return False
