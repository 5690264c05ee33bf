"""The one interface of a fabric: all that the planner knows of one kind stands behind its plug-in.

A plug-in answers in parts (cached properties, imported on first use, so that a command loads what it needs). What is
given here answers for servers joined by packets; a fabric overrides the parts in which it differs, each in one file
of its own folder. A part has no state: its methods are given the cluster, the instance or the problem.
"""

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from costmodel.fabrics import FabricBase

if TYPE_CHECKING:
    from collections.abc import Iterable

    from costmodel.pricing.candidates import Candidates
    from planner.checks.fabric_rules import FabricRules
    from planner.checks.isolation import Isolation
    from planner.fabrics.circuit_names import CircuitNamer
    from planner.fabrics.claims import JobClaims
    from planner.fabrics.demand import Demand
    from planner.fabrics.dominance import Dominance, Ints
    from planner.fabrics.drawing import Drawing
    from planner.fabrics.free_state import FreeState, MostLit
    from planner.fabrics.interchangeable import Interchangeable
    from planner.fabrics.job_class import JobClassRules
    from planner.fabrics.ranked_circuits import RankedCircuits
    from planner.fabrics.residents import ResidentRules
    from planner.fabrics.rewiring import Rewiring
    from planner.fabrics.shared_amounts import SharedAmounts
    from planner.fabrics.shortages import Shortages
    from planner.fabrics.spares import Spares
    from planner.fabrics.starts import Starts
    from planner.fabrics.template import Template
    from planner.fabrics.upgrades import Upgrades
    from planner.fabrics.windows import Windows
    from planner.fabrics.wiring import WiringNames
    from planner.formulation.repair_model import RepairModel
    from planner.formulation.step_one import StepOne
    from planner.formulation.step_two import StepTwo
    from planner.model.cluster import Cluster
    from planner.model.instance import Instance
    from planner.model.job import Job
    from planner.model.plan import Assignment, SwitchSetting


class FabricPlugin:
    """What the planner asks of one kind of fabric."""

    schema: ClassVar[type[FabricBase]]
    """as in files: geometry, names of parts, plans of groups"""
    own_slices: ClassVar[str | None] = None
    """the policy that places on the fabric's own slices, where jobs hold such"""

    @property
    def kind(self) -> str:
        """The name in files, as `kind` of the schema has it."""
        return str(self.schema.model_fields["kind"].default)

    @cached_property
    def spares(self) -> "Spares":
        from planner.fabrics.spares import Spares

        return Spares()

    @cached_property
    def upgrades(self) -> "Upgrades":
        from planner.fabrics.upgrades import Upgrades

        return Upgrades()

    @cached_property
    def shortages(self) -> "Shortages":
        from planner.fabrics.shortages import Shortages

        return Shortages()

    @cached_property
    def claims(self) -> "JobClaims":
        from planner.fabrics.claims import JobClaims

        return JobClaims()

    @cached_property
    def drawing(self) -> "Drawing":
        from planner.fabrics.drawing import Drawing

        return Drawing()

    @cached_property
    def rules(self) -> "FabricRules":
        """The independent rules of this kind, and what rules of every fabric ask of it."""
        from planner.checks.fabric_rules import FabricRules

        return FabricRules()

    @cached_property
    def template(self) -> "Template":
        from planner.fabrics.generated_template import GeneratedTemplate

        return GeneratedTemplate(self.schema)

    @cached_property
    def interchangeable(self) -> "Interchangeable":
        from planner.fabrics.interchangeable import Interchangeable

        return Interchangeable()

    def demand_type(self, fabric: FabricBase) -> "type[Demand]":
        """The class of what candidates ask for."""
        from planner.fabrics.demand import Demand

        return Demand

    def published_rows(self, cluster: "Cluster", job: "Job", candidates: "Candidates") -> "Ints | None":
        """Candidates with the memory that a published method gives the job; None where there is none to divide."""
        return None

    def memory_missing(self, cluster: "Cluster", job: "Job") -> str | None:
        """What a job without candidates lacks of memory, where the fabric knows better than its accelerators do."""
        return None

    def free_state(self, cluster: "Cluster", most_lit: "MostLit | None" = None) -> "FreeState":
        """What is free with nothing placed; `most_lit`: fibers of pairs of servers that may carry light, if any do."""
        from planner.fabrics.free_state import FreeState

        return FreeState(cluster)

    @cached_property
    def residents(self) -> "ResidentRules":
        from planner.fabrics.residents import ResidentRules

        return ResidentRules()

    @cached_property
    def job_classes(self) -> "JobClassRules":
        """How candidates become the options of a class of jobs."""
        from planner.fabrics.job_class import JobClassRules

        return JobClassRules()

    @cached_property
    def wiring(self) -> "WiringNames":
        """Names of what circuits go through."""
        from planner.fabrics.wiring import WiringNames

        return WiringNames()

    def why_not_cut(self, policy: str) -> str | None:
        """Why a policy that cuts slices of fixed shapes does not go with the fabric; None where it does."""
        return None

    def circuit_namer(self) -> "CircuitNamer":
        """Names for the circuits of placements by number, with a memory of its own."""
        from planner.fabrics.circuit_names import CircuitNamer

        return CircuitNamer()

    @cached_property
    def step_one(self) -> "StepOne":
        from planner.formulation.step_one import StepOne

        return StepOne()

    @cached_property
    def step_two(self) -> "StepTwo":
        from planner.formulation.step_two import StepTwo

        return StepTwo()

    @cached_property
    def windows(self) -> "Windows":
        from planner.fabrics.windows import Windows

        return Windows()

    @cached_property
    def repair_model(self) -> "RepairModel":
        from planner.formulation.repair_model import RepairModel

        return RepairModel()

    @cached_property
    def dominance(self) -> "Dominance":
        from planner.fabrics.dominance import Dominance

        return Dominance()

    @cached_property
    def shared_amounts(self) -> "SharedAmounts":
        from planner.fabrics.shared_amounts import SharedAmounts

        return SharedAmounts()

    @cached_property
    def starts(self) -> "Starts":
        from planner.fabrics.starts import Starts

        return Starts()

    @cached_property
    def isolation(self) -> "Isolation":
        from planner.checks.isolation import Isolation

        return Isolation()

    def switch_setting(self, instance: "Instance", assignments: "Iterable[Assignment]") -> "SwitchSetting | None":
        """Switches from what the residents have on to a plan; None where plans do not state them."""
        return None

    def rewiring(self, cluster: "Cluster") -> "Rewiring | None":
        """Chooses circuits again for jobs that keep their devices; None where circuits follow from the devices."""
        return None

    @cached_property
    def ranked_circuits(self) -> "RankedCircuits":
        """What circuits by rank are on, and whether that works."""
        from planner.fabrics.ranked_circuits import RankedCircuits

        return RankedCircuits()
