"""Patterns that chance hardly draws: what one part of a group says is all that forbids them."""

from collections.abc import Callable
from typing import Any

from planner.candidates.expand import expand
from planner.fabrics.demand import Demand
from planner.fabrics.pattern import Choice
from planner.fabrics.problem import Problem
from planner.fabrics.sipam.demand import PoolDemand
from planner.model.instance import Instance
from tests.fabrics import FABRICS
from tests.oracles.tiny_instances import Fields
from tests.planner.fabrics.conformance.patterns import Drawn
from tests.planner.fabrics.conformance.small_clusters import SMALL

TRAINING = {"kind": "transformer_training", "model": SMALL, "global_batch": 12, "sequence": 128, "micro_batch": 1}


def odd_circle_on_rails() -> Drawn:
    """Three jobs, each on two of three servers with two rails: any two have rails of their own, the third has none."""
    fabric = FABRICS["ocs_rail"] | {"servers": 3, "gpus_per_server": 2, "switches": 1, "ports": 3}
    problem = _problem(fabric, (2, 2, 2))
    row = _row(problem, lambda demand: demand.num_ports > 0 and demand.block == 1)
    on = ((0, 1), (1, 2), (0, 2))
    return Drawn("ocs_rail", problem, {j: Choice(row, False, ((a, 1), (b, 1))) for j, (a, b) in enumerate(on)})


def blocks_on_one_server() -> Drawn:
    """Two ranks with a circuit between them, both on one server that has room for them."""
    fabric = FABRICS["ocs_rail"] | {"servers": 2, "gpus_per_server": 2, "switches": 1, "ports": 2}
    problem = _problem(fabric, (2,))
    row = _row(problem, lambda demand: demand.num_ports > 0 and demand.block == 1)
    return Drawn("ocs_rail", problem, {0: Choice(row, False, ((0, 2),))})


def two_wide_jobs() -> Drawn:
    """Two jobs of two ports a rank on the same servers, where both switches work on one rail of two."""
    fabric = FABRICS["ocs_rail"] | {"servers": 2, "gpus_per_server": 2, "switches": 2, "ports": 2}
    problem = _problem(fabric, (2, 2), failed_switches=["q0#1"])
    row = _row(problem, lambda demand: demand.num_ports == 2 and demand.block == 1)
    return Drawn("ocs_rail", problem, {j: Choice(row, False, ((0, 1), (1, 1))) for j in range(2)})


def line_on_rails() -> Drawn:
    """A line of three stages, the middle one sends both ways: chance draws hardly any on so few servers."""
    fabric = FABRICS["ocs_rail"] | {"servers": 3, "gpus_per_server": 2, "switches": 2, "ports": 3}
    problem = _problem(fabric, (3,))
    row = _row(problem, lambda demand: demand.num_ports == 2 and demand.plans[1].kind == "line")
    return Drawn("ocs_rail", problem, {0: Choice(row, False, tuple((server, 1) for server in range(3)))})


def ports_on_one_rail() -> Drawn:
    """Two accelerators that each take a port of both rails, in a server with three ports on one rail, one on the
    other: as many ports in all as they take."""
    few = _pool(rails=2) | {"servers": 1, "tray_ports": 3, "spine_rails": 0, "uplinks": 0}
    problem = _problem(few, (1, 1), failed_tray_ports=["s0.m0.q1#1", "s0.m0.q1#2"])
    row = _row(problem, lambda demand: demand.held_io == 2)
    return Drawn("sipam", problem, {j: Choice(row, False, ((0, 1),)) for j in range(2)})


def two_jobs_over_one_uplink() -> Drawn:
    """Two jobs in the same two servers, each over one uplink of the only spine rail, of which there is one."""
    problem = _problem(_pool(rails=3) | {"servers": 2, "tray_ports": 4, "spine_rails": 1, "uplinks": 1}, (2, 2))
    row = _row(problem, lambda demand: demand.block == 1 and PoolDemand.of(demand).uplinks == 1)
    return Drawn("sipam", problem, {j: Choice(row, False, ((0, 1), (1, 1))) for j in range(2)})


def servers_of_two_racks() -> Drawn:
    """A job that asks for two servers of one rack, on one server of each of two."""
    fabric = FABRICS["fat_tree"] | {"racks": 2, "servers": 2, "gpus_per_server": 1}
    problem = _problem(fabric, (2,), {"per_server": 1, "servers_by_rack": [2]})
    row = _row(problem, lambda demand: demand.num_parts == 2)
    return Drawn("fat_tree", problem, {0: Choice(row, False, ((0, 1), (2, 1)))})


CORNERS: dict[str, Callable[[], Drawn]] = {
    "blocks_apart": blocks_on_one_server,
    "same_rails": odd_circle_on_rails,
    "pool_network": ports_on_one_rail,
    "reserved_uplinks": two_jobs_over_one_uplink,
    "servers_by_rack": servers_of_two_racks,
}
"""by the group that forbids it"""


def _pool(*, rails: int) -> Fields:
    """Servers of two accelerators with so many I/Os, and memory enough."""
    io = {"name": "io", "width_mm": 8, "bandwidth": "2 TB/s", "source": "test"}
    edge = {"name": "edge", "perimeter_mm": 8 * rails, "io": io, "source": "test"}
    few = {"accelerators_per_server": 2, "trays_per_server": 1, "units_per_tray": 16, "units_per_port": 1}
    return FABRICS["sipam"] | few | {"racks": 1, "memory_grid": [1, 2], "shoreline": edge}


def _problem(fabric: Fields, sizes: tuple[int, ...], limits: Fields | None = None, **health: Any) -> Problem:
    alike = {"workload": TRAINING, "constraints": limits or {}}
    jobs = [{"name": f"j{j}", "accelerators": size, **alike} for j, size in enumerate(sizes)]
    cluster = {"device": "h100-sxm", "fabric": fabric, "health": health}
    data = {"schema_version": 2, "name": "corner", "cluster": cluster, "jobs": jobs, "objectives": ["value"]}
    return expand(Instance.parse(data), prune=False)


def _row(problem: Problem, fits: Callable[[Demand], bool]) -> int:
    return next(row for row, demand in enumerate(problem.options[0].shapes) if fits(demand))
