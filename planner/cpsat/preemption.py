"""The fewest running jobs that must stop so that a job finds room on the servers they leave."""

from collections.abc import Sequence
from dataclasses import dataclass

from ortools.sat.python import cp_model

from planner.formulation.servers_by_rack import AskedOfRacks
from planner.formulation.solver import new_solver


@dataclass(frozen=True)
class PreemptionServers:
    """Servers that one job may use together, and the jobs on them that may be stopped."""

    free: tuple[int, ...]
    """free accelerators by server"""
    guests: tuple[tuple[tuple[int, int], ...], ...]
    """(server, ranks there) of each job"""
    costs: tuple[int, ...]
    """of stopping each job, which decide among equally many"""


def fewest_victims(
    site: PreemptionServers,
    part: int,
    parts: int,
    *,
    most: int,
    time_limit_s: float,
    refused: Sequence[frozenset[int]] = (),
    is_even: bool = False,
    by_rack: AskedOfRacks | None = None,
) -> tuple[int, ...] | None:
    """Numbers of the fewest jobs, at most `most`, without which so many parts of `part` accelerators fit, each in one
    server, and one at most in each server where `is_even`, with numbers of servers that may be asked `by_rack`; of
    equally few the cheapest. None where there are none, or none is found in time.

    Sets in `refused` were found not to do, whatever the reason; none that is given contains less.
    """
    model = cp_model.CpModel()
    stops = [model.new_bool_var("") for _ in site.guests]
    gained: list[list[cp_model.LinearExprT]] = [[count] for count in site.free]
    for stop, guest in zip(stops, site.guests, strict=True):
        for server, ranks in guest:
            gained[server].append(ranks * stop)
    entered = [model.new_int_var(0, 1 if is_even else parts, "") for _ in site.free]
    for count, sizes in zip(entered, gained, strict=True):
        model.add(part * count <= sum(sizes))
    model.add(sum(entered) == parts)
    if by_rack is not None:
        by_rack.add(model, entered)
    model.add(sum(stops) <= most)
    for chosen in refused:
        model.add_bool_or(*(stop for number, stop in enumerate(stops) if number not in chosen))
    scale = 1 + sum(site.costs)
    model.minimize(sum((scale + cost) * stop for stop, cost in zip(stops, site.costs, strict=True)))
    solver = new_solver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = time_limit_s
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    return tuple(number for number, stop in enumerate(stops) if solver.boolean_value(stop))
