"""What one more of something would add: each answer is a solve of an instance that has it."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, assert_never

from costmodel.fabrics import DividedPorts, FatTree, Lightpath, MemoryNodeRings, OcsRail, Sipac, Sipam, Torus
from costmodel.fabrics.lightpath import MAX_TILES
from costmodel.fabrics.ocs_rail import MAX_SWITCHES
from costmodel.hardware.memory.providers import Appliances
from planner.model.errors import InputError
from planner.model.instance import Instance, Reference
from planner.model.plan import Plan
from planner.model.result import BOUND_NOISE, Level, SolveOptions, Status, difference
from planner.pipeline import solve
from planner.whatif.edit import (
    Pair,
    edited,
    expand_as,
    failed_parts,
    fibers_of_new_server,
    references,
    rehinted,
    repaired,
    server_pairs,
    with_fabric,
    with_fibers,
    with_fibers_everywhere,
    with_objectives,
    with_server,
)

BASE_SHARE = 0.3
"""share of the time limit for the instance as it is"""
MAX_PAIRS = 4
"""most ordered pairs of servers that are asked about, the fullest first"""
MAX_PARTS = 8
"""most failed parts that are asked about one by one"""
FULL = 0.75
"""share of its light in use from which a pair of servers counts as full"""
SWITCH_S = (1e-6, 0.0)
"""reconfiguration times of faster switches"""


@dataclass(frozen=True)
class Marginal:
    """What a change of the cluster adds to the value, proven to lie from `gain` to `gain_at_most`.

    Both agree where the time sufficed. `status` is OPTIMAL then; FEASIBLE where only the interval is known;
    NO_PLAN where no plan was found in time; INFEASIBLE where there is none; NOT_COMPARABLE where a resident
    runs in a configuration that the changed fabric does not have. Gains are None where they are not known,
    as they are where the cluster as it is has no plan.
    """

    change: str
    gain: float | None
    gain_at_most: float | None
    status: str


class _Question(NamedTuple):
    change: str
    instance: Instance
    is_addition: bool = True
    """whether every plan of the cluster as it is stays one, so that nothing can be lost"""


def marginal(instance: Instance, *, time_limit_s: float = 60.0, options: SolveOptions | None = None) -> list[Marginal]:
    """What more fibers, servers, tiles, peers, bandwidth, a faster switch or a repair would add, best first.

    Values are sums of weight x g(speed / fastest speed), the fastest speed always being that of a job on the
    cluster as it is: with more peers or a faster switch all speeds rise, and measured against their own
    fastest none would seem to gain. The time limit is shared by all questions.
    """
    started = time.perf_counter()
    options = replace(options or SolveOptions(), on_incumbent=None)
    measured = references(instance)
    base, plan = _value(instance, measured, options, BASE_SHARE * time_limit_s, None)
    questions = list(_questions(instance, plan))
    found = []
    for index, question in enumerate(questions):
        left_s = max(time_limit_s - (time.perf_counter() - started), 0.0) / (len(questions) - index)
        if options.deterministic_limit is not None:
            left_s = time_limit_s
        try:
            level, _ = _value(question.instance, measured, options, left_s, plan)
        except InputError:
            found.append(Marginal(question.change, None, None, "NOT_COMPARABLE"))
        else:
            found.append(_compared(question, base, level))
    return sorted(found, key=lambda m: (m.gain is None, -(m.gain or 0.0), -(m.gain_at_most or 0.0)))


def _value(
    instance: Instance, measured: dict[str, Reference], options: SolveOptions, limit_s: float, start: Plan | None
) -> tuple[Level, Plan | None]:
    """Value of an instance and the plan that has it, from the plan of the unchanged one if it is one here."""
    problem = expand_as(with_objectives(instance, "value"), measured)
    hint = rehinted(problem, start) if start is not None else None
    result = solve(problem, options=replace(options, time_limit_s=limit_s, hint=hint))
    return result.levels[0], result.plan


def _compared(question: _Question, base: Level, level: Level) -> Marginal:
    """Interval of the gain from values and bounds of both; rounding of the solver is no gain."""
    change = question.change
    if level.value is None or base.value is None or level.bound is None or base.bound is None:
        return Marginal(change, None, None, level.status.value)
    if base.status is level.status is Status.OPTIMAL:
        gain = difference(level.value, base.value)
        return Marginal(change, gain, gain, Status.OPTIMAL.value)
    least = difference(level.value, base.bound, BOUND_NOISE)
    if question.is_addition:
        least = max(least, 0.0)
    most = difference(level.bound, base.value, BOUND_NOISE)
    return Marginal(change, least, most, Status.FEASIBLE.value)


def _questions(instance: Instance, plan: Plan | None) -> Iterator[_Question]:
    """All changes that the fabric allows."""
    fabric = instance.cluster.fabric
    if isinstance(fabric, Lightpath):
        yield from _lightpath(instance, fabric, plan)
    elif isinstance(fabric, FatTree | DividedPorts | MemoryNodeRings):
        yield from _packets(instance, fabric)
    elif isinstance(fabric, OcsRail):
        yield from _rails(instance, fabric)
    elif isinstance(fabric, Torus | Sipac):
        yield from _slices(instance, fabric)
    elif isinstance(fabric, Sipam):
        yield from _pools(instance, fabric)
    else:
        assert_never(fabric)
    yield from _repairs(instance)


def _lightpath(instance: Instance, fabric: Lightpath, plan: Plan | None) -> Iterator[_Question]:
    count = fibers_of_new_server(fabric)
    fibers = f"{count or 'no'} fiber{'' if count == 1 else 's'}"
    joined = f" with {fibers} to and from each other" if fabric.servers > 1 else ""
    if fabric.servers > 1 or isinstance(fabric.fibers, int):
        each = "" if fabric.racks == 1 else " in each rack"
        yield _Question(f"one more server{each}{joined}", with_server(instance))
    yield from _fibers(instance, fabric, plan)
    yield from _tiles(instance, fabric)
    yield from _peers(instance, fabric)
    yield from _switches(instance, fabric)


def _packets(instance: Instance, fabric: FatTree | DividedPorts | MemoryNodeRings) -> Iterator[_Question]:
    """Servers on a network of packets, and what memory is joined to their accelerators."""
    yield _Question(f"one more server{'' if fabric.racks == 1 else ' in each rack'}", with_server(instance))
    doubled = 2 * fabric.network_bandwidth_bytes_per_s
    yield _Question("twice the network bandwidth", with_fabric(instance, network_bandwidth_bytes_per_s=doubled))
    if isinstance(fabric, DividedPorts) and isinstance(fabric.memory, Appliances):
        more = edited(fabric.memory, per_server=fabric.memory.per_server + 1)
        yield _Question("one more appliance in each server", with_fabric(instance, memory=more))
        wider = edited(fabric.memory, ports=fabric.memory.ports + 1)
        if wider.ports <= wider.all_ports:
            yield _Question("one more optical port of each accelerator", with_fabric(instance, memory=wider))
    if isinstance(fabric, MemoryNodeRings):
        yield from _rings(instance, fabric)


def _rings(instance: Instance, fabric: MemoryNodeRings) -> Iterator[_Question]:
    """One more ring takes two links of each accelerator."""
    node, memory = fabric.node, fabric.node.node
    assert memory is not None
    links = edited(node, links=node.links + 2)
    yield _Question("one more ring of links in each node", with_fabric(instance, node=links))
    faster = edited(node, link_bandwidth_bytes_per_s=2 * node.link_bandwidth_bytes_per_s)
    yield _Question("twice the bandwidth of a link", with_fabric(instance, node=faster))
    more = edited(node, node=edited(memory, dimms=memory.dimms + memory.groups))
    count = f"{memory.groups} more DIMM{'' if memory.groups == 1 else 's'}"
    yield _Question(f"{count} in each memory node", with_fabric(instance, node=more))


def _rails(instance: Instance, fabric: OcsRail) -> Iterator[_Question]:
    if fabric.num_servers + fabric.racks <= fabric.ports:
        each = "" if fabric.racks == 1 else " in each rack"
        yield _Question(f"one more server{each}", with_server(instance))
    if fabric.switches < MAX_SWITCHES:
        yield _Question("one more switch on each rail", with_fabric(instance, switches=fabric.switches + 1))
    doubled = 2 * fabric.port_bandwidth_bytes_per_s
    yield _Question("twice the bandwidth of a port", with_fabric(instance, port_bandwidth_bytes_per_s=doubled))


def _slices(instance: Instance, fabric: Torus | Sipac) -> Iterator[_Question]:
    switches = fabric.switches if isinstance(fabric, Torus) else None
    if switches is None or 2 * (fabric.servers + 1) <= switches.ports:
        yield _Question(f"one more server{'' if fabric.racks == 1 else ' in each rack'}", with_server(instance))
    rate = "link_bandwidth_bytes_per_s" if isinstance(fabric, Torus) else "bandwidth_bytes_per_s"
    yield _Question("twice the bandwidth", with_fabric(instance, **{rate: 2 * getattr(fabric, rate)}))


def _pools(instance: Instance, fabric: Sipam) -> Iterator[_Question]:
    """Where the ports of switches suffice."""
    if (fabric.servers + 1) * fabric.uplinks <= fabric.switch_ports:
        yield _Question(f"one more server{'' if fabric.racks == 1 else ' in each rack'}", with_server(instance))
    more_units = max(1, round(fabric.units_per_tray / 8))
    units = with_fabric(instance, units_per_tray=fabric.units_per_tray + more_units)
    yield _Question(f"{more_units} more memory unit{'' if more_units == 1 else 's'} in each tray", units)
    if fabric.devices_per_server + fabric.ports_per_rail + fabric.trays_per_server <= fabric.switch_ports:
        ports = with_fabric(instance, tray_ports=fabric.tray_ports + 1)
        yield _Question("one more port of each tray on each rail", ports)
    fits_zone = fabric.servers * (fabric.uplinks + 1) <= fabric.switch_ports
    if fabric.spine_rails and fits_zone and fabric.devices_per_server + fabric.uplinks < fabric.switch_ports:
        yield _Question("one more uplink on each spine rail", with_fabric(instance, uplinks=fabric.uplinks + 1))


def _fibers(instance: Instance, fabric: Lightpath, plan: Plan | None) -> Iterator[_Question]:
    if fabric.servers > 1:
        yield _Question("one more fiber between all servers", with_fibers_everywhere(instance, 1))
    for a, b in _full_pairs(instance, fabric, plan) if plan is not None else ():
        change = f"one more fiber {fabric.server_name(a)} -> {fabric.server_name(b)}"
        yield _Question(change, with_fibers(instance, {(a, b): 1}))


def _full_pairs(instance: Instance, fabric: Lightpath, plan: Plan) -> list[Pair]:
    """Ordered pairs of servers with little light left in a plan, the fullest first."""
    used: dict[Pair, set[tuple[str, int]]] = {}
    for assignment in plan.assignments:
        for circuit in (c for held in assignment.circuits for c in held.circuits):
            for fiber in circuit.fibers:
                light = {(fiber, w) for w in circuit.wavelengths}
                used.setdefault(fabric.parse_fiber(fiber)[:2], set()).update(light)
    per_fiber = min(fabric.wavelengths_per_fiber, fabric.wavelengths_per_tile)
    load = {}
    for pair in server_pairs(fabric):
        capacity = per_fiber * len(instance.cluster.healthy_fibers(*pair))
        load[pair] = len(used.get(pair, ())) / capacity if capacity else 0.0
    full = [pair for pair in load if load[pair] >= FULL]
    return sorted(full, key=lambda pair: (-load[pair], pair))[:MAX_PAIRS]


def _tiles(instance: Instance, fabric: Lightpath) -> Iterator[_Question]:
    """A further tile in each row; not where residents hold light whose way through the tiles would change."""
    tiles = fabric.tiles_per_server + fabric.tile_rows
    if tiles <= MAX_TILES and not (fabric.slots_matter and instance.residents):
        count = "one more tile" if fabric.tile_rows == 1 else f"{fabric.tile_rows} more tiles"
        changed = with_fabric(instance, tiles_per_server=tiles)
        yield _Question(f"{count} per server", changed, is_addition=not fabric.slots_matter)


def _peers(instance: Instance, fabric: Lightpath) -> Iterator[_Question]:
    for peers in sorted({fabric.max_peers + 1, 2 * fabric.max_peers}):
        if peers <= fabric.wavelengths_per_tile:
            change = f"max_peers {fabric.max_peers} -> {peers}"
            yield _Question(change, with_fabric(instance, max_peers=peers), is_addition=False)


def _switches(instance: Instance, fabric: Lightpath) -> Iterator[_Question]:
    now_s = fabric.reconfiguration_s
    for faster_s in SWITCH_S:
        if faster_s < now_s:
            change = f"reconfiguration {now_s * 1e6:g} us -> {faster_s * 1e6:g} us"
            changed = with_fabric(instance, reconfiguration_s=faster_s)
            yield _Question(change, changed, is_addition=False)


def _repairs(instance: Instance) -> Iterator[_Question]:
    parts = failed_parts(instance)
    for part in parts[:MAX_PARTS]:
        yield _Question(f"repair of {part}", repaired(instance, part))
    if len(parts) > 1:
        yield _Question("repair of all failed parts", repaired(instance))
