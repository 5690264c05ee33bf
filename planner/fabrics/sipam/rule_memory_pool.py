"""Memory circuits of jobs in pooled racks: which units and ports every rank holds."""

from collections import Counter
from collections.abc import Iterator

from costmodel.fabrics import Sipam
from planner.checks.names import admitted
from planner.checks.phases import in_phases
from planner.fabrics.sipam.rule_parts import PoolParts
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Assignment, MemoryCircuit, Plan
from planner.model.violation import Violation


def check_memory_pool(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Each rank has its circuits on different rails and its units behind them; no unit or port serves two ranks."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, Sipam)
    parts = PoolParts(instance.cluster, fabric)
    holders: Counter[str] = Counter()
    for job, assignment in admitted(instance, plan):
        yield from _check_job(parts, job, assignment)
        for circuit in assignment.memory:
            holders.update([circuit.port, *circuit.units])
    for name, count in holders.items():
        if count > 1:
            yield Violation("memory_pool", name, f"{name} serves {count} memory circuits", count - 1.0)


def _check_job(parts: PoolParts, job: Job, assignment: Assignment) -> Iterator[Violation]:
    dark = set(assignment.devices).intersection(parts.cluster.health.failed_ports)
    if dark:
        message = f"{job.name}: {', '.join(sorted(dark))} have no light, hence no memory"
        yield Violation("memory_pool", job.name, message, float(len(dark)))
    for circuit in assignment.memory:
        yield from _check_circuit(parts, circuit, f"{job.name}: {circuit.device} rail {circuit.rail}")
    phases = in_phases(job, assignment)
    most = max(each.configuration.memory_units or 0 for each in phases)
    for each in phases:
        yield from _check_phase(parts, each, most)


def _check_phase(parts: PoolParts, assignment: Assignment, most: int) -> Iterator[Violation]:
    """Circuits that are on in one phase; in the one with less memory than `most` units there may be more behind them
    than the rank uses."""
    job, configuration = assignment.job, assignment.configuration
    units, each = configuration.memory_units or 0, configuration.memory_io or 0
    if not ((units and each) or parts.fabric.local_memory):
        yield Violation("memory_pool", job, f"{job}: memory_units and memory_io are not given")
        return
    ranks = [device for device in assignment.devices for _ in range(each)]
    if ranks != [circuit.device for circuit in assignment.memory]:
        message = f"{job}: {each} memory circuits are needed for each rank, rank after rank"
        yield Violation("memory_pool", job, message, float(max(abs(len(ranks) - len(assignment.memory)), 1)))
    held: dict[str, list[MemoryCircuit]] = {}
    for circuit in assignment.memory:
        held.setdefault(circuit.device, []).append(circuit)
    for device, circuits in held.items():
        found = sum(len(circuit.units) for circuit in circuits)
        if found < units or (found > units and units == most):
            yield Violation(
                "memory_pool", f"{job}: {device}", f"{job}: {device} has {found} units, not {units}", abs(found - units)
            )
        twice = len(circuits) - len({circuit.rail for circuit in circuits})
        if twice:
            message = f"{job}: {device} has several memory circuits on one rail"
            yield Violation("memory_pool", f"{job}: {device}", message, float(twice))


def _check_circuit(parts: PoolParts, circuit: MemoryCircuit, job: str) -> Iterator[Violation]:
    """Port and units exist, work, and belong to one tray of the server of the device, the port to the rail."""
    for problem, amount in _faults(parts, circuit):
        where = f"{job}: {circuit.device} rail {circuit.rail}"
        yield Violation("memory_pool", where, f"{where}: {problem}", amount)


def _faults(parts: PoolParts, circuit: MemoryCircuit) -> Iterator[tuple[str, float]]:
    here, port = parts.servers[circuit.device], parts.tray_port(circuit.port)
    if here is None or port is None:
        yield f"there is no port '{circuit.port}' or no such accelerator", 1.0
        return
    server, tray, rail, _ = port
    if server != here or rail != circuit.rail:
        yield f"{circuit.port} lies in another server or on another rail", 1.0
    foreign = [name for name in circuit.units if (unit := parts.unit(name)) is None or unit[:2] != (server, tray)]
    if foreign:
        yield f"{', '.join(foreign)} are no units of the tray of {circuit.port}", float(len(foreign))
    excess = len(circuit.units) - parts.units_per_port
    if excess > 0:
        yield f"{len(circuit.units)} units behind a port, at most {parts.units_per_port}", float(excess)
    failed = {circuit.port, *circuit.units, parts.server_switch(server, rail)} & parts.failed
    if failed:
        yield f"{', '.join(sorted(failed))} have failed", float(len(failed))
