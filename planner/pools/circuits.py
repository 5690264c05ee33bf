"""Circuits of collectives over the rails and uplinks that a job was given."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from costmodel.fabrics import Sipam
from planner.demand import Shape
from planner.plan import Circuit, HeldCircuits
from planner.pools.demand import first_colours

Device = tuple[int, int]


@dataclass(frozen=True)
class Network:
    """Rails of one job; colour i of its circuits is rail i of `across` and then of `inside`."""

    across: tuple[int, ...]
    """spine rails of groups that may leave a server"""
    inside: Mapping[int, tuple[int, ...]]
    """by server: rails of groups that stay there"""
    uplinks: Mapping[int, Mapping[int, tuple[int, ...]]]
    """by server and rail: numbers of the uplinks that are reserved"""


def held_circuits(fabric: Sipam, shape: Shape, devices: Sequence[Device], network: Network) -> tuple[HeldCircuits, ...]:
    """All circuits by dimension; each that leaves a server takes the next uplink of its rail out, and one in."""
    first = first_colours(shape)
    names = [fabric.device_name(*device) for device in devices]
    used: Counter[tuple[int, int, bool]] = Counter()

    def uplink(server: int, rail: int, *, leaves: bool) -> str:
        number = network.uplinks[server][rail][used[server, rail, leaves]]
        used[server, rail, leaves] += 1
        return fabric.uplink_name(server, rail, number)

    held = []
    for (dimension, circuits), offsets in zip(shape.configurations, shape.offsets, strict=True):
        lit = []
        for (source, destination, width), offset in zip(circuits, offsets, strict=True):
            here, there = devices[source][0], devices[destination][0]
            colours = (*network.across, *network.inside[here])
            rails = sorted(colours[first[dimension] + offset :][:width])
            fibers = [
                uplink(server, rail, leaves=leaves)
                for rail in rails
                for server, leaves in ((here, True), (there, False))
                if here != there
            ]
            lit.append(
                Circuit(
                    source=names[source], destination=names[destination], wavelengths=tuple(rails), fibers=tuple(fibers)
                )
            )
        held.append(HeldCircuits(dimension=dimension, circuits=tuple(lit)))
    return tuple(held)
