"""Fibers and wavelength numbers of circuits."""

from collections.abc import Iterator

from costmodel.fabrics import Lightpath
from planner.checks.names import admitted, tile_of
from planner.fabrics.lightpath.rule_fibers import Fiber, failed_fibers, fiber_of
from planner.fabrics.lightpath.rule_light import circuits_of, named
from planner.model.instance import Instance
from planner.model.plan import Circuit, Plan
from planner.model.violation import Violation


def check_path(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """No fiber inside a server, healthy ones that join up between two; wavelengths that exist there."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, Lightpath)
    failed = failed_fibers(instance.cluster)
    for _, assignment in admitted(instance, plan):
        for _, _, circuit in circuits_of(assignment):
            where = named(assignment, circuit)
            yield from _check_fibers(fabric, circuit, where, failed)
            limit = fabric.wavelengths_per_tile
            if circuit.fibers:
                limit = min(limit, fabric.wavelengths_per_fiber)
            wrong = [w for w in circuit.wavelengths if not 0 <= w < limit]
            if wrong:
                message = f"{where}: wavelengths {wrong} are not among 0 to {limit - 1}"
                yield Violation("path", where, message, float(len(wrong)))
            if repeated := len(circuit.wavelengths) - len(set(circuit.wavelengths)):
                yield Violation("path", where, f"{where}: names a wavelength twice", float(repeated))


def _check_fibers(fabric: Lightpath, circuit: Circuit, where: str, failed: set[Fiber]) -> Iterator[Violation]:
    source, destination = tile_of(fabric, circuit.source), tile_of(fabric, circuit.destination)
    if source is None or destination is None:
        return
    fewest, most = (0, 0) if source[0] == destination[0] else (1, 1 + fabric.transit)
    if not fewest <= len(circuit.fibers) <= most:
        wanted = f"{fewest} to {most} fibers" if most > 1 else f"{most} fiber{'s' * (most != 1)}"
        excess = max(fewest - len(circuit.fibers), len(circuit.fibers) - most)
        yield Violation("path", where, f"{where}: takes {wanted}, not {len(circuit.fibers)}", float(excess))
        return
    visited = [source[0]]
    for name in circuit.fibers:
        fiber = fiber_of(fabric, name)
        if fiber is None:
            yield Violation("path", where, f"{where}: the cluster has no fiber '{name}'")
            return
        if fiber in failed:
            yield Violation("path", where, f"{where}: fiber {name} has failed")
        if fiber[0] != visited[-1]:
            yield Violation("path", where, f"{where}: fiber {name} joins other servers")
        visited.append(fiber[1])
    if visited[-1] != destination[0]:
        yield Violation("path", where, f"{where}: fibers end at {fabric.server_name(visited[-1])}")
    if len(set(visited)) < len(visited):
        yield Violation("path", where, f"{where}: visits a server twice")
