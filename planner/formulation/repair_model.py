"""Who is searched when a plan is repaired, and what a fabric adds to the ranks that move: circuits that change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ortools.sat.python import cp_model

from costmodel.pricing.servers_by_rack import ServersByRack
from planner.fabrics import plugin_of
from planner.fabrics.free_slots import Device
from planner.fabrics.ranked_assignment import RankedAssignment
from planner.fabrics.ranked_circuits import RankedCircuit
from planner.formulation.rank_literals import Literal, PlaceLiterals
from planner.model.cluster import Cluster
from planner.model.plan import Assignment

Wanted = Sequence[Sequence[Sequence[RankedCircuit | None]]]
"""light that each circuit had, by tenant, configuration and position"""
Where = tuple[int, int, int]
"""(tenant, configuration, position)"""


@dataclass(frozen=True)
class RepairProblem:
    """Who is searched, and what the fixed jobs leave.

    `free`: devices that no fixed job holds; `fixed`: assignments of jobs that keep devices and circuits;
    `pinned`: tenants that keep their devices, not their light; `even`: tenants of which no two blocks share a server;
    `by_rack`: servers of each rack that some of these ask for.
    """

    cluster: Cluster
    tenants: tuple[RankedAssignment, ...]
    free: frozenset[Device]
    fixed: tuple[Assignment, ...] = ()
    pinned: frozenset[str] = frozenset()
    even: frozenset[str] = frozenset()
    by_rack: Mapping[str, ServersByRack] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """About how many literals a model of it has."""
        return plugin_of(self.cluster.fabric).repair_model.num_literals(self)


class CircuitLiterals(Protocol):
    """Circuits of all tenants in a CP-SAT model, beside those of fixed jobs."""

    @property
    def same(self) -> Mapping[Where, Literal]:
        """The circuit is on as it was, between the same devices."""
        ...

    def beams(self, solver: cp_model.CpSolver) -> list[tuple[tuple[RankedCircuit, ...], ...]]:
        """Circuits in a solution, by tenant, configuration and position."""
        ...


class RepairModel:
    """Repair of servers joined by packets: ranks move, no circuits do."""

    def num_literals(self, problem: RepairProblem) -> int:
        """About how many literals a model of it has."""
        servers = {device[0] for device in problem.free}
        return sum(len(tenant.devices) for tenant in problem.tenants) * (len(servers) + 1)

    def circuits(self, places: PlaceLiterals, problem: RepairProblem, wanted: Wanted) -> CircuitLiterals | None:
        """Add the circuits of all tenants to the model of their ranks; None where jobs hold none."""
        return None
