"""Jobs on rails: where their blocks lie, and through which optical switches their circuits go."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from costmodel.fabrics import OcsRail
from planner.checks.columns import chosen
from planner.checks.names import Tile, admitted, tile_of
from planner.fabrics.ocs_rail.rule_columns import (
    Switch,
    are_on_rails,
    circuits_of,
    failed_switches,
    in_turns,
    jobs_astray,
)
from planner.model.instance import Instance
from planner.model.plan import Circuit, Plan
from planner.model.violation import Violation


def check_rails(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """All rules of jobs with circuits."""
    yield from check_blocks_apart(instance, plan)
    yield from check_same_rails(instance, plan)


def check_blocks_apart(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """A job with circuits has one block on each of several servers."""
    for job, blocks in _blocks(instance, plan):
        servers = Counter(server for each in blocks for server in {server for server, _ in each})
        crowded = sum(count - 1 for count in servers.values())
        if crowded or len(blocks) == 1:
            message = f"{job}: a job with circuits has one block on each of several servers"
            yield Violation("rails", job, message, float(max(crowded, 1)))


def check_same_rails(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """The same slots on every server; circuits along rails, on working switches, and every switch a partial matching
    of the servers over all jobs, in every turn of each."""
    for job, blocks in _blocks(instance, plan):
        torn = sum([slot for _, slot in one] != [slot for _, slot in other] for one, other in pairwise(blocks))
        if torn:
            yield Violation("rails", job, f"{job}: its blocks do not lie on the same rails", float(torn))
    yield from _check_circuits(instance, plan)


def _blocks(instance: Instance, plan: Plan) -> Iterator[tuple[str, list[list[Tile]]]]:
    """Places of each block of jobs with circuits that may break a rule, as far as they are whole."""
    for _, assignment in chosen(instance, plan, jobs_astray(instance, plan)):
        block, tiles = assignment.configuration.block, [tile_of(instance.cluster.fabric, n) for n in assignment.devices]
        places = [tile for tile in tiles if tile is not None]
        if len(places) == len(tiles) and len(tiles) % block == 0:
            yield assignment.job, [places[first : first + block] for first in range(0, len(places), block)]


def _check_circuits(instance: Instance, plan: Plan) -> Iterator[Violation]:
    fabric = instance.cluster.fabric
    assert isinstance(fabric, OcsRail)
    failed = failed_switches(instance)
    if are_on_rails(fabric, circuits_of(instance, plan), failed):
        return
    uses: Counter[tuple[Switch, str, int, str | None]] = Counter()
    lit: Counter[tuple[Switch, str, str | None]] = Counter()
    for _, assignment in admitted(instance, plan):
        for turn, circuit in in_turns(assignment):
            where = f"{assignment.job}: {circuit.source} to {circuit.destination}"
            source, destination = tile_of(fabric, circuit.source), tile_of(fabric, circuit.destination)
            if source is None or destination is None:
                yield Violation("rails", where, f"{where}: the cluster has no such accelerators")
                continue
            yield from _check_circuit(fabric, circuit, source, destination, where)
            for number in circuit.wavelengths:
                uses[(source[1], number), "sends", source[0], turn] += 1
                uses[(destination[1], number), "receives", destination[0], turn] += 1
                lit[(source[1], number), assignment.job, turn] += 1
            dead = sorted(n for n in set(circuit.wavelengths) if (source[1], n) in failed)
            if dead:
                message = f"{where}: switches {dead} of rail {source[1]} have failed"
                yield Violation("rails", where, message, float(len(dead)))
    yield from _check_matchings(fabric, uses, lit)


def _check_circuit(
    fabric: OcsRail, circuit: Circuit, source: Tile, destination: Tile, where: str
) -> Iterator[Violation]:
    if source[0] == destination[0]:
        yield Violation("rails", where, f"{where}: a circuit joins two servers, not accelerators of one")
    if source[1] != destination[1]:
        yield Violation("rails", where, f"{where}: rails {source[1]} and {destination[1]} do not meet")
    if circuit.fibers:
        yield Violation("rails", where, f"{where}: takes no fiber", float(len(circuit.fibers)))
    wrong = [number for number in circuit.wavelengths if not 0 <= number < fabric.switches]
    if wrong:
        message = f"{where}: switches {wrong} are not among 0 to {fabric.switches - 1}"
        yield Violation("rails", where, message, float(len(wrong)))


def _check_matchings(
    fabric: OcsRail, uses: Counter[tuple[Switch, str, int, str | None]], lit: Counter[tuple[Switch, str, str | None]]
) -> Iterator[Violation]:
    """Jobs are not in step: a switch may have the most circuits of each at a time."""
    for ((rail, number), verb, server, _), count in uses.items():
        if count > 1:
            where = f"q{rail}#{number}"
            device = fabric.device_name(server, rail)
            yield Violation("rails", where, f"{device} {verb} {count} times through switch {where}", count - 1.0)
    most: defaultdict[Switch, dict[str, int]] = defaultdict(dict)
    for (switch, job, _), count in lit.items():
        most[switch][job] = max(most[switch].get(job, 0), count)
    for (rail, number), of_jobs in most.items():
        count = sum(of_jobs.values())
        if count > fabric.ports:
            where = f"q{rail}#{number}"
            message = f"switch {where} carries {count} circuits, it has {fabric.ports} ports"
            yield Violation("rails", where, message, float(count - fabric.ports))
