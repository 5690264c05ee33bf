"""Fragmentation: how few jobs would fit on what is left free, by bin packing into servers and pairs of them."""

from collections.abc import Mapping, Sequence

from ortools.sat.python import cp_model

from planner.cpsat.step1.constraints.placement import lit_devices
from planner.fabrics.problem import Problem
from planner.formulation.quantize import Scale
from planner.formulation.terms import Term
from planner.formulation.variables import Pair, Variables, total
from planner.model.cluster import Cluster

STEPS = 10**6
"""steps of a ratio of 1"""
SHARE_STEPS = 10**7
"""steps of a share of 1"""


def fragmentation(model: cp_model.CpModel, v: Variables, problem: Problem) -> Term:
    r"""Minimize $1 - \sum_s p_s\, fit_s / \lfloor free / s \rfloor$; a size above what is free fits.

    $fit_s$ is the most jobs of size s at once, each in one server or across two with a dark fiber each way.
    """
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
    return Term(total(lost), Scale(float(SHARE_STEPS * STEPS), rounds_up=False), is_maximized=False, rounding=rounding)


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


def fit(
    model: cp_model.CpModel,
    size: int,
    free: Sequence[cp_model.LinearExprT],
    dark: Mapping[Pair, cp_model.LinearExprT],
    cluster: Cluster,
) -> cp_model.LinearExprT:
    """Jobs of a size that fit at once into `free` devices by server, with `dark` fibers by ordered pair.

    One job across each pair of servers is enough: of two, one can be exchanged for a job inside a server.
    """
    per_server = cluster.fabric.devices_per_server
    taken: list[list[cp_model.LinearExprT]] = [[] for _ in free]
    jobs: list[cp_model.IntVar] = []
    for server in range(len(free)):
        inside = model.new_int_var(0, per_server // size, "")
        jobs.append(inside)
        taken[server].append(size * inside)
    for a in range(len(free)):
        for b in range(a + 1, len(free)):
            if cluster.fabric.has_circuits and ((a, b) not in dark or (b, a) not in dark):
                continue
            across = model.new_bool_var("")
            from_a, from_b = (model.new_int_var(0, min(size - 1, per_server), "") for _ in range(2))
            model.add(from_a + from_b == size * across)
            for pair in ((a, b), (b, a)):
                if pair in dark:
                    model.add(across <= dark[pair])
            taken[a].append(from_a)
            taken[b].append(from_b)
            jobs.append(across)
    for server, devices in enumerate(free):
        model.add(sum(taken[server]) <= devices)
    return sum(jobs)
