"""A few servers with all that others hold there taken away: a problem of its own."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from costmodel.fabrics.part_names import SERVER
from planner.fabrics import plugin_of
from planner.fabrics.problem import JobOptions, Problem
from planner.model.cluster import Cluster
from planner.model.plan import Assignment, Circuit, MemoryCircuit


@dataclass(frozen=True)
class Window:
    """The problem of some servers, and how names of parts there and in the whole cluster correspond."""

    problem: Problem
    inside: Mapping[str, str]
    """name of a server or an optical switch in the cluster -> its name in the window"""

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

    What fixed jobs hold counts as failed there. Only fabrics whose parts belong to one server each have windows. What
    joins racks belongs to none: jobs of a window lie in one rack.
    """
    fabric = problem.cluster.fabric
    apart = {} if fabric.upper_layer is None else {"upper": None}
    size = {"racks": len(servers), "servers": len(servers[0])}
    small = type(fabric).model_construct(**dict(fabric) | size | apart)
    order = [server for rack in servers for server in rack]
    names = {server: small.server_name(number) for number, server in enumerate(order)}
    windows = plugin_of(fabric).windows
    switches = windows.switches(fabric, small, [fabric.rack_of(rack[0]) for rack in servers])
    held = windows.held(problem, fixed, order, names)
    if switches:
        down = tuple(switches[name] for name in problem.cluster.health.failed_switches if name in switches)
        held = held.model_copy(update={"failed_switches": down})
    cluster = Cluster.model_construct(device=problem.cluster.device, fabric=small, health=held)
    objectives = problem.instance.objectives[:1]
    instance = problem.instance.model_copy(update={"cluster": cluster, "residents": (), "objectives": objectives})
    inside = {**{fabric.server_name(server): name for server, name in names.items()}, **switches}
    options = tuple(problem.options[j] if not apart else _in_one_rack(problem.options[j]) for j in sorted(free))
    return Window(Problem(instance, options), inside)


def _in_one_rack(options: JobOptions) -> JobOptions:
    """The job without its rows over several racks."""
    demands, of = options.shapes.distinct
    rows = np.flatnonzero(np.array([demand.racks == 1 for demand in demands], np.bool_)[of])
    return options if len(rows) == len(options) else replace(options, current=None).take(rows)


def _renamed(assignment: Assignment, parts: Mapping[str, str]) -> Assignment:
    """The assignment with other names of servers, and of what belongs to none, in the names of all parts."""

    def rename(name: str) -> str:
        return parts[name] if name in parts else SERVER.sub(lambda found: parts[found.group()], name)

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
