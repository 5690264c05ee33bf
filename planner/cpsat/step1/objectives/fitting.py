"""How many jobs of one size fit on free devices: as a term of CP-SAT, by counting, and by a short search."""

from collections.abc import Mapping, Sequence

from ortools.sat.python import cp_model

from planner.formulation.solver import new_solver
from planner.formulation.variables import Pair
from planner.heuristics.free_room import most_packed, parts
from planner.model.cluster import Cluster

FIT_LIMIT = 10.0
"""deterministic limit of one fit"""
MOST_SEARCHED = 16
"""joined servers up to which it is searched: of more, the value may be too pessimistic"""


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


def jobs_that_fit(
    cluster: Cluster, size: int, free: Sequence[int], dark: Mapping[Pair, int], limit: float = FIT_LIMIT
) -> int:
    """Jobs of a size that fit at once on free devices with a port by server and, where jobs hold circuits, dark fibers
    by ordered pair; where counting leaves a doubt, and few servers are joined, by search."""

    def may_span(a: int, b: int) -> bool:
        return not cluster.fabric.has_circuits or (dark.get((a, b), 0) > 0 < dark.get((b, a), 0))

    total = 0
    for part in parts(free, size, may_span):
        here = {server: free[server] for server in part}
        least = most_packed(here, size, may_span)
        is_searched = least < sum(here.values()) // size and len(part) <= MOST_SEARCHED
        total += max(least, _searched(cluster, size, part, free, dark, limit)) if is_searched else least
    return total


def _searched(
    cluster: Cluster, size: int, part: Sequence[int], free: Sequence[int], dark: Mapping[Pair, int], limit: float
) -> int:
    """The same on some servers alone; 0 where nothing was found in the limit."""
    number = {server: i for i, server in enumerate(part)}
    here = {(number[a], number[b]): count for (a, b), count in dark.items() if a in number and b in number}
    model = cp_model.CpModel()
    model.maximize(fit(model, size, [free[server] for server in part], here, cluster))
    solver = new_solver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = limit
    is_found = solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return round(solver.objective_value) if is_found else 0
