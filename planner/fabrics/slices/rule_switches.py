"""Optical switches between the cubes of a torus."""

from collections import Counter
from collections.abc import Iterator

from costmodel.fabrics import Torus
from planner.checks.names import admitted, tile_of
from planner.fabrics.slices.rule_boxes import Box, Placed, box_of, chip_of, neighbour
from planner.fabrics.slices.rule_cut import placed_parts
from planner.model.instance import Instance
from planner.model.plan import Assignment, Circuit, Plan
from planner.model.violation import Violation

Ends = tuple[str, str, tuple[int, ...], tuple[str, ...]]
"""from, to, wavelengths and switches of a circuit"""


def check_switches(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """A job holds exactly the circuits of its slices, none through a failed switch, each port once over all jobs."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, Torus)
    failed = set(instance.cluster.health.failed_switches)
    ports: Counter[tuple[str, str, str]] = Counter()
    for job, assignment in admitted(instance, plan):
        circuits = [circuit for held in assignment.circuits for circuit in held.circuits]
        yield from _check_job(fabric, assignment, circuits)
        for circuit in circuits:
            for name in failed.intersection(circuit.fibers):
                where = f"{job.name}: {circuit.source} to {circuit.destination}"
                yield Violation("switches", where, f"{where} goes through switch {name}, which has failed")
            for end, face in ((circuit.source, "+"), (circuit.destination, "-")):
                ports.update((name, face, _cube(fabric, end)) for name in circuit.fibers)
    for (name, face, cube), count in ports.items():
        if count > 1:
            where = f"switch {name}"
            yield Violation(
                "switches", where, f"{where}: its port for the {face} face of {cube} is taken {count} times"
            )


def _check_job(fabric: Torus, assignment: Assignment, circuits: list[Circuit]) -> Iterator[Violation]:
    box = box_of(fabric, assignment.configuration)
    if box is None:
        return
    needed: Counter[Ends] = Counter()
    for placed in placed_parts(fabric, box, assignment) if box.num_ranks > 1 and fabric.switches else ():
        needed.update(_circuits(fabric, box, placed))
    found: Counter[Ends] = Counter((c.source, c.destination, c.wavelengths, c.fibers) for c in circuits)
    where = assignment.job
    dimensions = [held.dimension for held in assignment.circuits]
    if dimensions != ["slice"] * bool(needed):
        message = f"{where}: {'one entry of dimension slice' if needed else 'no circuits'} needed, not {dimensions}"
        yield Violation("switches", where, message)
    for word, difference in (("lacks", needed - found), ("has the superfluous", found - needed)):
        for (source, destination, _, switches), count in difference.items():
            message = f"{where} {word} circuit {source} to {destination} through {', '.join(switches) or 'no switch'}"
            yield Violation("switches", where, message, float(count))


def _circuits(fabric: Torus, box: Box, placed: Placed) -> Iterator[Ends]:
    """From each + face of a cube to the next place of the slice, along each axis that fills a cube."""
    for axis, (extent, side) in enumerate(zip(box.extents, fabric.sides, strict=True)):
        if extent < side:
            continue
        for place, (server, slot) in placed.items():
            if place[axis] % side == side - 1:
                after = placed[neighbour(place, axis, box)]
                name = _switch(fabric, server, axis, slot)
                yield fabric.device_name(server, slot), fabric.device_name(*after), (0,), (name,)


def _switch(fabric: Torus, server: int, axis: int, slot: int) -> str:
    """Switch at the place on the face where a chip lies."""
    _, b, c = fabric.sides
    x, y, z = chip_of(fabric, slot)
    number = (y * c + z, x * c + z, x * b + y)[axis]
    rack = f"r{server // fabric.servers}." if fabric.racks > 1 else ""
    return f"{rack}{'xyz'[axis]}{number}"


def _cube(fabric: Torus, device: str) -> str:
    tile = tile_of(fabric, device)
    return fabric.server_name(tile[0]) if tile else device
