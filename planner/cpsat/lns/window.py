"""A few servers with all that others hold there taken away: a problem of its own."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from costmodel.fabrics import Sipam
from planner.fabrics.free_state import FreeState
from planner.fabrics.problem import Problem
from planner.fabrics.sipam.uplinks import reserve_uplinks
from planner.model.cluster import Cluster, Health
from planner.model.plan import Assignment, Circuit, MemoryCircuit

PREFIX = re.compile(r"(?:r\d+\.)?s\d+")
"""server in the name of a part"""


@dataclass(frozen=True)
class Window:
    """The problem of some servers, and how names of parts there and in the whole cluster correspond."""

    problem: Problem
    inside: Mapping[str, str]
    """name of a server in the cluster -> its name in the window"""

    def entered(self, assignments: Iterable[Assignment]) -> list[Assignment]:
        """Assignments in the names of the window."""
        return [_renamed(assignment, self.inside) for assignment in assignments]

    def left(self, assignments: Iterable[Assignment]) -> list[Assignment]:
        """Assignments in the names of the cluster."""
        outside = {name: other for other, name in self.inside.items()}
        return [_renamed(assignment, outside) for assignment in assignments]


def open_window(
    problem: Problem, fixed: Sequence[Assignment], servers: Sequence[Sequence[int]], free: Collection[int]
) -> Window:
    """The problem of the free jobs on some servers, given by rack, as many of each; fixed jobs keep what they hold.

    What fixed jobs hold counts as failed there. Only fabrics whose parts belong to one server each have windows.
    """
    fabric = problem.cluster.fabric
    small = type(fabric).model_construct(**dict(fabric) | {"racks": len(servers), "servers": len(servers[0])})
    order = [server for rack in servers for server in rack]
    inside = {fabric.server_name(server): small.server_name(number) for number, server in enumerate(order)}
    board = FreeState.empty(problem.cluster)
    for assignment in fixed:
        board.take(assignment)
        _reserve(problem, board, assignment)
    held = _held(board, order, inside)
    cluster = Cluster.model_construct(device=problem.cluster.device, fabric=small, health=held)
    objectives = problem.instance.objectives[:1]
    instance = problem.instance.model_copy(update={"cluster": cluster, "residents": (), "objectives": objectives})
    return Window(Problem(instance, tuple(problem.options[j] for j in sorted(free))), inside)


def _reserve(problem: Problem, board: FreeState, assignment: Assignment) -> None:
    """Uplinks of a job that was placed anew; residents in place have what they use."""
    options = next(options for options in problem.options if options.job.name == assignment.job)
    row = options.row_of(assignment.configuration)
    if board.pool is not None and row is not None and not (options.can_stay and not assignment.is_moved):
        reserve_uplinks(board.pool, options.shapes[row], assignment)


def _held(board: FreeState, order: Sequence[int], inside: Mapping[str, str]) -> Health:
    """Everything in these servers that is not free."""
    fabric = board.cluster.fabric
    name = {server: inside[fabric.server_name(server)] for server in order}
    tiles = [
        f"{name[server]}.{fabric.device_letter}{slot}"
        for server in order
        for slot in range(fabric.devices_per_server)
        if slot not in board.slots.lit[server] and slot not in board.slots.dark[server]
    ]
    if board.pool is None or not isinstance(fabric, Sipam):
        dark = [f"{name[server]}.{fabric.device_letter}{slot}" for server in order for slot in board.slots.dark[server]]
        return Health(failed_tiles=tuple(tiles), failed_ports=tuple(dark))
    units, ports, uplinks, switches = [], [], [], []
    for server in order:
        rack, here = board.pool.racks[server], name[server]
        for tray in range(fabric.trays_per_server):
            lost = set(range(fabric.units_per_tray)) - set(rack.units[tray])
            units += [f"{here}.m{tray}.u{unit}" for unit in lost]
            for rail, free in rack.ports.items():
                taken = set(range(fabric.tray_ports)) - set(free[tray])
                ports += [f"{here}.m{tray}.q{rail}#{port}" for port in taken]
        for rail in range(fabric.num_io):
            if rail not in rack.ports and rail not in rack.spine:
                switches.append(f"{here}.q{rail}")
            elif rail in rack.spine:
                lost = set(range(fabric.uplinks)) - set(rack.uplinks.get(rail, ()))
                uplinks += [f"{here}.q{rail}#{number}" for number in lost]
    return Health(
        failed_tiles=tuple(tiles),
        failed_memory_units=tuple(units),
        failed_tray_ports=tuple(ports),
        failed_uplinks=tuple(uplinks),
        failed_switches=tuple(switches),
    )


def _renamed(assignment: Assignment, servers: Mapping[str, str]) -> Assignment:
    """The assignment with other names of servers in the names of all parts."""

    def rename(name: str) -> str:
        return PREFIX.sub(lambda found: servers[found.group()], name, count=1)

    def circuit(old: Circuit) -> Circuit:
        ends = {"source": rename(old.source), "destination": rename(old.destination)}
        return old.model_copy(update=ends | {"fibers": tuple(map(rename, old.fibers))})

    def plug(old: MemoryCircuit) -> MemoryCircuit:
        ends = {"device": rename(old.device), "port": rename(old.port)}
        return old.model_copy(update=ends | {"units": tuple(map(rename, old.units))})

    held = tuple(old.model_copy(update={"circuits": tuple(map(circuit, old.circuits))}) for old in assignment.circuits)
    return assignment.model_copy(
        update={
            "devices": tuple(map(rename, assignment.devices)),
            "circuits": held,
            "memory": tuple(map(plug, assignment.memory)),
        }
    )
