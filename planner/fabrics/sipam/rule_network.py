"""Network circuits of jobs in pooled racks: their rails and uplinks, and what they leave to memory."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np

from costmodel.fabrics import Sipam
from costmodel.parallelism.configuration import Collective, Configuration
from costmodel.parallelism.mappings import DIMENSIONS
from planner.checks.moved import movers
from planner.checks.names import admitted, tile_of
from planner.checks.phases import in_phases
from planner.checks.required import handed_over
from planner.fabrics.sipam.rule_parts import PoolParts
from planner.fabrics.sipam.rule_racks import in_racks
from planner.model.instance import Instance
from planner.model.job import Job, Resident
from planner.model.plan import Assignment, Circuit, Plan
from planner.model.violation import Violation


def check_pool_network(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Circuits on the right rails and uplinks, one on each uplink and way, and enough rails for memory beside them."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, Sipam)
    parts = PoolParts(instance.cluster, fabric)
    uses: Counter[tuple[str, str]] = Counter()
    for job, assignment in _on_known_devices(instance, plan, fabric):
        phases = in_phases(job, assignment)
        uses.update(_most_uses(phases))
        for inside in in_racks(parts, phases):
            for each in inside:
                yield from _check_job(parts, each)
            yield from _check_nested(inside)
    for (name, way), count in uses.items():
        if count > 1:
            yield Violation("pool_network", name, f"{count} circuits go {way} over {name}", count - 1.0)


def _on_known_devices(instance: Instance, plan: Plan, fabric: Sipam) -> Iterator[tuple[Job, Assignment]]:
    """Jobs of the plan on devices that the fabric has; another rule tells of the others."""
    for job, assignment in admitted(instance, plan):
        if all(tile_of(fabric, name) is not None for name in assignment.devices):
            yield job, assignment


def check_reserved_uplinks(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Uplinks for all that jobs which start reserve, beside those that residents which stay use."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, Sipam)
    parts = PoolParts(instance.cluster, fabric)
    reserved: Counter[tuple[int, int]] = Counter()
    for job, assignment in _on_known_devices(instance, plan, fabric):
        stays = isinstance(job, Resident) and job.name not in movers(instance, plan)
        reserved.update(_used(parts, assignment) if stays else uplinks_reserved(parts, job, assignment))
    for (server, rail), count in reserved.items():
        excess = count - parts.num_uplinks(server, rail)
        if excess > 0:
            where = parts.server_switch(server, rail)
            yield Violation(
                "pool_network", where, f"{where}: {count} uplinks are reserved, {excess} too many", float(excess)
            )


def _most_uses(phases: list[Assignment]) -> Counter[tuple[str, str]]:
    """Circuits of a job over each uplink, out or into a server, in the phase with the most."""
    most: Counter[tuple[str, str]] = Counter()
    for each in phases:
        ends = (pair for circuit in _circuits(each) for pair in enumerate(circuit.fibers))
        most |= Counter((name, ("out", "into")[number % 2]) for number, name in ends)
    return most


def _across_rails(assignment: Assignment) -> set[int]:
    """Rails of groups that may leave a server."""
    held = (h for h in assignment.circuits if not is_inside(assignment.configuration, h.dimension))
    return {rail for each in held for circuit in each.circuits for rail in circuit.wavelengths}


def _check_nested(phases: list[Assignment]) -> Iterator[Violation]:
    """Groups that may leave a server use in one phase only rails that they also use in the other."""
    used = [_across_rails(each) for each in phases]
    extra = len(set[int]().union(*used)) - max(map(len, used))
    if extra > 0:
        job = phases[0].job
        message = f"{job}: its groups that may leave a server use {extra} more rails in all than in any phase"
        yield Violation("pool_network", job, message, float(extra))


def is_inside(configuration: Configuration, dimension: str) -> bool:
    """True if the groups along a dimension stay in a server in each rack, whatever server their blocks are in."""
    c = configuration
    if c.block * c.racks == c.num_devices:
        return True
    group, replica = c.tensor * c.context, c.tensor * c.context * c.pipeline
    runs = {"tensor": c.tensor, "context": group, "pipeline": replica, "expert": replica * c.expert}
    if dimension == "data":
        return c.data == c.racks and (c.context == 1 or c.block % group == 0)
    return c.block % runs[dimension] == 0 or (dimension in ("context", "expert") and getattr(c, dimension) == 1)


def rails_of(collective: Collective, ranks: int) -> int:
    """Rails that a collective takes."""
    if not collective.wavelengths:
        return 0
    width = collective.wavelengths[0]
    if collective.kind == "line":
        return width if ranks == 2 else 2 * width
    if collective.kind == "ring":
        return width
    if collective.kind in ("circulant", "circulant_relay"):
        return width * len(collective.radices)
    if collective.kind == "transfer":
        ends = zip(*handed_over(collective), strict=True)
        return width * max(side.count(place) for side in ends for place in set(side))
    return sum((r - 1) * w for r, w in zip(collective.radices, collective.wavelengths, strict=False))


def _asked(configuration: Configuration) -> tuple[int, int]:
    """u and i: rails of groups that may leave a server, and of those that stay."""
    c, across, inside = configuration, 0, 0
    for dimension in DIMENSIONS:
        ranks = c.all_degrees.ranks(dimension)
        rails = rails_of(getattr(c, f"{dimension}_collective"), ranks)
        if is_inside(c, dimension):
            inside += rails
        else:
            across += rails
    return across, inside


def _circuits(assignment: Assignment) -> Iterator[Circuit]:
    return (circuit for held in assignment.circuits for circuit in held.circuits)


def _servers(parts: PoolParts, assignment: Assignment) -> list[int]:
    """Server of each rank."""
    tiles = (tile_of(parts.fabric, name) for name in assignment.devices)
    return [tile[0] for tile in tiles if tile is not None]


def _check_job(parts: PoolParts, assignment: Assignment) -> Iterator[Violation]:
    job, configuration, servers = assignment.job, assignment.configuration, _servers(parts, assignment)
    runs = [server for server, _ in groupby(servers)]
    if len(runs) > len(set(runs)):
        message = f"{job}: the blocks in a server are not consecutive"
        yield Violation("pool_network", job, message, float(len(runs) - len(set(runs))))
    across, inside = _asked(configuration)
    on_across: set[int] = set()
    in_server: dict[int, set[int]] = {server: set() for server in servers}
    for held in assignment.circuits:
        leaves = not is_inside(configuration, held.dimension)
        for circuit in held.circuits:
            yield from _check_circuit(parts, job, circuit, leaves)
            if leaves:
                on_across.update(circuit.wavelengths)
            for name in (circuit.source, circuit.destination):
                server = parts.servers[name]
                if server is not None:
                    in_server.setdefault(server, set()).update(circuit.wavelengths)
    if len(on_across) != across:
        message = f"{job}: its groups that may leave a server use {len(on_across)} rails, not {across}"
        yield Violation("pool_network", job, message, float(abs(len(on_across) - across)))
    for each, rails in in_server.items():
        yield from _check_server(parts, assignment, each, (across, inside), rails)


def _check_server(
    parts: PoolParts, assignment: Assignment, server: int, asked: tuple[int, int], rails: set[int]
) -> Iterator[Violation]:
    """Rails of network and memory of a job in one server."""
    where = f"{assignment.job}: {parts.fabric.server_name(server)}"
    spine, local = parts.working_spine(server), parts.working_local(server)
    kept = max(0, sum(asked) - len(spine))
    if asked[0] > len(spine):
        yield Violation("pool_network", where, f"{where}: {asked[0]} spine rails are needed, {len(spine)} work")
    memory = {circuit.rail for circuit in assignment.memory if parts.servers[circuit.device] == server}
    excess = len(memory) - (len(local) - kept)
    if excess > 0:
        message = f"{where}: memory on {len(memory)} rails, but {kept} of {len(local)} are kept for the network"
        yield Violation("pool_network", where, message, float(excess))
    if shared := sorted(memory & rails):
        message = f"{where}: rails {shared} carry its memory and its network"
        yield Violation("pool_network", where, message, float(len(shared)))
    extra = len(rails) - sum(asked)
    if extra > 0:
        yield Violation(
            "pool_network", where, f"{where}: its circuits use {len(rails)} rails, not {sum(asked)}", float(extra)
        )


def _check_circuit(parts: PoolParts, job: str, circuit: Circuit, leaves: bool) -> Iterator[Violation]:
    """Rails that work, on the spine for groups that may leave a server; two uplinks for each rail between servers."""
    rails, fibers = circuit.wavelengths, circuit.fibers
    here, there = parts.servers[circuit.source], parts.servers[circuit.destination]
    if here is None or there is None:
        return
    where = _Where(job, circuit)
    for server in {here, there}:
        working = parts.carrying(server, leaves=leaves)
        if not working.issuperset(rails):
            wrong = [rail for rail in rails if rail not in working]
            message = f"{where}: rails {wrong} do not work or do not suit"
            yield Violation("pool_network", f"{where}", message, float(len(wrong)))
    if len(set(rails)) < len(rails):
        yield Violation("pool_network", f"{where}", f"{where}: a rail is named twice")
    if here == there and not fibers:
        return
    found = [parts.uplink(name) for name in fibers]
    ends = [(server, rail) for rail in rails for server in (here, there)] if here != there else []
    if [uplink and uplink[:2] for uplink in found] != ends:
        message = f"{where}: takes for each rail an uplink out and one in, not {list(fibers)}"
        yield Violation("pool_network", f"{where}", message, float(max(abs(len(found) - len(ends)), 1)))
    names = {*fibers, *(parts.zone_switch(here, rail) for rail in rails if here != there)}
    if failed := sorted(names & parts.failed):
        yield Violation("pool_network", f"{where}", f"{where}: {', '.join(failed)} have failed", float(len(failed)))


class _Where(NamedTuple):
    """A circuit in words, which only a violation needs."""

    job: str
    circuit: Circuit

    def __str__(self) -> str:
        return f"{self.job}: {self.circuit.source} to {self.circuit.destination}"


def _used(parts: PoolParts, assignment: Assignment) -> Counter[tuple[int, int]]:
    """Uplinks that circuits take, by server and rail, whichever way."""
    names = {name for circuit in _circuits(assignment) for name in circuit.fibers}
    return Counter(uplink[:2] for name in names if (uplink := parts.uplink(name)))


def uplinks_reserved(parts: PoolParts, job: Job, assignment: Assignment) -> Counter[tuple[int, int]]:
    """Uplinks that a job in several servers of a rack reserves, by server and rail: the most that any run of blocks
    needs on a rail, in any phase."""
    found: Counter[tuple[int, int]] = Counter()
    for phases in in_racks(parts, in_phases(job, assignment)):
        servers = set(_servers(parts, phases[0]))
        if len(servers) > 1:
            rails, most = set[int]().union(*map(_across_rails, phases)), max(map(_most_on_a_rail, phases))
            found.update({(server, rail): most for server in servers for rail in rails})
    return found


def _most_on_a_rail(assignment: Assignment) -> int:
    """Most circuits on one rail that leave, or enter, any run of blocks."""
    c = assignment.configuration
    rank = {name: number for number, name in enumerate(assignment.devices)}
    ends: dict[int, list[tuple[int, int]]] = {}
    for held in assignment.circuits:
        if not is_inside(c, held.dimension):
            for circuit in held.circuits:
                pair = rank.get(circuit.source, 0) // c.block, rank.get(circuit.destination, 0) // c.block
                for rail in circuit.wavelengths:
                    ends.setdefault(rail, []).append(pair)
    return max((_most_crossing(pairs, len(assignment.devices) // c.block) for pairs in ends.values()), default=0)


def _most_crossing(pairs: list[tuple[int, int]], blocks: int) -> int:
    """Most of these (block, block) pairs that leave, or enter, a run of blocks first .. last - 1, not all blocks.

    One that leaves from a crosses all runs with a in them, less those with both ends in them.
    """
    most = 0
    for sources in (pairs, [(b, a) for a, b in pairs]):
        change = np.zeros((blocks + 2, blocks + 2), np.int64)
        for a, b in sources:
            for sign, low, high in ((1, a, a), (-1, min(a, b), max(a, b))):
                change[0, high + 1] += sign
                change[low + 1, high + 1] -= sign
        crossing = change.cumsum(axis=0).cumsum(axis=1)[: blocks + 1, : blocks + 1]
        crossing[0, blocks] = 0
        most = max(most, int(crossing.max()))
    return most
