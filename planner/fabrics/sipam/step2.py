"""Step 2 in racks with pooled memory: rails, ports and units of every job, exactly where first fit fails."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ortools.sat.python import cp_model

from planner.fabrics.pattern import Pattern
from planner.fabrics.problem import Problem
from planner.fabrics.search import runs
from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.free_pool import FreePool, Wires, by_server
from planner.fabrics.sipam.free_state import PoolFreeState
from planner.fabrics.sipam.server_pool import FreeServer, Plug
from planner.formulation.nogood import MostLit
from planner.formulation.step_two import Answer, Realized, StepTwo, StepTwoLimits, answer
from planner.formulation.variables import total
from planner.model.plan import Assignment

Kept = tuple[Mapping[int, cp_model.IntVar], Mapping[int, cp_model.IntVar]]
"""literals of local rails that the network has, in the phase with more memory and in the other one"""


@dataclass(frozen=True)
class Part:
    """A job in one server."""

    demand: PoolDemand
    num_ranks: int


@dataclass(frozen=True)
class Wired:
    """Local rails for the network of a job in one server, those of all phases first, and its plugs."""

    kept: tuple[int, ...]
    plugs: list[list[Plug]]


class PoolStepTwo(StepTwo):
    """Spine rails of all jobs at once, then each server by itself."""

    def realize(
        self, problem: Problem, pattern: Pattern, limits: StepTwoLimits, most_lit: MostLit | None = None
    ) -> Realized:
        free = PoolFreeState(problem.cluster)
        staying = tuple(j for j, choice in pattern.items() if choice.stays)
        assignments = [problem.options[j].staying() for j in staying]
        for assignment in assignments:
            free.take_named(assignment)
        placed = [j for j, choice in pattern.items() if not choice.stays]
        demands = {j: PoolDemand.of(problem.options[j].shapes[pattern[j].row]) for j in placed}
        across = _across(problem, pattern, demands, free.pool, limits)
        if across.found is None:
            spanning = tuple(j for j in placed if len(pattern[j].blocks) > 1)
            return Realized(nogood=(*spanning, *staying) if across.is_impossible else ())
        wired: dict[tuple[int, int], Wired] = {}
        for server, rack in enumerate(free.pool.racks):
            parts = _parts(problem, pattern, demands, server)
            if not parts:
                continue
            found = wire(rack, parts, free.pool.fabric.port_units, limits)
            if found.found is None:
                return Realized(nogood=(*parts, *staying) if found.is_impossible else ())
            wired |= {(server, j): each for j, each in found.found.items()}
        for j in placed:
            assignments.append(_written(problem, pattern, free, j, across.found[j], wired))
        return Realized(tuple(assignments))


def realize_server(
    problem: Problem, pattern: Pattern, free: PoolFreeState, server: int, limits: StepTwoLimits
) -> list[Assignment] | None:
    """Jobs of a pattern that all lie in one server, exactly, beside what others hold there; taken. None where there is
    no way, or none was found in time."""
    demands = {j: PoolDemand.of(problem.options[j].shapes[choice.row]) for j, choice in pattern.items()}
    rack, port_units = free.pool.racks[server], free.pool.fabric.port_units
    across = {j: free.pool.across_rails(demand, [server]) for j, demand in demands.items()}
    found = wire(rack, _parts(problem, pattern, demands, server), port_units, limits).found
    if found is None or None in across.values():
        return None
    wired = {(server, j): each for j, each in found.items()}
    return [_written(problem, pattern, free, j, rails, wired) for j, rails in across.items() if rails is not None]


def _across(
    problem: Problem, pattern: Pattern, demands: Mapping[int, PoolDemand], pool: FreePool, limits: StepTwoLimits
) -> Answer[dict[int, tuple[int, ...]]]:
    """Spine rails of each job for groups that may leave a server, with uplinks where it does."""
    model = cp_model.CpModel()
    rails = range(pool.fabric.local_rails, pool.fabric.num_io)
    taken: dict[tuple[int, int], list[cp_model.LinearExprT]] = {}
    uses = {(j, rail): model.new_bool_var("") for j in demands for rail in rails}
    for j, demand in demands.items():
        model.add(sum(uses[j, rail] for rail in rails) == demand.across)
        spans = len(pattern[j].blocks) > 1
        for server, _ in pattern[j].blocks:
            rack = pool.racks[server]
            for rail in rails:
                if rail not in (rack.uplinks if spans else rack.spine):
                    model.add(uses[j, rail] == 0)
                elif spans:
                    taken.setdefault((server, rail), []).append(demand.uplinks * uses[j, rail])
    for (server, rail), terms in taken.items():
        model.add(total(terms) <= len(pool.racks[server].uplinks[rail]))
    return answer(
        limits.solver(),
        model,
        lambda solver: {j: tuple(rail for rail in rails if solver.value(uses[j, rail])) for j in demands},
    )


def _parts(problem: Problem, pattern: Pattern, demands: Mapping[int, PoolDemand], server: int) -> dict[int, Part]:
    """Newly placed jobs in one server."""
    parts = {}
    for j, demand in demands.items():
        count = dict(pattern[j].blocks).get(server, 0)
        if count:
            parts[j] = Part(demand, count * problem.options[j].shapes[pattern[j].row].block)
    return parts


def wire(
    rack: FreeServer, parts: Mapping[int, Part], port_units: int, limits: StepTwoLimits
) -> Answer[dict[int, Wired]]:
    """Rails, ports and units of the jobs in one server."""
    model = cp_model.CpModel()
    kept = {j: _kept_rails(model, rack, part.demand) for j, part in parts.items()}
    wires = _Wires(model, rack, parts, port_units)
    for j, rank in wires.ranks:
        wires.connect(model, (j, rank), parts[j].demand, kept[j])
    wires.share(model, rack)
    return answer(
        limits.solver(),
        model,
        lambda solver: {
            j: Wired(_in_order(solver, kept[j]), [wires.plugs(solver, (j, rank)) for rank in range(part.num_ranks)])
            for j, part in parts.items()
        },
    )


class _Wires:
    """Variables of one server: which ports each rank of each job (j, rank) has, and how many units behind them."""

    def __init__(self, model: cp_model.CpModel, rack: FreeServer, parts: Mapping[int, Part], port_units: int) -> None:
        trays = range(len(rack.units))
        self.ranks = [(j, rank) for j, part in parts.items() for rank in range(part.num_ranks)]
        self._ends = [
            (rail, tray) for rail in rack.ports for tray in trays if rack.ports[rail][tray] and rack.units[tray]
        ]
        self._port_units = port_units
        self._on = {(*rank, *end): model.new_bool_var("") for rank in self.ranks for end in self._ends}
        self._size = {key: model.new_int_var(0, port_units, "") for key in self._on}
        for key, literal in self._on.items():
            model.add(self._size[key] <= port_units * literal)
            model.add(self._size[key] >= literal)

    def connect(self, model: cp_model.CpModel, rank: tuple[int, int], demand: PoolDemand, kept: Kept) -> None:
        """A rank has its circuits, on rails that do not serve its job's network, and its units; some stay on in the
        phase with less memory."""
        on = {end: self._on[*rank, *end] for end in self._ends}
        model.add(total(on.values()) == demand.memory_io)
        model.add(total(self._size[*rank, *end] for end in self._ends) == demand.units)
        _keep_off(model, on, kept[0])
        if not demand.phases:
            return
        poorer, stays = demand.by_memory[1], {end: model.new_bool_var("") for end in on}
        sizes = {end: model.new_int_var(0, self._port_units, "") for end in on}
        for end, literal in stays.items():
            model.add_implication(literal, on[end])
            model.add(sizes[end] <= self._size[*rank, *end])
            model.add(sizes[end] <= self._port_units * literal)
        model.add(total(stays.values()) == poorer.memory_io)
        model.add(total(sizes.values()) >= poorer.units)
        _keep_off(model, stays, kept[1])

    def share(self, model: cp_model.CpModel, rack: FreeServer) -> None:
        """Ranks share the ports of each rail and the units of each tray."""
        for rail, tray in self._ends:
            taken = total(self._on[*rank, rail, tray] for rank in self.ranks)
            model.add(taken <= len(rack.ports[rail][tray]))
        for number, units in enumerate(rack.units):
            model.add(total(size for key, size in self._size.items() if key[3] == number) <= len(units))

    def plugs(self, engine: cp_model.CpSolver, rank: tuple[int, int]) -> list[Plug]:
        """Rail, tray and units of each circuit of a rank."""
        lit = [end for end in self._ends if engine.value(self._on[*rank, *end])]
        return [(rail, tray, int(engine.value(self._size[*rank, rail, tray]))) for rail, tray in lit]


def _keep_off(
    model: cp_model.CpModel, on: Mapping[tuple[int, int], cp_model.IntVar], kept: Mapping[int, cp_model.IntVar]
) -> None:
    """A rank has one memory circuit on a rail at most, and none where the network has it."""
    for rail, literal in kept.items():
        model.add(total([*(lit for end, lit in on.items() if end[0] == rail), literal]) <= 1)


def _kept_rails(model: cp_model.CpModel, rack: FreeServer, demand: PoolDemand) -> Kept:
    """Literals of local rails: the network has them in the phase with more memory, and in the other one. All that it
    has in the one it also has in the other, or the other way round."""
    numbers = [each.local_network(len(rack.spine)) for each in demand.by_memory]
    richer, poorer = ({rail: model.new_bool_var("") for rail in rack.ports} for _ in numbers)
    for kept, number in zip((richer, poorer), numbers, strict=True):
        model.add(total(kept.values()) == number)
    for rail in rack.ports:
        model.add(richer[rail] <= poorer[rail] if numbers[0] <= numbers[1] else richer[rail] >= poorer[rail])
    return richer, poorer


def _in_order(engine: cp_model.CpSolver, kept: Kept) -> tuple[int, ...]:
    """Rails that the network has in some phase, those of both phases first."""
    phases = {rail: sum(engine.value(each[rail]) for each in kept) for rail in kept[0]}
    return tuple(sorted((rail for rail, number in phases.items() if number), key=lambda rail: (-phases[rail], rail)))


def _written(
    problem: Problem,
    pattern: Pattern,
    free: PoolFreeState,
    j: int,
    across: Sequence[int],
    wired: Mapping[tuple[int, int], Wired],
) -> Assignment:
    """One job on free devices, over its rails and plugs."""
    options, choice = problem.options[j], pattern[j]
    shape = options.shapes[choice.row]
    devices = free.devices(shape, runs(choice.blocks))
    assert devices is not None, "counts that fit have devices"
    servers = list(by_server(devices))
    mine = {s: wired[s, j] for s in servers}
    kept, plugs = {s: each.kept for s, each in mine.items()}, {s: each.plugs for s, each in mine.items()}
    return free.assign_wired(options, choice.row, devices, Wires([*across], kept, plugs))
