"""Exact repair of a plan: the fewest ranks that leave their device, then the fewest circuits that change."""

from dataclasses import dataclass

from ortools.sat.python import cp_model

from planner.cpsat.repair.limits import RepairLimits
from planner.fabrics import plugin_of
from planner.fabrics.free_slots import Device
from planner.fabrics.ranked_circuits import RankedCircuit
from planner.formulation.rank_literals import PlaceLiterals
from planner.formulation.repair_model import RepairProblem, Wanted
from planner.formulation.step_two import FOUND


@dataclass(frozen=True)
class RankRepair:
    """The result of a search: devices and light of each tenant, or a proof that there are none, or neither.

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


def fewest_moves(problem: RepairProblem, wanted: Wanted | None, limits: RepairLimits) -> RankRepair:
    """Fewest moved ranks, then fewest changed circuits; without `wanted`, light is left aside."""
    cp = cp_model.CpModel()
    cluster = problem.cluster
    places = PlaceLiterals(cp, cluster, problem.tenants, problem.pinned, problem.free, cluster.fabric.slots_matter)
    places.keep_apart(problem.even)
    places.keep_by_rack(problem.by_rack)
    repair_model = plugin_of(cluster.fabric).repair_model
    light = None if wanted is None else repair_model.circuits(places, problem, wanted)
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
    last, least_changes, total = first, 0, sum(tenant.num_circuits for tenant in problem.tenants)
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
