"""The way of light through servers and fibers, traced from the fields of the fabric."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from costmodel.fabrics import Lightpath
from planner.checks.names import Tile, tile_of
from planner.fabrics.lightpath.rule_fibers import Fiber, fiber_of
from planner.model.plan import Assignment, Circuit, HeldCircuits

Boundary = tuple[int, int, int]
"""(server, slot that light leaves, neighbouring slot that it enters)"""


@dataclass(frozen=True)
class Path:
    """Tile boundaries and fibers that a circuit takes, each in the order of the light."""

    boundaries: tuple[Boundary, ...]
    fibers: tuple[Fiber, ...]


def trace(fabric: Lightpath, circuit: Circuit) -> Path | None:
    """Path of a circuit, or None where its devices and fibers do not join up."""
    here, destination = tile_of(fabric, circuit.source), tile_of(fabric, circuit.destination)
    fibers = [fiber_of(fabric, name) for name in circuit.fibers]
    if here is None or destination is None:
        return None
    boundaries: list[Boundary] = []
    taken: list[Fiber] = []
    for fiber in fibers:
        if fiber is None or fiber[0] != here[0]:
            return None
        gate = fiber[2] % fabric.tiles_per_server
        boundaries += _walk(fabric, here, gate)
        taken.append(fiber)
        here = fiber[1], gate
    if here[0] != destination[0]:
        return None
    return Path((*boundaries, *_walk(fabric, here, destination[1])), tuple(taken))


def _walk(fabric: Lightpath, start: Tile, end_slot: int) -> Iterator[Boundary]:
    """Boundaries between two slots of a server: along the row to the right column, then along the column."""
    columns = fabric.tiles_per_server // fabric.tile_rows
    server, start_slot = start
    row, column = divmod(start_slot, columns)
    last_row, last_column = divmod(end_slot, columns)
    visited = [row * columns + c for c in _inclusive(column, last_column)]
    visited += [r * columns + last_column for r in _inclusive(row, last_row)][1:]
    return ((server, a, b) for a, b in pairwise(visited))


def _inclusive(first: int, last: int) -> range:
    return range(first, last + 1) if first <= last else range(first, last - 1, -1)


def circuits_of(assignment: Assignment) -> Iterator[tuple[int, HeldCircuits, Circuit]]:
    """Every circuit of a job with the number of its configuration."""
    for number, held in enumerate(assignment.circuits):
        for circuit in held.circuits:
            yield number, held, circuit


def named(assignment: Assignment, circuit: Circuit) -> str:
    """How messages call a circuit."""
    return f"{assignment.job}: {circuit.source} to {circuit.destination}"
