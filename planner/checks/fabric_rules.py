"""The part of one kind of fabric in the rules of all, and the rules that hold on this kind alone."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import ClassVar

from costmodel.fabrics import FabricBase
from costmodel.parallelism.configuration import Configuration
from planner.checks.fitting import Links as Pairs
from planner.checks.pricing import Price
from planner.checks.required import Links
from planner.checks.spared_ports import check_spared_ports
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Assignment, Plan
from planner.model.violation import Check, Violation


class FabricRules:
    """The independent side of a plug-in; what stands here holds where servers are joined by packets.

    It shares no code with the solver: it reads files, the cost model, and the vocabulary of `planner.checks`.
    """

    after: ClassVar[str] = "circuits"
    """the rule of every fabric after which those of this one are asked"""
    runs_by_rank: ClassVar[bool] = True
    """whether collectives depend on circuits by rank alone, not on slots of devices and who shares a server"""

    @property
    def checks(self) -> Mapping[str, Check]:
        """Rules of this kind by name; one named as a later rule of every fabric takes its place."""
        return {}

    def absent(self, fabric: FabricBase) -> tuple[str, ...]:
        """Names of rules about parts that a fabric of this kind may have and this one lacks."""
        return ()

    @property
    def starts(self) -> tuple[Check, ...]:
        """Rules of jobs that start, beside those of jobs that run."""
        return (check_spared_ports,)

    def required(self, configuration: Configuration) -> list[tuple[str, Links]] | None:
        """Dimension and circuits by rank that a job must hold; None where another rule says so, or none can."""
        return []

    def lost(self, cluster: Cluster, assignment: Assignment) -> list[str]:
        """Names of failed parts that a job uses, beside its devices."""
        return []

    def pairs_to_span(self, instance: Instance, plan: Plan) -> list[Pairs]:
        """Pairs of servers that one more job could span, by group of servers and numbered within it."""
        return [frozenset(combinations(range(instance.cluster.fabric.num_servers), 2))]

    def simulate(self, instance: Instance, job: Job, assignment: Assignment, charged: Price) -> Iterator[Violation]:
        """Collectives of a job, run over the circuits or links that it has, take what they are charged."""
        yield from ()
