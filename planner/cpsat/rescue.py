"""Where a job finds room if running jobs that lie in one server each change places: the fewest ranks move."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ortools.sat.python import cp_model

from planner.cpsat.solver import new_solver

DETERMINISTIC_LIMIT = 0.05
"""of one search: milliseconds; a plan that is not proven to move the fewest is taken as it is"""


@dataclass(frozen=True)
class Room:
    """Servers whose devices are all alike, and the jobs that may move among them."""

    free: tuple[int, ...]
    """free devices by server"""
    guests: tuple[tuple[int, int, int], ...]
    """(server, ranks, number of such jobs), each job in one server"""


@dataclass(frozen=True)
class Swap:
    """What changes."""

    parts: tuple[int, ...]
    """parts of the new job by server"""
    moves: Mapping[tuple[int, int, int], int]
    """number of jobs by (server they leave, their ranks, server they enter)"""


@lru_cache(maxsize=4096)
def make_room(room: Room, part: int, parts: int, most_moved: int) -> Swap | None:
    """Room for so many parts of `part` devices each, a part in one server; None where moving `most_moved` ranks in
    all does not suffice, or nothing is found in the time of one search."""
    servers = range(len(room.free))
    within = list(room.free)
    for server, ranks, number in room.guests:
        within[server] += ranks * number
    if sum(devices // part for devices in within) < parts:
        return None
    model = cp_model.CpModel()
    entered = [model.new_int_var(0, within[s] // part, "") for s in servers]
    model.add(sum(entered) == parts)
    load: list[list[cp_model.LinearExprT]] = [[part * entered[s]] for s in servers]
    moved: list[cp_model.LinearExprT] = []
    flows: dict[tuple[int, int, int], cp_model.IntVar] = {}
    for server, ranks, number in room.guests:
        stay = model.new_int_var(0, number, "")
        load[server].append(ranks * stay)
        gone = [stay]
        for other in servers:
            if other != server and within[other] >= ranks:
                flow = flows[server, ranks, other] = model.new_int_var(0, number, "")
                load[other].append(ranks * flow)
                moved.append(ranks * flow)
                gone.append(flow)
        model.add(sum(gone) == number)
    for s in servers:
        model.add(sum(load[s]) <= within[s])
    model.add(sum(moved) <= most_moved)
    model.minimize(sum(moved))
    return _solved(model, entered, flows)


def _solved(
    model: cp_model.CpModel, entered: Sequence[cp_model.IntVar], flows: Mapping[tuple[int, int, int], cp_model.IntVar]
) -> Swap | None:
    solver = new_solver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = DETERMINISTIC_LIMIT
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    moves = {key: solver.value(flow) for key, flow in flows.items()}
    return Swap(
        tuple(solver.value(count) for count in entered), {key: number for key, number in moves.items() if number}
    )
