"""Where a job finds room if running jobs that lie in one server each change places: the fewest ranks move."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ortools.sat.python import cp_model

from planner.formulation.servers_by_rack import AskedOfRacks
from planner.formulation.solver import new_solver

DETERMINISTIC_LIMIT = 0.05
"""of one search: milliseconds; a plan that is not proven to move the fewest is taken as it is"""

BUILDING_S = 0.002
"""taken off a time limit for what is not search: the model is built, its result read"""


@dataclass(frozen=True)
class RoomProblem:
    """Servers whose devices are all alike, and the jobs that may move among them."""

    free: tuple[int, ...]
    """free devices by server"""
    guests: tuple[tuple[int, int, int], ...]
    """(server, ranks, number of such jobs), each job in one server"""

    @property
    def within(self) -> list[int]:
        """Devices of each server that are free or that such jobs hold."""
        found = [*self.free]
        for server, ranks, number in self.guests:
            found[server] += ranks * number
        return found


@dataclass(frozen=True)
class Swap:
    """Servers of a new job, and the moves that make room for it."""

    parts: tuple[int, ...]
    """parts of the new job by server"""
    moves: Mapping[tuple[int, int, int], int]
    """number of jobs by (server they leave, their ranks, server they enter)"""


@lru_cache(maxsize=4096)
def make_room(
    room: RoomProblem, part: int, parts: int, most_parts: int, most_moved: int, by_rack: AskedOfRacks | None = None
) -> Swap | None:
    """Room for so many parts of `part` devices each, at most `most_parts` in one server, one where numbers of servers
    are asked `by_rack`; None where moving `most_moved` ranks in all does not suffice, or nothing is found in the time
    of one search."""
    solver = new_solver()
    solver.parameters.max_deterministic_time = DETERMINISTIC_LIMIT
    return _found(solver, room, (part, parts, most_parts, most_moved, by_rack))


def make_room_by(
    deadline_s: float,
    room: RoomProblem,
    part: int,
    parts: int,
    most_parts: int,
    most_moved: int,
    by_rack: AskedOfRacks | None = None,
) -> Swap | None:
    """The same, found by a time on the clock of time.perf_counter: presolve is brief, as such models are small."""
    solver = new_solver()
    parameters = solver.parameters
    parameters.cp_model_probing_level = parameters.symmetry_level = 0
    parameters.max_presolve_iterations = 1
    parameters.max_time_in_seconds = max(0.0, deadline_s - time.perf_counter() - BUILDING_S)
    return _found(solver, room, (part, parts, most_parts, most_moved, by_rack))


def _found(
    solver: cp_model.CpSolver, room: RoomProblem, asked: tuple[int, int, int, int, AskedOfRacks | None]
) -> Swap | None:
    part, parts, most_parts, most_moved, by_rack = asked
    servers, within = range(len(room.free)), room.within
    most = [min(devices // part, most_parts) for devices in within]
    if sum(most) < parts or sum(room.free) < part * parts:
        return None
    model = cp_model.CpModel()
    entered = [model.new_int_var(0, count, "") for count in most]
    model.add(sum(entered) == parts)
    if by_rack is not None:
        by_rack.add(model, entered)
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
    solver.parameters.num_workers = 1
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    moves = {key: solver.value(flow) for key, flow in flows.items()}
    return Swap(
        tuple(solver.value(count) for count in entered), {key: number for key, number in moves.items() if number}
    )
