"""Circuits of collectives over the rails and uplinks that a job was given."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from costmodel.fabrics import Sipam
from costmodel.parallelism.mappings import DIMENSIONS
from planner.fabrics.demand import Demand
from planner.fabrics.sipam.demand import first_colours
from planner.model.plan import Circuit, HeldCircuits

Device = tuple[int, int]


@dataclass(frozen=True)
class Network:
    """Rails of one job in one phase; colour i of its circuits is rail i of `across` and then of `inside`."""

    across: tuple[int, ...]
    """spine rails of groups that may leave a server"""
    inside: Mapping[int, tuple[int, ...]]
    """by server: rails of groups that stay there"""
    uplinks: Mapping[int, Mapping[int, tuple[int, ...]]]
    """by server and rail: numbers of the uplinks that are reserved"""


def held_circuits(
    fabric: Sipam, shape: Demand, devices: Sequence[Device], networks: Sequence[Network]
) -> tuple[HeldCircuits, ...]:
    """All circuits by dimension, those that are on in one phase alone with its name; `networks` by phase."""
    lit = [
        {held.dimension: held for held in _of_phase(fabric, each, devices, network)}
        for each, network in zip(shape.by_phase, networks, strict=True)
    ]
    found = []
    for dimension in DIMENSIONS:
        held = [each.get(dimension) for each in lit]
        if all(each == held[0] for each in held):
            found += held[:1]
        else:
            phases = (each.phase for each in shape.by_phase)
            found += [each and each.model_copy(update={"phase": name}) for each, name in zip(held, phases, strict=True)]
    return tuple(each for each in found if each is not None)


def _of_phase(fabric: Sipam, shape: Demand, devices: Sequence[Device], network: Network) -> Iterator[HeldCircuits]:
    """All circuits of one phase; each that leaves a server takes the next uplink of its rail out, and one in."""
    first, names = first_colours(shape), fabric.device_names(devices)
    servers, rails_of = [server for server, _ in devices], _Rails(network)
    used: Counter[tuple[int, int, bool]] = Counter()

    def uplink(server: int, rail: int, *, leaves: bool) -> str:
        number = network.uplinks[server][rail][used[server, rail, leaves]]
        used[server, rail, leaves] += 1
        return fabric.uplink_name(server, rail, number)

    def fibers(rails: Sequence[int], here: int, there: int) -> Iterator[str]:
        for rail in rails:
            yield uplink(here, rail, leaves=True)
            yield uplink(there, rail, leaves=False)

    for (dimension, circuits), offsets in zip(shape.configurations, shape.offsets, strict=True):
        colour, lit = first[dimension], []
        for (source, destination, width), offset in zip(circuits, offsets, strict=True):
            here, there = servers[source], servers[destination]
            rails = rails_of[here, colour + offset, width]
            passed = () if here == there else tuple(fibers(rails, here, there))
            lit.append(Circuit(source=names[source], destination=names[destination], wavelengths=rails, fibers=passed))
        yield HeldCircuits(dimension=dimension, circuits=tuple(lit))


class _Rails(dict[tuple[int, int, int], tuple[int, ...]]):
    """Rails, ascending, of circuits by the server that they begin in, their first colour and their width."""

    def __init__(self, network: Network) -> None:
        self._colours = {server: (*network.across, *inside) for server, inside in network.inside.items()}

    def __missing__(self, key: tuple[int, int, int]) -> tuple[int, ...]:
        server, colour, width = key
        self[key] = tuple(sorted(self._colours[server][colour : colour + width]))
        return self[key]
