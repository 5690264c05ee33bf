"""Placements by number over several racks: put together of what a job has in each of them."""

from collections.abc import Sequence
from typing import Any

from planner.fabrics.aligned_parts import aligned
from planner.fabrics.free_slots import Device
from planner.fabrics.job_class import Option
from planner.fabrics.placement import HeldLinks, Owned, Placement
from planner.fabrics.wiring import MEMORY, NO_WIRING, Step, Wire, Wiring, key_of, served
from planner.model.plan import HeldCircuits


def put_together(row: Option, parts: Sequence[Placement], links: HeldLinks) -> Placement:
    """A row whose parts lie as said, rack after rack, between which a job holds these links."""
    lit = any(part.owned is not None for part in parts)
    return Placement(
        row,
        devices=sum((part.devices for part in parts), ()),
        held=sum((part.held for part in parts), ()),
        owned=_owned(parts) if lit else None,
        switches=frozenset().union(*(part.switches for part in parts)),
        links=links,
        parts=tuple(parts),
    )


def _owned(parts: Sequence[Placement]) -> Owned[Any]:
    """What all parts own; racks have nothing in common."""
    masks, ends, first = list[tuple[Any, int]](), list[tuple[int, int, int]](), 0
    counted = list[tuple[Any, int]]()
    for part in parts:
        if part.owned is not None:
            masks += part.owned.masks
            counted += part.owned.counted
            ends += [(first + rank, sent, received) for rank, sent, received in part.owned.ends]
        first += len(part.devices)
    return Owned(tuple(masks), tuple(ends), tuple(counted))


def joined(wirings: Sequence[Wiring], parts: Sequence[Placement]) -> Wiring:
    """Circuits of all racks as those of one job: ranks and servers go on counting from rack to rack."""
    if not any(wiring.configurations for wiring in wirings):
        return NO_WIRING
    firsts = _firsts([part.devices for part in parts])
    moved = [_moved(wiring, *first) for wiring, first in zip(wirings, firsts, strict=True)]
    by_key = [[(served(key), wires) for key, wires in each] for each in moved]
    return Wiring(tuple((key_of(*key), sum(same, ())) for key, same in aligned(by_key)))


def parted(wiring: Wiring, runs: Sequence[Sequence[Device]]) -> list[Wiring]:
    """The circuits in each rack, where the job has these devices; what `joined` put together."""
    if not wiring.configurations:
        return [NO_WIRING] * len(runs)
    size, found = len(runs[0]), list[Wiring]()
    for number, (rank, server) in enumerate(_firsts(runs)):
        own = ((key, tuple(w for w in wires if w.source // size == number)) for key, wires in wiring.configurations)
        found.append(Wiring(tuple(_moved(Wiring(tuple(own)), -rank, -server))))
    return found


def parted_circuits(
    wiring: Wiring, circuits: Sequence[HeldCircuits], runs: Sequence[Sequence[Device]]
) -> list[list[HeldCircuits]]:
    """The same by name, without circuits into memory."""
    lit = [wires for key, wires in wiring.configurations if served(key)[0] != MEMORY]
    size, found = len(runs[0]), list[list[HeldCircuits]]()
    for number in range(len(runs)):
        own = list[HeldCircuits]()
        for held, wires in zip(circuits, lit, strict=True):
            there = zip(held.circuits, wires, strict=True)
            mine = tuple(circuit for circuit, wire in there if wire.source // size == number)
            own.append(HeldCircuits(dimension=held.dimension, phase=held.phase, circuits=mine))
        found.append(own)
    return found


def _firsts(runs: Sequence[Sequence[Device]]) -> list[tuple[int, int]]:
    """Ranks, and servers, before those of each rack."""
    found, rank, server = list[tuple[int, int]](), 0, 0
    for run in runs:
        found.append((rank, server))
        rank, server = rank + len(run), server + len({number for number, _ in run})
    return found


def _moved(wiring: Wiring, rank: int, server: int) -> list[tuple[str, tuple[Wire, ...]]]:
    """The configurations of a wiring whose ranks and servers have greater numbers by these."""

    def step(each: Step) -> Step:
        return each if isinstance(each, str) else (each[0] + server, each[1] + server, each[2])

    def wire(each: Wire) -> Wire:
        return Wire(each.source + rank, each.destination + rank, each.mask, tuple(map(step, each.route)))

    return [(key, tuple(map(wire, wires))) for key, wires in wiring.configurations]
