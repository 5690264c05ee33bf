"""The part of a fabric in step 1: variables, constraint groups, symmetries and the size of all that."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ortools.sat.python import cp_model

from planner.fabrics.demand import Demand
from planner.fabrics.pattern import Pattern
from planner.fabrics.problem import Problem
from planner.formulation.group import Group
from planner.formulation.nogood import Nogood
from planner.formulation.step_two import StepTwoLimits
from planner.formulation.variables import FabricVariables, Pair, Variables
from planner.model.cluster import Cluster
from planner.model.plan import Assignment


@dataclass(frozen=True)
class PackedServers:
    """The most valuable pattern among those of at least some value, and what was proven of these."""

    pattern: Pattern
    """empty where there is none"""
    bound: float
    rounding: float
    """most by which rounded coefficients shift the bound"""


@dataclass(frozen=True)
class PairLight:
    """What jobs over two servers ask of the links between these, and what there is."""

    leaving: Callable[[Demand], Mapping[int, int]]
    """least wavelengths that leave a server with so many parts of a demand, others having the rest, by the counts that
    a server may have"""
    exchanged: Callable[[Demand], Sequence[int]]
    """most wavelengths that so many parts of a demand send and receive together, over all their links"""
    apart: Callable[[Demand], Sequence[int]]
    """most parts of a demand that exchange no light with so many others"""
    carried: Mapping[Pair, int]
    """wavelengths that each of two servers can send the other, by pairs in ascending order that are joined"""
    is_all: bool
    """whether these are all links: as many there as back, and light crosses no third server"""

    def counts(self, demand: Demand) -> frozenset[int]:
        """Counts that a server may have of the parts of a demand, others having the rest."""
        return frozenset(self.leaving(demand))


@dataclass(frozen=True)
class Scarce:
    """Sums over all jobs, beside accelerators, that no plan exceeds."""

    capacities: tuple[int, ...]
    needs: Callable[[Demand], tuple[int, ...] | None]
    """what a job adds to each sum at least, wherever it lies; None where it has no place at all"""


class StepOne:
    """Step 1 of servers joined by packets: counts by server say all."""

    groups: ClassVar[tuple[Group, ...]] = ()
    """constraint groups beside those of every fabric"""
    drops_by_counts: ClassVar[bool] = False
    """whether candidates were dropped because others ask for no more in step 1: a no-good then costs the proof over
    those that were dropped"""
    core_share: ClassVar[float] = 1.0
    """of the time left for each core: less where bounds are loose, and cores therefore prove little"""

    def variables(self, cluster: Cluster) -> FabricVariables:
        """Those of the fabric, none created yet."""
        return FabricVariables()

    def num_pairs(self, cluster: Cluster) -> int:
        """Ordered pairs of servers for which a job with circuits has variables."""
        return 0

    def may_rename(self, problem: Problem, nogood: Nogood) -> bool:
        """True if a no-good holds on any other servers too, since all of them are alike."""
        return False

    def counts_of(self, cluster: Cluster) -> Callable[[Demand], frozenset[int]] | None:
        """Counts of the parts of a demand of which a server may have so many, others having the rest; None where
        servers differ in more than their room, so that it matters which of them has what."""
        return None

    def pair_light(self, cluster: Cluster) -> PairLight | None:
        """Light between two servers; None where jobs that lie in two share more than that and devices."""
        return None

    def packed_servers(self, problem: Problem, least: float, limits: StepTwoLimits) -> PackedServers | None:
        """The most valuable of patterns worth `least` or more, where it is enough to know which parts lie together;
        None where it is not, or nothing was found in time."""
        return None

    def scarce(self, cluster: Cluster) -> Scarce | None:
        """What servers have little of, beside devices; None where step 1 says all."""
        return None

    def needs_devices_alone(self, cluster: Cluster) -> bool:
        """True where a job that lies in one server asks for nothing there but its devices."""
        return False

    def order_servers(self, model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
        """Break the symmetry of servers that are alike."""

    def new_names(self, problem: Problem, pattern: Pattern) -> Mapping[int, int]:
        """Server that stands for each one, so that a pattern is in the order of `order_servers`."""
        return {server: server for server in range(problem.cluster.fabric.num_servers)}

    def place_blocks(self, model: cp_model.CpModel, v: Variables, cluster: Cluster, j: int, demand: Demand) -> None:
        """State which block of job j lies on which server, and exactly what this reserves between servers."""

    def dark_fibers(self, cluster: Cluster, assignments: Sequence[Assignment]) -> dict[Pair, int]:
        """Fibers by ordered pair of servers that carry no light of these; empty where jobs need none."""
        return {}
