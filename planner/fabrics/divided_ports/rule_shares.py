"""Ports to memory: no more than the edge of an accelerator carries, and of appliances that the accelerators of a server
share no more modules, ports and units behind them than there are."""

from collections import Counter
from collections.abc import Iterator

from costmodel.fabrics import DividedPorts
from costmodel.hardware.memory.providers import Appliances, OpticalModules
from planner.checks.names import admitted, tile_of
from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan
from planner.model.violation import Violation


def check_shares(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Each rank has memory and light to reach it; modules, ports and second-tier units are counted by server."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, DividedPorts)
    held: dict[str, Counter[int]] = {"modules": Counter(), "ports": Counter(), "second-tier units": Counter()}
    for _, assignment in admitted(instance, plan):
        units, ports = assignment.configuration.memory_units or 0, assignment.configuration.memory_io or 0
        behind = assignment.configuration.tier_units or 0
        if not (units and ports):
            message = f"{assignment.job}: memory_units and memory_io are not given"
            yield Violation("shares", assignment.job, message)
        yield from _check_edge(fabric.memory, assignment)
        dark = set(assignment.devices).intersection(instance.cluster.health.failed_ports)
        if dark:
            message = f"{assignment.job}: {', '.join(sorted(dark))} have no light, hence no memory"
            yield Violation("shares", assignment.job, message, float(len(dark)))
        for tile in (tile_of(fabric, name) for name in assignment.devices):
            if tile is not None:
                held["modules"][tile[0]] += units
                held["ports"][tile[0]] += ports
                held["second-tier units"][tile[0]] += behind
    if not isinstance(fabric.memory, Appliances):
        return
    part, each, tier = fabric.memory.part, fabric.memory.per_server, fabric.memory.second_tier
    there = {"modules": each * part.modules, "ports": each * part.modules * part.ports_per_module}
    there["second-tier units"] = 0 if tier is None else each * tier.units
    for what, most in there.items():
        for server, number in sorted(held[what].items()):
            if number > most:
                name = fabric.server_name(server)
                message = f"{name}: {number} {what} of appliances are held, there are {most}"
                yield Violation("shares", name, message, float(number - most))


def _check_edge(memory: OpticalModules | Appliances, assignment: Assignment) -> Iterator[Violation]:
    """The fibers of the pairs of chiplets that serve memory lie side by side around the accelerator."""
    if isinstance(memory, Appliances):
        return
    part, ports = memory.part, assignment.configuration.memory_io or 0
    taken_mm = ports * part.fibers_per_pair * part.fiber_pitch_um / 1000
    if ports > part.pairs:
        message = f"{assignment.job}: {ports} pairs serve memory, an accelerator has {part.pairs}"
        yield Violation("shares", assignment.job, message, float(ports - part.pairs))
    if part.perimeter_mm is not None and taken_mm > part.perimeter_mm * (1 + 1e-9):
        message = f"{assignment.job}: fibers of {ports} pairs take {taken_mm:.4g} of {part.perimeter_mm:g} mm of edge"
        yield Violation("shares", assignment.job, message, taken_mm - part.perimeter_mm)
