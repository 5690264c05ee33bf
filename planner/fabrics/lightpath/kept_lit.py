"""Circuits that stay on while a job gets more, or fewer: which of those that it is to have they are."""

from collections.abc import Sequence

from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.routes import Device
from planner.fabrics.lightpath.rwa import Spectrum
from planner.fabrics.lit import Lit
from planner.model.masks import bits
from planner.model.plan import Circuit

Kept = list[dict[int, Circuit]] | None
"""by configuration and position, circuits that stay; None where not all have a place"""


def kept_lit(light: Spectrum, demand: Demand, devices: Sequence[Device], lit: Lit) -> Kept:
    """By configuration and position the circuits that are `lit`, each in the first configuration that has one of its
    width between its ends and in which nothing else that stays has its light; None where one has no place. `devices`
    are those of the first ranks at least, between which such circuits are."""
    left = _by_ends(light, devices, lit)
    kept = list[dict[int, Circuit]]()
    for _, circuits in demand.configurations:
        stays, used = dict[int, Circuit](), dict[object, int]()
        for i, key in enumerate(circuits):
            alike = left.get(key, [])
            found = next((each for each in alike if not _meets(light, each, used)), None)
            if found is not None:
                stays[i] = found
                alike.remove(found)
        kept.append(stays)
    return None if any(left.values()) else kept


def lit_alone(light: Spectrum, demand: Demand, devices: Sequence[Device], lit: Lit) -> Kept:
    """By configuration and position a circuit that is `lit` for each that is asked for, of its width between its ends;
    None where one has none."""
    found, able = list[dict[int, Circuit]](), _by_ends(light, devices, lit)
    for _, circuits in demand.configurations:
        chosen, used = dict[int, Circuit](), dict[object, int]()
        for i, key in enumerate(circuits):
            one = next((each for each in able.get(key, ()) if not _meets(light, each, used)), None)
            if one is None:
                return None
            chosen[i] = one
        found.append(chosen)
    return found


def _by_ends(light: Spectrum, devices: Sequence[Device], lit: Lit) -> dict[tuple[int, int, int], list[Circuit]]:
    """Circuits that are `lit`, once each, by the ranks at their ends and their width."""
    rank = {light.fabric.device_name(*device): number for number, device in enumerate(devices)}
    found: dict[tuple[int, int, int], list[Circuit]] = {}
    for circuit in dict.fromkeys(circuit for held in lit.circuits for circuit in held.circuits):
        key = rank[circuit.source], rank[circuit.destination], len(circuit.wavelengths)
        found.setdefault(key, []).append(circuit)
    return found


def _meets(light: Spectrum, circuit: Circuit, used: dict[object, int]) -> bool:
    """Whether a circuit has light in common with what is `used` of ends and ways; if not it uses them, too."""
    mask = bits(circuit.wavelengths)
    parts = [("from", circuit.source), ("to", circuit.destination), *light.guides_of(circuit)]
    if any(used.get(part, 0) & mask for part in parts):
        return True
    for part in parts:
        used[part] = used.get(part, 0) | mask
    return False
