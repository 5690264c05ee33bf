"""Places in racks with pooled memory: the board's numbers get their names, and hold no more than these."""

from collections.abc import Sequence
from dataclasses import replace

from planner.fabrics.lightpath.fast_rwa import Beams
from planner.fabrics.lightpath.rwa import bits
from planner.fabrics.sipam.fast_pool import FreePoolParts
from planner.model.plan import HeldCircuits, MemoryCircuit
from planner.placement.job_classes import JobClass, Option
from planner.placement.placement import Place, Wire, Wiring
from planner.placement.pool_attachments import MEMORY, key_of, parts, switches, tail
from planner.placement.state import Placement, State


def found_in_pool(state: State, kind_name: str, placement: Placement) -> tuple[Placement, Place] | None:
    """A placement that is taken, with its place. Of its uplinks it keeps those that its circuits are on: who runs holds
    no others. None, and it is given back, where first fit gives no circuits."""
    pool, row, devices = state.parts, placement.row, placement.devices
    assert pool is not None
    assert placement.beams is not None
    pool.release(placement.beams)
    named = pool.named(row, devices)
    if named is None:
        state.release(replace(placement, beams=None))
        return None
    place = Place(kind_name, row, devices, _wiring(placement, *named))
    exact = held_in_pool(state, place)
    assert exact.beams is not None
    pool.take(exact.beams)
    return replace(placement, beams=exact.beams, switches=exact.switches), place


def held_in_pool(state: State, place: Place) -> Placement:
    """What a place holds on the board."""
    assert state.board.pool is not None
    masks: dict[tuple[object, ...], int] = {}
    for part, number in parts(place):
        masks[part] = masks.get(part, 0) | 1 << number
    beams = Beams(tuple(masks.items()), ())  # type: ignore[arg-type]
    return Placement(place.row, place.devices, place.devices, beams, switches(place, state.board.pool.fabric))


class Clear:
    """How much of each server jobs could take if nobody else were there."""

    def __init__(self, state: State) -> None:
        """`state` of a cluster on which nothing has been placed."""
        pool = state.board.pool
        self._parts = None if pool is None else FreePoolParts(pool, state.cluster)

    def able(self, kind: JobClass, working: Sequence[int]) -> Sequence[int]:
        """Accelerators by server, of so many that work; those that find no memory are left out."""
        if self._parts is None:
            return working
        rooms = [[row.part * parts for parts in self._parts.room(row, working)] for row in kind.leanest]
        return [max(most) for most in zip(*rooms, strict=True)]


def memory_short(state: State, kind: JobClass) -> str | None:
    """That beside the free accelerators too little of the pool is left, in words; None where enough is."""
    best: tuple[int, int, Option] | None = None
    for row in kind.leanest:
        room = state.room(row)
        most = max(row.part * sum(room[server] for server in servers) for servers in state.together)
        if most >= row.shape.num_ranks:
            return None
        if best is None or most > best[0]:
            best = most, max(room) * row.part, row
    if best is None:
        return None
    found, on_one, row = best
    units, ports = row.pool.units, row.pool.memory_io
    asked = f"each takes at least {units} memory unit{'s' * (units > 1)} over {ports} port{'s' * (ports > 1)}"
    return f"{asked}, and only {found} find{'s' * (found == 1)} that, at most {on_one} on one server"


def _wiring(placement: Placement, circuits: tuple[HeldCircuits, ...], memory: tuple[MemoryCircuit, ...]) -> Wiring:
    """Circuits and memory that first fit named, by rank."""
    fabric = placement.row.options.fabric
    rank = {fabric.device_name(*device): number for number, device in enumerate(placement.devices)}
    found = [
        (
            key_of(held.dimension, held.phase),
            tuple(
                Wire(rank[c.source], rank[c.destination], bits(c.wavelengths), tuple(map(tail, c.fibers)))
                for c in held.circuits
            ),
        )
        for held in circuits
    ]
    for phase in dict.fromkeys(circuit.phase for circuit in memory):
        wires = tuple(
            Wire(rank[c.device], rank[c.device], 1 << c.rail, (tail(c.port), *map(tail, c.units)))
            for c in memory
            if c.phase == phase
        )
        found.append((key_of(MEMORY, phase), wires))
    return Wiring(tuple(found))
