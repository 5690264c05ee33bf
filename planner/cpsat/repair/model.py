"""Exact repair of a plan: the fewest ranks that leave their device, then the fewest circuits that change."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ortools.sat.python import cp_model

from costmodel.fabrics import Lightpath
from planner.fabrics.lightpath.repair_circuits import CircuitRepair
from planner.fabrics.lightpath.routes import Device
from planner.fabrics.lightpath.rwa import Spectrum
from planner.formulation.rank_literals import PlaceLiterals
from planner.formulation.solver import new_solver
from planner.model.clock import Clock
from planner.model.cluster import Cluster
from planner.model.ranked_assignment import RankedAssignment, RankedCircuit

FOUND = (cp_model.OPTIMAL, cp_model.FEASIBLE)
Wanted = Sequence[Sequence[Sequence[RankedCircuit | None]]]
"""light that each circuit had, by tenant, configuration and position"""


@dataclass(frozen=True)
class RepairLimits:
    """Limits of one search; `deterministic` replaces seconds so that machines agree."""

    time_limit_s: float = 10.0
    deterministic: float | None = None
    workers: int | None = None
    seed: int = 0
    is_any_enough: bool = False
    """the first repair is taken, however many ranks and circuits it moves"""
    until: Clock | None = None
    """of all searches together, where there are several"""

    def together(self) -> "RepairLimits":
        """The time limit from now on, for all searches together."""
        return replace(self, until=Clock.of(self.time_limit_s))

    @property
    def seconds_left(self) -> float:
        """Of one search; unlimited where no clock decides."""
        if self.deterministic is not None:
            return float("inf")
        return self.time_limit_s if self.until is None else min(self.time_limit_s, self.until.left_s)

    @property
    def is_late(self) -> bool:
        """Whether no more search should begin."""
        return self.deterministic is None and self.until is not None and self.until.is_over

    def solver(self) -> cp_model.CpSolver:
        solver = new_solver()
        solver.parameters.random_seed = self.seed
        if self.workers is not None:
            solver.parameters.num_workers = self.workers
        if self.deterministic is not None:
            solver.parameters.max_deterministic_time = self.deterministic
        else:
            solver.parameters.max_time_in_seconds = max(self.seconds_left, 0.01)
        solver.parameters.stop_after_first_solution = self.is_any_enough
        return solver


@dataclass(frozen=True)
class RankRepair:
    """What a search found: devices and light of each tenant, or a proof that there are none, or neither.

    `least_moves` and `least_changes` are proven for the tenants searched, the other jobs being fixed.
    """

    devices: tuple[tuple[Device, ...], ...] | None = None
    beams: tuple[tuple[tuple[RankedCircuit, ...], ...], ...] = ()
    moves: int = 0
    changes: int = 0
    least_moves: int = 0
    least_changes: int = 0
    """least for `moves` moved ranks"""
    is_impossible: bool = False


@dataclass(frozen=True)
class RepairProblem:
    """Who is searched, and what the fixed jobs leave.

    `free`: devices that no fixed job holds; `taken`: light of fixed jobs, None on fabrics without circuits;
    `pinned`: tenants that keep their devices, not their light; `even`: tenants of which no two blocks share a server.
    """

    cluster: Cluster
    tenants: tuple[RankedAssignment, ...]
    free: frozenset[Device]
    taken: Spectrum | None
    pinned: frozenset[str] = frozenset()
    even: frozenset[str] = frozenset()

    @property
    def size(self) -> int:
        """About how many literals a model of it has."""
        fabric = self.cluster.fabric
        servers = {device[0] for device in self.free}
        ranks = sum(len(tenant.devices) for tenant in self.tenants)
        if not isinstance(fabric, Lightpath) or self.taken is None:
            return ranks * (len(servers) + 1)
        ways = self.taken.ways
        fibers = sum(ways.most_routes(a, b) for a in servers for b in servers if a != b)
        circuits = sum(tenant.num_circuits for tenant in self.tenants)
        per_circuit = fabric.wavelengths_per_tile * (1 + fibers)
        if fabric.slots_matter:
            return ranks * len(self.free) + circuits * (per_circuit + 2 * len(self.free) ** 2)
        spanning = sum(
            link.source // t.block != link.destination // t.block
            for t in self.tenants
            for held in t.links
            for link in held
        )
        return ranks * (len(servers) + 1) + circuits * fabric.wavelengths_per_tile + spanning * per_circuit


def mend(scene: RepairProblem, wanted: Wanted | None, limits: RepairLimits) -> RankRepair:
    """Fewest moved ranks, then fewest changed circuits; without `wanted`, light is left aside."""
    cp = cp_model.CpModel()
    fabric = scene.cluster.fabric
    matters = isinstance(fabric, Lightpath) and fabric.slots_matter
    places = PlaceLiterals(cp, scene.cluster, scene.tenants, scene.pinned, scene.free, matters)
    places.keep_apart(scene.even)
    light = None if wanted is None or scene.taken is None else CircuitRepair(places, scene.taken, wanted)
    cp.minimize(places.moves)
    first = limits.solver()
    status = first.solve(cp)
    if status == cp_model.INFEASIBLE:
        return RankRepair(is_impossible=True)
    if status not in FOUND:
        return RankRepair(
            least_moves=max(0, round(first.best_objective_bound)) if status != cp_model.MODEL_INVALID else 0
        )
    moves = round(first.objective_value)
    least_moves = round(first.best_objective_bound)
    last, least_changes, total = first, 0, sum(tenant.num_circuits for tenant in scene.tenants)
    if light is not None and not limits.is_any_enough:
        cp.add(places.moves <= moves)
        for index in range(len(cp.proto.variables)):
            cp.add_hint(cp.get_int_var_from_proto_index(index), first.response_proto.solution[index])
        cp.maximize(sum(light.same.values()))
        second = limits.solver()
        if second.solve(cp) in FOUND:
            last, least_changes = second, total - int(second.best_objective_bound + 1e-6)
    kept = 0 if light is None else sum(last.value(same) for same in light.same.values())
    return RankRepair(
        devices=tuple(places.devices(last)),
        beams=() if light is None else tuple(light.beams(last)),
        moves=moves,
        changes=total - kept if light is not None else 0,
        least_moves=least_moves,
        least_changes=least_changes if light is not None else 0,
    )
