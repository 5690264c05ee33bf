"""Exact optimum of tiny pools by enumeration, written from the rules: nothing is shared with the planner.

Of all listed rows of a job only what a placement depends on matters: they are grouped by that, with the best value of
each group. Combinations are tried from the most valuable down, each in every placement and wiring.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, product

import numpy as np

from costmodel.fabrics import GroupPlan, Sipam
from costmodel.pricing.candidates import Candidates, enumerate_candidates
from costmodel.pricing.phases import with_phases
from costmodel.pricing.score import score
from planner.model.instance import Instance
from planner.model.job import Job

MOST_COMBINATIONS = 60_000


@dataclass(frozen=True)
class Setting:
    """How a rank divides its I/Os in one phase."""

    units: int
    memory_io: int
    across: int
    inside: int


@dataclass(frozen=True)
class Mode:
    """All of a configuration that its place depends on."""

    ranks: int
    block: int
    uplinks: int
    phases: tuple[Setting, ...]
    """one, or that with less memory and the other one"""
    per_server: int | None = None
    """ranks on each of its servers, where the job asks for that"""

    @property
    def across(self) -> int:
        return max(each.across for each in self.phases)

    @property
    def most(self) -> Setting:
        """With the most memory."""
        return self.phases[-1]


@dataclass(frozen=True)
class Server:
    """What works in one server."""

    accelerators: int
    units: tuple[int, ...]
    """by tray"""
    ports: tuple[tuple[int, ...], ...]
    """by working local rail and tray"""
    spine: frozenset[int]
    uplinks: tuple[tuple[int, int], ...]
    """(rail, number) where the rail leads to other servers"""


def best_value(instance: Instance) -> float | None:
    """Largest total value; None where required jobs cannot run together. ValueError where there is too much to try."""
    servers = servers_of(instance)
    choices = [_choices(instance, job) for job in instance.jobs]
    if np.prod([len(each) for each in choices], dtype=float) > MOST_COMBINATIONS:
        raise ValueError(f"more than {MOST_COMBINATIONS} combinations")
    ordered = sorted(product(*choices), key=lambda each: -sum(value for value, _ in each))
    for combination in ordered:
        if can_run(instance, servers, [mode for _, mode in combination if mode is not None]):
            return sum(value for value, _ in combination)
    return None


def _choices(instance: Instance, job: Job) -> list[tuple[float, Mode | None]]:
    cluster = instance.cluster
    fabric = cluster.fabric
    assert isinstance(fabric, Sipam)
    sizes = [size for size in job.sizes if size <= fabric.servers * fabric.accelerators_per_server]
    each = job.constraints.per_server
    rows = enumerate_candidates(job.workload, sizes, cluster.device, fabric, per_server=each)
    if not job.constraints.one_setting:
        rows, _ = with_phases(rows, cluster.device, fabric)
    best: dict[Mode | None, float] = {} if job.required else {None: 0.0}
    if len(rows):
        speed = score(rows, cluster.device, fabric).speed
        share = speed / speed.max()
        gain = {"sqrt": np.sqrt(share), "linear": share, "step": (share >= job.step_at) * 1.0}[job.utility]
        for row in range(len(rows)):
            mode = replace(mode_of(rows, row, fabric), per_server=each)
            best[mode] = max(best.get(mode, 0.0), float(job.weight * gain[row]))
    return [(value, mode) for mode, value in best.items()]


def mode_of(rows: Candidates, row: int, fabric: Sipam) -> Mode:
    """What a row asks for in each of its racks."""
    choice, block = rows.mappings.choice(int(rows.mapping[row])), int(rows.block[row])
    racks = getattr(rows.row_plans(row)[2], "racks", 1)
    degrees = (choice["tensor"], choice["pipeline"], choice["data"] // racks)
    ranks = int(np.prod(degrees))
    whole = block == ranks
    stays = (
        block % degrees[0] == 0,
        whole or block % (degrees[0] * degrees[1]) == 0,
        whole or degrees[2] == 1,
    )
    settings, uplinks = [], 0
    for phase in (rows.in_first_phase(), rows.in_last_phase()):
        across = inside = 0
        for axis, (whole_plan, confined) in enumerate(zip(phase.row_plans(row)[:3], stays, strict=True)):
            plan = getattr(whole_plan, "inner", whole_plan)
            rails = _rails(plan)
            if confined:
                inside += rails
            else:
                across += rails
                uplinks = max(uplinks, _crossing(plan, degrees, axis, block))
        split = phase.splits[phase.split[row]]
        settings.append(Setting(split.memory_units or 0, split.memory_io or 0, across, inside))
    return Mode(ranks, block, uplinks, tuple(sorted(set(settings), key=lambda each: each.units)))


def _rails(plan: GroupPlan) -> int:
    """Circuits that leave the busiest rank, each counted with its width."""
    sent: dict[int, int] = {}
    for circuits in plan.configurations():
        for source, _, width in circuits:
            sent[source] = sent.get(source, 0) + width
    if plan.kind == "line":
        return int(plan.wavelengths[0]) * (1 if plan.ranks == 2 else 2)
    return max(sent.values(), default=0)


@lru_cache(maxsize=10_000)
def _crossing(plan: GroupPlan, degrees: tuple[int, int, int], axis: int, block: int) -> int:
    """Most circuits of one colour that leave or enter any run of consecutive blocks but all."""
    ranks = np.arange(int(np.prod(degrees))).reshape(degrees[::-1])
    groups = np.moveaxis(ranks, 2 - axis, -1).reshape(-1, degrees[axis])
    by_colour: dict[int, list[tuple[int, int]]] = {}
    for circuits, offsets in zip(plan.configurations(), plan.offsets(), strict=True):
        for (source, destination, _), colour in zip(circuits, offsets, strict=True):
            pairs = [(int(g[source]) // block, int(g[destination]) // block) for g in groups]
            by_colour.setdefault(colour, []).extend(pairs)
    blocks = ranks.size // block
    most = 0
    for first, last in combinations(range(blocks + 1), 2):
        if last - first < blocks:
            run = range(first, last)
            for pairs in by_colour.values():
                most = max(most, sum(a in run and b not in run for a, b in pairs))
                most = max(most, sum(b in run and a not in run for a, b in pairs))
    return most


def servers_of(instance: Instance) -> list[Server]:
    """What works, server by server."""
    return [_server(instance, number) for number in range(instance.cluster.fabric.num_servers)]


def _server(instance: Instance, number: int) -> Server:
    fabric, health = instance.cluster.fabric, instance.cluster.health
    assert isinstance(fabric, Sipam)
    name = fabric.server_name(number)
    zone = "" if fabric.racks == 1 else f"r{number // fabric.servers}."
    rails = range(fabric.num_io)
    local = range(fabric.num_io - fabric.spine_rails)
    works = [f"{name}.q{rail}" not in health.failed_switches for rail in rails]
    down = {*health.failed_tiles, *health.failed_ports}
    spine = [rail for rail in rails[len(local) :] if works[rail]]
    trays = range(fabric.trays_per_server)
    return Server(
        accelerators=sum(f"{name}.a{a}" not in down for a in range(fabric.accelerators_per_server)),
        units=tuple(
            sum(f"{name}.m{t}.u{u}" not in health.failed_memory_units for u in range(fabric.units_per_tray))
            for t in trays
        ),
        ports=tuple(
            tuple(
                sum(f"{name}.m{t}.q{q}#{p}" not in health.failed_tray_ports for p in range(fabric.tray_ports))
                for t in trays
            )
            for q in local
            if works[q]
        ),
        spine=frozenset(spine),
        uplinks=tuple(
            (q, sum(f"{name}.q{q}#{i}" not in health.failed_uplinks for i in range(fabric.uplinks)))
            for q in spine
            if f"{zone}q{q}" not in health.failed_switches
        ),
    )


Place = tuple[tuple[int, int], ...]
"""(server, ranks)"""


def can_run(instance: Instance, servers: list[Server], modes: list[Mode]) -> bool:
    """Whether jobs that each lie in one rack find a place together."""
    if sum(mode.ranks for mode in modes) > sum(server.accelerators for server in servers):
        return False
    if sum(mode.ranks * mode.most.units for mode in modes) > sum(sum(server.units) for server in servers):
        return False
    fabric = instance.cluster.fabric
    assert isinstance(fabric, Sipam)
    places = [list(_places(mode, servers, fabric.servers)) for mode in modes]
    return any(_fits(servers, modes, chosen, fabric) for chosen in product(*places))


def _places(mode: Mode, servers: list[Server], together: int) -> Iterator[Place]:
    for first in range(0, len(servers), together):
        zone = range(first, first + together)
        counts = [range(servers[s].accelerators // mode.block + 1) for s in zone]
        for blocks in product(*counts):
            given = {count * mode.block for count in blocks if count}
            if sum(blocks) * mode.block == mode.ranks and (mode.per_server is None or given == {mode.per_server}):
                yield tuple((s, count * mode.block) for s, count in zip(zone, blocks, strict=True) if count)


def _fits(servers: list[Server], modes: list[Mode], places: tuple[Place, ...], fabric: Sipam) -> bool:
    for number, server in enumerate(servers):
        here = [(mode, ranks) for mode, place in zip(modes, places, strict=True) for s, ranks in place if s == number]
        if sum(ranks for _, ranks in here) > server.accelerators:
            return False
        if not wires(server, tuple(sorted(here, key=repr)), fabric.port_units):
            return False
    options = [list(_spines(servers, mode, place)) for mode, place in zip(modes, places, strict=True)]
    return any(_have_uplinks(servers, modes, places, rails) for rails in product(*options))


def _spines(servers: list[Server], mode: Mode, place: Place) -> Iterator[tuple[int, ...]]:
    """Rails for groups that may leave a server: they work in all its servers, and lead from one to the others."""
    rails = frozenset.intersection(*(servers[s].spine for s, _ in place))
    if len(place) > 1:
        rails = frozenset.intersection(*(frozenset(dict(servers[s].uplinks)) for s, _ in place))
    return combinations(sorted(rails), mode.across)


def _have_uplinks(
    servers: list[Server], modes: list[Mode], places: tuple[Place, ...], rails: tuple[tuple[int, ...], ...]
) -> bool:
    left = {(s, q): number for s, server in enumerate(servers) for q, number in server.uplinks}
    for mode, place, chosen in zip(modes, places, rails, strict=True):
        for s, _ in place if len(place) > 1 else ():
            for q in chosen:
                left[s, q] -= mode.uplinks
    return min(left.values(), default=0) >= 0


@lru_cache(maxsize=100_000)
def wires(server: Server, here: tuple[tuple[Mode, int], ...], port_units: int) -> bool:
    """Whether memory of all jobs in a server can be wired, over every choice of network rails in each phase."""
    rails = range(len(server.ports))
    options = []
    for mode, _ in here:
        by_phase = []
        for phase in mode.phases:
            kept = max(0, phase.across + phase.inside - len(server.spine))
            if phase.across > len(server.spine) or phase.memory_io + kept > len(rails):
                return False
            by_phase.append([frozenset(rails) - frozenset(some) for some in combinations(rails, kept)])
        options.append([*product(*by_phase)])
    return any(_wire(server.units, server.ports, _ranks(here, allowed), port_units) for allowed in product(*options))


Need = tuple[int, int, frozenset[int]]
"""(units, I/Os, allowed rails)"""
Rank = tuple[Need, Need]
"""where it has the most memory, and what must stay on in the other phase"""


def _ranks(here: tuple[tuple[Mode, int], ...], allowed: tuple[tuple[frozenset[int], ...], ...]) -> tuple[Rank, ...]:
    return tuple(
        (
            (mode.phases[-1].units, mode.phases[-1].memory_io, rails[-1]),
            (mode.phases[0].units, mode.phases[0].memory_io, rails[0]),
        )
        for (mode, ranks), rails in zip(here, allowed, strict=True)
        for _ in range(ranks)
    )


@lru_cache(maxsize=1_000_000)
def _wire(units: tuple[int, ...], ports: tuple[tuple[int, ...], ...], ranks: tuple[Rank, ...], port_units: int) -> bool:
    """Depth-first over the circuits of the ranks, one after the other."""
    if not ranks:
        return True
    ((missing, circuits, rails), (unlit, staying, quiet)), later = ranks[0], ranks[1:]
    if circuits == 0:
        return missing == 0 and staying == 0 and unlit <= 0 and _wire(units, ports, later, port_units)
    if not circuits <= missing <= circuits * port_units or staying > circuits:
        return False
    for rail in sorted(rails):
        for tray, free in enumerate(ports[rail]):
            if not free:
                continue
            for size in range(1, min(port_units, units[tray], missing) + 1):
                need = missing - size, circuits - 1, frozenset(q for q in rails if q > rail)
                fewer = (*units[:tray], units[tray] - size, *units[tray + 1 :])
                row = (*ports[rail][:tray], free - 1, *ports[rail][tray + 1 :])
                left = (*ports[:rail], row, *ports[rail + 1 :])
                kept = [(unlit, staying, quiet)]
                if staying and rail in quiet:
                    kept.append((unlit - size, staying - 1, quiet))
                if any(_wire(fewer, left, ((need, stay), *later), port_units) for stay in kept):
                    return True
    return False
