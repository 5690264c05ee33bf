"""Racks with pooled memory: units, ports, rails and uplinks by server."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from ortools.sat.python import cp_model

from costmodel.fabrics import Sipam
from planner.fabrics.demand import Demand
from planner.fabrics.problem import Problem
from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.free_pool import FreePool, by_server
from planner.fabrics.sipam.server_pool import FreeServer
from planner.formulation.variables import JobVariables, Variables, total

Key = TypeVar("Key")
OfRank = Callable[[int, int], int]
"""memory units and memory I/Os of a rank -> what it takes"""


@dataclass(frozen=True)
class Held:
    """Units, ports and uplinks of a staying resident in one server."""

    units: int
    ports: dict[int, int]
    """by rail"""
    uplinks: dict[int, int]
    """by rail: those in use, out or in"""


def memory_pool(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""In each server, x being ranks with N units over m I/Os: units, $\sum N x \le U_s$; ports,
    $\sum m x \le P_s$; and $\sum (N - m) x \le \sum_t U_{st} - \lceil U_{st} / p \rceil$, p units at most on a port.

    The last holds since u units of a tray take $\lceil u / p \rceil$ ports or more. Totals over all servers are
    redundant and tighten the relaxation.
    """
    fabric = problem.cluster.fabric
    assert isinstance(fabric, Sipam)
    racks = FreePool(problem.cluster).racks
    held = [_held(job, fabric) for job in v.jobs]
    limits: tuple[tuple[OfRank, list[int]], ...] = (
        (lambda units, io: units, [rack.num_units for rack in racks]),
        (lambda units, io: io, [sum(map(rack.num_ports, rack.ports)) for rack in racks]),
        (lambda units, io: units - io, [_most_shared(rack, fabric.port_units) for rack in racks]),
    )
    for of_rank, most in limits:
        for server, limit in enumerate(most):
            placed = [term for job in v.jobs for term in _taken(job, server, of_rank)]
            stays = [
                of_rank(here.units, sum(here.ports.values())) * job.stay
                for job, mine in zip(v.jobs, held, strict=True)
                if job.stay is not None and (here := mine.get(server)) is not None
            ]
            model.add(total([*placed, *stays]) <= limit)
        rows = [
            shape.num_ranks * of_rank(shape.held_units, shape.held_io) * row
            for job in v.jobs
            for shape, row in zip(job.options.shapes, job.rows, strict=True)
        ]
        model.add(total(rows) <= sum(most))


