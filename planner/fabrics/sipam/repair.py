"""Racks with pooled memory: a job that lost a part keeps its devices and takes other units, ports, rails or uplinks."""

from collections.abc import Collection, Sequence

from planner.fabrics.free_state import FreeState
from planner.fabrics.problem import JobOptions, Problem
from planner.fabrics.sipam.free_pool import FreePool
from planner.fabrics.sipam.server_pool import Device
from planner.fabrics.sipam.uplinks import reserve_uplinks
from planner.model.plan import Assignment


def plugged_anew(problem: Problem, assignments: Sequence[Assignment]) -> list[Assignment] | None:
    """Assignments in the same order; jobs that lost nothing are as they were. None where first fit finds no parts.

    Each job has one row. A rank whose device failed goes to a free device of its server.
    """
    board = FreeState.empty(problem.cluster)
    if board.pool is None:
        return None
    lost = [not options.can_stay for options in problem.options]
    for number, assignment in enumerate(assignments):
        if not lost[number]:
            board.take(assignment)
            reserve_uplinks(board.pool, problem.options[number].shapes[0], assignment)
    found = list(assignments)
    for j, assignment in enumerate(assignments):
        if lost[j]:
            kept = [a.devices for a, is_lost in zip(assignments[j + 1 :], lost[j + 1 :], strict=True) if is_lost]
            placed = _plugged(board, board.pool, problem.options[j], assignment, {d for each in kept for d in each})
            if placed is None:
                return None
            found[j] = placed
    return found


def _plugged(
    board: FreeState, pool: FreePool, options: JobOptions, assignment: Assignment, kept: Collection[str]
) -> Assignment | None:
    """One job on its devices, or on free ones that no other job which lost a part holds."""
    fabric = board.cluster.fabric
    spare = {
        server: [slot for slot in slots if fabric.device_name(server, slot) not in {*kept, *assignment.devices}]
        for server, slots in enumerate(board.slots.lit)
    }
    devices: list[Device] = []
    for name in assignment.devices:
        server, slot = fabric.parse_device(name)
        if slot not in board.slots.lit[server]:
            if not spare[server]:
                return None
            slot = spare[server].pop(0)
        devices.append((server, slot))
    found = pool.connect(options.shapes[0], devices)
    if found is None:
        return None
    board.slots.take(devices)
    circuits, memory = found
    names = tuple(fabric.device_name(*device) for device in devices)
    return assignment.model_copy(update={"devices": names, "circuits": circuits, "memory": memory})
