"""Fragmentation: how few jobs would fit on what is left free, by bin packing into servers and pairs of them."""

from collections.abc import Sequence
from typing import ClassVar

from ortools.sat.python import cp_model

from planner.cpsat.step1.constraints.placement import lit_devices
from planner.cpsat.step1.objectives.fitting import fit, jobs_that_fit
from planner.fabrics import plugin_of
from planner.fabrics.free_slots import FreeSlots
from planner.fabrics.problem import Problem
from planner.formulation.objective import SearchObjective
from planner.formulation.quantize import Scale
from planner.formulation.terms import Term
from planner.formulation.variables import Variables, total
from planner.model.plan import Assignment

STEPS = 10**6
"""steps of a ratio of 1"""
SHARE_STEPS = 10**7
"""steps of a share of 1"""
MOST_SPANS = 20_000
"""ordered pairs of servers, for each size, up to which fragmentation is stated"""


class Fragmentation(SearchObjective):
    r"""Minimize $1 - \sum_s p_s\, fit_s / \lfloor free / s \rfloor$; a size above what is free fits.

    $fit_s$ is the most jobs of size s at once, each in one server or across two with a dark fiber each way.
    """

    depends_on_counts: ClassVar = True

    def can_state(self, problem: Problem) -> bool:
        return len(problem.instance.sizes_to_fit) * problem.cluster.fabric.num_servers**2 <= MOST_SPANS

    def term(self, model: cp_model.CpModel, v: Variables, problem: Problem) -> Term:
        cluster = problem.cluster
        free = [_free(model, v, problem, server) for server in range(cluster.fabric.num_servers)]
        dark = {pair: len(cluster.healthy_fibers(*pair)) - lit for pair, lit in v.of_fabric.lit.items()}
        all_free = model.new_int_var(0, cluster.num_healthy, "free")
        model.add(all_free == total(free))
        lost: list[cp_model.LinearExprT] = []
        for size, share in problem.instance.sizes_to_fit.items():
            if size > 1 and share > 0:
                ratio = _ratio(model, size, fit(model, size, free, dark, cluster), all_free, cluster.num_healthy)
                lost.append(round(share * SHARE_STEPS) * (STEPS - ratio))
        rounding = 2 / STEPS + len(lost) / SHARE_STEPS
        scale = Scale(float(SHARE_STEPS * STEPS), rounds_up=False)
        return Term(total(lost), scale, is_maximized=self.is_maximized, rounding=rounding)

    def value(self, problem: Problem, assignments: Sequence[Assignment]) -> float:
        return fragmentation_of(problem, assignments)


def _free(model: cp_model.CpModel, v: Variables, problem: Problem, server: int) -> cp_model.LinearExprT:
    """Free devices with a working port: single-device jobs take those without a port first."""
    cluster = problem.cluster
    healthy, lit = len(cluster.healthy_slots(server)), len(cluster.lit_slots(server))
    all_free = healthy - total(job.devices(server) for job in v.jobs)
    free = model.new_int_var(0, lit, f"free_{server}")
    if lit == healthy:
        model.add(free == all_free)
    else:
        lit_free = lit - total(lit_devices(job, server, problem) for job in v.jobs)
        model.add_min_equality(free, [all_free, lit_free])
    return free


def _ratio(
    model: cp_model.CpModel, size: int, fitting: cp_model.LinearExprT, all_free: cp_model.IntVar, most: int
) -> cp_model.LinearExprT:
    """STEPS x fit / floor(free / size), STEPS where floor(free / size) is 0."""
    possible = model.new_int_var(0, most // size, "")
    model.add_division_equality(possible, all_free, size)
    divisor = model.new_int_var(1, max(1, most // size), "")
    model.add_max_equality(divisor, [possible, 1])
    none = model.new_bool_var("")
    model.add(possible == 0).only_enforce_if(none)
    model.add(possible >= 1).only_enforce_if(~none)
    ratio = model.new_int_var(0, STEPS, "")
    model.add_division_equality(ratio, total([STEPS * fitting, STEPS * none]), divisor)
    return ratio


def fragmentation_of(problem: Problem, assignments: Sequence[Assignment]) -> float:
    """1 - sum over sizes of share x fit / floor(free / size) for what the assignments leave free."""
    cluster = problem.cluster
    slots = FreeSlots(cluster)
    for assignment in assignments:
        slots.take(map(cluster.fabric.parse_device, assignment.devices))
    free = [len(lit) for lit in slots.lit]
    dark = plugin_of(cluster.fabric).step_one.dark_fibers(cluster, assignments)
    lost = 0.0
    for size, share in problem.instance.sizes_to_fit.items():
        possible = sum(free) // size
        if size > 1 and possible:
            lost += share * (1 - jobs_that_fit(cluster, size, free, dark) / possible)
    return lost
