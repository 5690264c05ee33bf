"""A few servers with pooled memory as a problem of their own."""

from collections.abc import Mapping, Sequence

from costmodel.fabrics import Sipam
from planner.fabrics.problem import Problem
from planner.fabrics.sipam.free_state import PoolFreeState
from planner.fabrics.sipam.server_pool import FreeServer
from planner.fabrics.sipam.uplinks import reserve_uplinks
from planner.fabrics.windows import Windows, taken_devices
from planner.model.health import Health
from planner.model.plan import Assignment


class PoolWindows(Windows):
    """Units, ports, uplinks and switches belong to one server each."""

    def held(
        self, problem: Problem, fixed: Sequence[Assignment], servers: Sequence[int], names: Mapping[int, str]
    ) -> Health:
        fabric, free = problem.cluster.fabric, PoolFreeState(problem.cluster)
        assert isinstance(fabric, Sipam)
        for assignment in fixed:
            free.take_named(assignment)
            _reserve(problem, free, assignment)
        units, ports, uplinks, switches = list[str](), list[str](), list[str](), list[str]()
        racks = free.pool.racks
        for server in servers:
            here = racks[server]
            units += _taken_units(fabric, here, names[server])
            ports += _taken_ports(fabric, here, names[server])
            uplinks += _taken_uplinks(fabric, here, names[server])
            switches += [f"{names[server]}.q{rail}" for rail in range(fabric.num_io) if _is_dark(here, rail)]
        return Health(
            failed_tiles=taken_devices(free, servers, names),
            failed_memory_units=tuple(units),
            failed_tray_ports=tuple(ports),
            failed_uplinks=tuple(uplinks),
            failed_switches=tuple(switches),
        )


def _reserve(problem: Problem, free: PoolFreeState, assignment: Assignment) -> None:
    """Uplinks of a job that was placed anew; residents in place have what they use."""
    options = next(options for options in problem.options if options.job.name == assignment.job)
    row = options.row_of(assignment.configuration)
    if row is not None and not (options.can_stay and not assignment.is_moved):
        reserve_uplinks(free, options.shapes[row], assignment)


def _taken_units(fabric: Sipam, free: FreeServer, name: str) -> list[str]:
    return [
        f"{name}.m{tray}.u{unit}"
        for tray in range(fabric.trays_per_server)
        for unit in set(range(fabric.units_per_tray)) - set(free.units[tray])
    ]


def _taken_ports(fabric: Sipam, free: FreeServer, name: str) -> list[str]:
    return [
        f"{name}.m{tray}.q{rail}#{port}"
        for tray in range(fabric.trays_per_server)
        for rail, ports in free.ports.items()
        for port in set(range(fabric.tray_ports)) - set(ports[tray])
    ]


def _taken_uplinks(fabric: Sipam, free: FreeServer, name: str) -> list[str]:
    return [
        f"{name}.q{rail}#{number}"
        for rail in range(fabric.num_io)
        if rail in free.spine
        for number in set(range(fabric.uplinks)) - set(free.uplinks.get(rail, ()))
    ]


def _is_dark(free: FreeServer, rail: int) -> bool:
    """Whether the switch of a rail has failed."""
    return rail not in free.ports and rail not in free.spine
