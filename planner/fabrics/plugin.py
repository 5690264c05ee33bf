"""The one interface of a fabric: all that the planner knows of one kind stands behind its plug-in.

A plug-in answers in parts, imported on first use, so that a command loads what it needs. What is given here answers
for servers joined by packets; a fabric names in `parts` the classes in which it differs, each in one file of its own
folder. A part has no state: its methods are given the cluster, the instance or the problem.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from costmodel.fabrics import FabricBase
from planner.fabrics.part import Part, PartOfSchema, PartType

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
    from planner.fabrics.job_class import JobClassRules, Option
    from planner.fabrics.own_policy import OwnPolicy
    from planner.fabrics.ranked_circuits import RankedCircuits
    from planner.fabrics.residents import ResidentRules
    from planner.fabrics.rewiring import Rewiring
    from planner.fabrics.shared_amounts import SharedAmounts
    from planner.fabrics.shortages import Shortages
    from planner.fabrics.spares import Spares
    from planner.fabrics.starts import Starts
    from planner.fabrics.switch_ports import SwitchPorts
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
    parts: ClassVar[Mapping[str, str]] = {}
    """places of the parts in which the fabric differs, by name"""

    spares: "Part[Spares]" = Part("planner.fabrics.spares:Spares")
    """devices and circuits that replace what a failed part took, without a search"""
    upgrades: "Part[Upgrades]" = Part("planner.fabrics.upgrades:Upgrades")
    """the instance with one more part, a better one, or without a limit"""
    shortages: "Part[Shortages]" = Part("planner.fabrics.shortages:Shortages")
    """what a job lacks of what is free"""
    claims: "Part[JobClaims]" = Part("planner.fabrics.claims:JobClaims")
    """parts that a placed job owns, counts and relies on"""
    drawing: "Part[Drawing]" = Part("planner.fabrics.drawing:Drawing")
    """the page of a plan"""
    rules: "Part[FabricRules]" = Part("planner.checks.fabric_rules:FabricRules")
    """independent rules of this kind, and what rules of every fabric ask of it"""
    template: "PartOfSchema[Template]" = PartOfSchema("planner.fabrics.generated_template:GeneratedTemplate")
    """text of a new instance"""
    interchangeable: "Part[Interchangeable]" = Part("planner.fabrics.interchangeable:Interchangeable")
    """parts of which one stands for all where each single failure is tried"""
    residents: "Part[ResidentRules]" = Part("planner.fabrics.residents:ResidentRules")
    """what running jobs hold"""
    job_classes: "Part[JobClassRules]" = Part("planner.fabrics.job_class:JobClassRules")
    """how candidates become the options of a class of jobs"""
    wiring: "Part[WiringNames]" = Part("planner.fabrics.wiring:WiringNames")
    """names of what circuits go through"""
    switch_ports: "Part[SwitchPorts]" = Part("planner.fabrics.switch_ports:SwitchPorts")
    """what is plugged into optical switches, and what a plan joins there"""
    circuit_namer: "PartType[CircuitNamer]" = PartType("planner.fabrics.circuit_names:CircuitNamer")
    """names for the circuits of placements by number, with a memory of its own"""
    step_one: "Part[StepOne]" = Part("planner.formulation.step_one:StepOne")
    """variables, constraints and symmetries of the master problem"""
    step_two: "Part[StepTwo]" = Part("planner.formulation.step_two:StepTwo")
    """devices and circuits of a solution of step one, or a no-good"""
    windows: "Part[Windows]" = Part("planner.fabrics.windows:Windows")
    """servers that may be solved as a problem of their own"""
    repair_model: "Part[RepairModel]" = Part("planner.formulation.repair_model:RepairModel")
    """circuits in the model of a repair"""
    dominance: "Part[Dominance]" = Part("planner.fabrics.dominance:Dominance")
    """which candidates cannot matter"""
    shared_amounts: "Part[SharedAmounts]" = Part("planner.fabrics.shared_amounts:SharedAmounts")
    """amounts that jobs share beside accelerators"""
    starts: "Part[Starts]" = Part("planner.fabrics.starts:Starts")
    """candidates of which the first plans of a search are placed"""
    isolation: "Part[Isolation]" = Part("planner.checks.isolation:Isolation")
    """rules that look at one placement alone"""
    ranked_circuits: "Part[RankedCircuits]" = Part("planner.fabrics.ranked_circuits:RankedCircuits")
    """what circuits by rank are on, and whether that works"""

    def __init_subclass__(cls) -> None:
        """Adds parts that the classes above name; AttributeError for a part that there is none of."""
        named = {name: place for each in reversed(cls.__mro__) for name, place in vars(each).get("parts", {}).items()}
        known = [name for name, part in vars(FabricPlugin).items() if isinstance(part, Part | PartType)]
        for name in named:
            if name not in known:
                raise AttributeError(f"{cls.__name__}.parts: there is no part '{name}'; parts are: {', '.join(known)}")
        cls.parts = named

    @property
    def kind(self) -> str:
        """The name in files, as `kind` of the schema has it."""
        return str(self.schema.model_fields["kind"].default)

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

    def why_not_cut(self, policy: str) -> str | None:
        """Why a policy that cuts slices of fixed shapes does not go with the fabric; None where it does."""
        return None

    def hosts(self, fabric: FabricBase) -> tuple[tuple[int, ...], ...]:
        """Slots of each host of a server, which parts of jobs take whole; none where the fabric does not say."""
        return ()

    def partition(self, fabric: FabricBase, slots: Sequence[int]) -> str | None:
        """Shape of the partition, such as 2x2x1, that these slots of a server are; None where they are none."""
        return None

    def divided(self, row: "Option", devices: Sequence[str]) -> list[dict[str, Any]]:
        """Partitions of servers that a job on these devices, by rank, is to have to itself, as drivers read them; none
        where nothing is to be divided."""
        return []

    def own_policy(self, cluster: "Cluster", policy: str) -> "OwnPolicy | None":
        """A policy of a replay that knows this kind of fabric; None where it has no such policy for the cluster."""
        return None

    def switch_setting(self, instance: "Instance", assignments: "Iterable[Assignment]") -> "SwitchSetting | None":
        """Switches from what the residents have on to a plan; None where plans do not state them."""
        return None

    def rewiring(self, cluster: "Cluster") -> "Rewiring | None":
        """Chooses circuits again for jobs that keep their devices; None where circuits follow from the devices."""
        return None