def pool_network(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""A job keeps its network rails free of memory: where rails have fewer ports than there are accelerators,
    $c_{jq} \le x_{js}$, $c_{jq} = 0$ on n rails of the job, $\sum_q c_{jq} = m x_{js}$, $\sum_j c_{jq} \le P_{sq}$.

    Elsewhere it is enough that memory and network together do not need more rails than work. Where phases differ, c and
    n are those of the phase with more memory.
    """
    fabric = problem.cluster.fabric
    assert isinstance(fabric, Sipam)
    for server, rack in enumerate(FreePool(problem.cluster).racks):
        for job in v.jobs:
            for row, shape in zip(job.rows, job.options.shapes, strict=True):
                if not fits(rack, PoolDemand.of(shape)):
                    model.add_implication(row, ~job.touched[server])
        if any(rack.num_ports(rail) < len(problem.cluster.healthy_slots(server)) for rail in rack.ports):
            _choose_rails(model, v, fabric, server, rack)


def fits(rack: FreeServer, demand: PoolDemand) -> bool:
    """True if a server has the rails for a rank in every phase."""
    spine, local = len(rack.spine), len(rack.ports)
    return all(each.across <= spine and each.memory_io + each.local_network(spine) <= local for each in demand.by_phase)


def _choose_rails(model: cp_model.CpModel, v: Variables, fabric: Sipam, server: int, rack: FreeServer) -> None:
    """Memory circuits of each job on each local rail of one server."""
    on_rail: dict[int, list[cp_model.LinearExprT]] = {rail: [] for rail in rack.ports}
    for job in v.jobs:
        ranks, network = job.new_devices(server), {rail: model.new_bool_var("") for rail in rack.ports}
        counts = {rail: model.new_int_var(0, rack.num_ports(rail), "") for rail in rack.ports}
        for rail, count in counts.items():
            model.add(count <= ranks)
            model.add(count == 0).only_enforce_if(network[rail])
            on_rail[rail].append(count)
        model.add(total(counts.values()) == total(_taken(job, server, lambda units, io: io)))
        for number, chosen in _classes(model, job, lambda demand: _local_network(demand, rack)):
            model.add(total(network.values()) >= number).only_enforce_if(chosen, job.touched[server])
        if job.stay is not None and (here := _held(job, fabric).get(server)) is not None:
            for rail, number in here.ports.items():
                on_rail[rail].append(number * job.stay)
    for rail, terms in on_rail.items():
        model.add(total(terms) <= rack.num_ports(rail))


def _local_network(demand: Demand, rack: FreeServer) -> int | None:
    """Local rails for the network in the phase with more memory."""
    return PoolDemand.of(demand).by_memory[0].local_network(len(rack.spine)) or None


def reserved_uplinks(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""A job in several servers of a rack reserves s uplinks on each of u spine rails in each: $\sum_j f_{js} \le F_s$,
    $f_{js} \ge u_k s_k$ if it spans, touches s and runs as k; and there are u rails with s uplinks each. Where k lies
    in several racks, a server that has the whole part of its rack reserves none."""
    fabric = problem.cluster.fabric
    assert isinstance(fabric, Sipam)
    racks = FreePool(problem.cluster).racks
    classes = [list(_classes(model, job, _uplinks)) for job in v.jobs]
    held = [_held(job, fabric) for job in v.jobs]
    for server, rack in enumerate(racks):
        numbers = list(map(len, rack.uplinks.values()))
        reserved: list[cp_model.LinearExprT] = []
        for job, mine, stays in zip(v.jobs, classes, held, strict=True):
            if mine:
                reserved.append(_reserved(model, job, mine, server, numbers))
            if job.stay is not None and server in stays:
                reserved.append(sum(stays[server].uplinks.values()) * job.stay)
        model.add(total(reserved) <= sum(numbers))


def _reserved(
    model: cp_model.CpModel,
    job: JobVariables,
    classes: Iterable[tuple[tuple[int, int, int], cp_model.IntVar]],
    server: int,
    numbers: list[int],
) -> cp_model.IntVar:
    """Uplinks of a server that a job reserves."""
    reserved = model.new_int_var(0, sum(numbers), "")
    for (rails, each, part), chosen in classes:
        literals = [chosen, job.touched[server], ~_whole(model, job, server, part) if part else job.spans]
        if sum(number >= max(each, 1) for number in numbers) < rails:
            model.add_bool_or([~literal for literal in literals])
        else:
            model.add(reserved >= rails * each).only_enforce_if(literals)
    return reserved


def _uplinks(demand: Demand) -> tuple[int, int, int] | None:
    """Rails and uplinks on each of them, and where the job lies in several racks its ranks in each."""
    pool = PoolDemand.of(demand)
    return (pool.across, pool.uplinks, demand.in_rack.num_ranks if demand.racks > 1 else 0) if pool.across else None


def _whole(model: cp_model.CpModel, job: JobVariables, server: int, part: int) -> cp_model.IntVar:
    """A server has so many ranks of a job, all of its rack."""
    whole = model.new_bool_var("")
    model.add(job.new_devices(server) == part).only_enforce_if(whole)
    return whole


def _taken(job: JobVariables, server: int, of_rank: OfRank) -> Iterator[cp_model.LinearExprT]:
    """Amounts that the newly placed ranks of a job take of a server."""
    for kind, blocks in job.blocks.items():
        yield kind.size * of_rank(kind.memory_units, kind.memory_io) * blocks[server]


def _most_shared(rack: FreeServer, port_units: int) -> int:
    """Most units less ports that jobs can hold in a server: in each tray, all units over as few ports as carry them."""
    total_shared = 0
    for tray, units in enumerate(rack.units):
        reachable = min(len(units), port_units * sum(len(ports[tray]) for ports in rack.ports.values()))
        total_shared += reachable - -(-reachable // port_units)
    return total_shared


def _classes(
    model: cp_model.CpModel, job: JobVariables, key_of: Callable[[Demand], Key | None]
) -> Iterator[tuple[Key, cp_model.IntVar]]:
    """Rows of a job by what they ask for, where that is something, and a literal for each."""
    groups: dict[Key, list[cp_model.IntVar]] = {}
    for row, shape in zip(job.rows, job.options.shapes, strict=True):
        key = key_of(shape)
        if key is not None:
            groups.setdefault(key, []).append(row)
    for key, rows in groups.items():
        chosen = rows[0]
        if len(rows) > 1:
            chosen = model.new_bool_var("")
            model.add(sum(rows) == chosen)
        yield key, chosen


def _held(job: JobVariables, fabric: Sipam) -> dict[int, Held]:
    """Parts that a resident holds by server; none for a job that waits."""
    if job.stay is None:
        return {}
    staying = job.options.staying()
    held = {server: Held(0, {}, {}) for server in by_server(map(fabric.parse_device, staying.devices))}
    units = dict.fromkeys(held, 0)
    for circuit in staying.memory:
        server = fabric.parse_device(circuit.device)[0]
        units[server] += len(circuit.units)
        held[server].ports[circuit.rail] = held[server].ports.get(circuit.rail, 0) + 1
    names = {name for each in staying.circuits for c in each.circuits for name in c.fibers}
    for server, rail, _ in map(fabric.parse_uplink, names):
        held[server].uplinks[rail] = held[server].uplinks.get(rail, 0) + 1
    return {server: Held(units[server], here.ports, here.uplinks) for server, here in held.items()}
