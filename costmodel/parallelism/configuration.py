"""How one job runs, as written in residents and plans: degrees of parallelism and collective plans."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from costmodel.collectives.ladder import Order
from costmodel.fabrics.across_racks import links_of, racks_of
from costmodel.fabrics.group_plans import GroupPlan, LinkPlan, PlanKind
from costmodel.fabrics.pool_plans import PoolPlans
from costmodel.fabrics.turns import Turns
from costmodel.hardware.offload import offload_code, offload_name
from costmodel.parallelism.degrees import RANK_ORDERS, Degrees, RankOrder
from costmodel.parallelism.mappings import CHOICES, RECOMPUTE, SCHEDULES, Dimension, Recompute, Schedule
from costmodel.spec import Spec

Menus = Mapping[str, Sequence[int]]
"""what a workload leaves open: numbers of the columns of Mappings"""
Count = Annotated[int, Field(ge=1)]


class Collective(Spec):
    """How the groups along one dimension communicate; the fabric knows what it costs."""

    kind: PlanKind = "none"
    """family of the plan"""
    radices: tuple[Count, ...] = ()
    """peers and one of each round. Where they multiply to the ranks, they are digits of the rank, the first varying
    fastest; where their product is larger, circuits lead a number of ranks ahead, those of the first round farthest.
    Of a circulant: how many ranks ahead each circuit leads"""
    held: tuple[Count, ...] = ()
    """consecutive rounds that share one configuration of circuits"""
    wavelengths: tuple[Count, ...] = ()
    """wavelengths of each circuit, one entry for each radix; a ring, a line or a circulant has one"""
    order: Order = "fixed"
    """alternating: successive calls go through the configurations forth and back"""
    prefill: "Collective | None" = Field(default=None, exclude_if=lambda collective: collective is None)
    """of the groups that run prompts, where they have degrees of their own"""
    racks: int = Field(default=1, ge=1, exclude_if=lambda racks: racks == 1)
    """racks over which the group lies in equal parts: what is said beside is of the part in each"""
    links: int = Field(default=0, ge=0, exclude_if=lambda links: links == 0)
    """of the upper layer that the job holds: uplinks or ports of each of its racks, wavelengths between each two"""

    @classmethod
    def of(cls, plan: GroupPlan) -> "Collective":
        if isinstance(plan, PoolPlans):
            return cls.of(plan.decode).model_copy(update={"prefill": cls.of(plan.prefill)})
        held = plan.held if plan.radices else ()
        return _written(plan.kind, plan.radices, held, plan.wavelengths, plan.order, racks_of(plan), links_of(plan))

    def described(self, ranks: int) -> LinkPlan:
        """The same for a group of so many ranks, without its times."""
        return LinkPlan(
            self.kind, ranks, radices=self.radices, held=self.held, wavelengths=self.wavelengths, order=self.order
        )


@lru_cache(maxsize=4096)
def _written(
    kind: PlanKind, radices: tuple[int, ...], held: tuple[int, ...], wavelengths: tuple[int, ...], order: Order,
    racks: int, links: int,
) -> Collective:  # fmt: skip
    return Collective(
        kind=kind, radices=radices, held=held, wavelengths=wavelengths, order=order, racks=racks, links=links
    )


class PhaseSetting(Spec):
    """What a job may do otherwise in one phase of its workload: its split of the I/O and its collectives."""

    memory_units: int | None = Field(default=None, ge=1)
    """of remote memory that each rank reads and writes in this phase"""
    memory_io: int | None = Field(default=None, ge=1)
    """I/O modules of each rank that serve memory in this phase"""
    tensor_collective: Collective = Collective()
    """in this phase"""
    pipeline_collective: Collective = Collective()
    """in this phase"""
    data_collective: Collective = Collective()
    """in this phase"""
    context_collective: Collective = Collective()
    """in this phase"""
    expert_collective: Collective = Collective()
    """in this phase"""


class Configuration(Spec):
    """How a job runs; which rank is which says `rank_order`, in detail `Degrees`.

    Of the choices from `interleave` to `offload`, those that the workload fixes are absent.
    """

    tensor: int = Field(default=1, ge=1)
    """ranks that share each matrix"""
    pipeline: int = Field(default=1, ge=1)
    """stages of consecutive layers"""
    data: int = Field(default=1, ge=1)
    """replicas of the model, each with a part of the batch"""
    micro_batch: int = Field(default=1, ge=1)
    """sequences (samples) of one pass"""
    context: int = Field(default=1, ge=1)
    """ranks that share each sequence"""
    expert: int = Field(default=1, ge=1)
    """ranks over which the experts of a layer are divided"""
    interleave: int | None = Field(default=None, ge=1)
    """parts of the model that each stage holds (virtual stages)"""
    recompute: Recompute | None = None
    """activations that the backward pass makes again"""
    zero: Literal[0, 1, 2, 3] | None = None
    """stage of ZeRO: 1 divides optimizer states among replicas, 2 gradients too, 3 weights too"""
    sequence_parallel: bool | None = None
    """whether the tensor ranks divide activations along the sequence between matrices"""
    offload: str | None = None
    """what lies in the second tier of memory, joined by +"""
    schedule: Schedule | None = Field(default=None, exclude_if=lambda schedule: schedule is None)
    """order of passes in the pipeline; absent: the workload's only or first choice"""
    memory_units: int | None = Field(default=None, ge=1)
    """units of remote memory that each rank reads and writes; absent where memory is local"""
    memory_io: int | None = Field(default=None, ge=1)
    """I/O modules of each rank that serve memory"""
    tier_units: int | None = Field(default=None, ge=1, exclude_if=lambda units: units is None)
    """units of a second tier behind its remote memory that each rank holds; absent where it holds none"""
    turns: Turns = Field(default=(), exclude_if=lambda turns: turns == ())
    """of a step: kinds of circuits that are on together, each turn after the one before; absent where all circuits are
    on as long as the job runs, or as the fabric always has it"""
    block: int = Field(default=1, ge=1)
    """consecutive ranks that stay in one server"""
    rank_order: RankOrder = Field(default=RANK_ORDERS[0], exclude_if=lambda order: order == RANK_ORDERS[0])
    """groups by how near their ranks are, the nearest first; experts are the nearest data ranks unless named apart"""
    tensor_collective: Collective = Collective()
    """plan of the messages of tensor groups"""
    pipeline_collective: Collective = Collective()
    """plan of those between stages"""
    data_collective: Collective = Collective()
    """plan of those between replicas"""
    context_collective: Collective = Collective()
    """plan of those of groups that share sequences"""
    expert_collective: Collective = Collective()
    """plan of those between experts"""
    prefill: int = Field(default=0, ge=0, exclude_if=lambda replicas: replicas == 0)
    """of the `data` replicas, the first so many run prompts alone, and the others tokens alone; 0: each runs both"""
    prefill_tensor: int = Field(default=0, ge=0, exclude_if=lambda degree: degree == 0)
    """tensor degree of those that run prompts, whose ranks come first; 0: both pools have the same degrees"""
    prefill_expert: int = Field(default=0, ge=0, exclude_if=lambda degree: degree == 0)
    """expert degree of those that run prompts; 0: both pools have the same degrees"""
    first_phase: PhaseSetting | None = Field(default=None, exclude_if=lambda setting: setting is None)
    """setting in the first phase of the workload (prefill), where it has one of its own there"""

    @property
    def by_phase(self) -> tuple[Self, ...]:
        """The same with the setting of the first and of the last phase as its only one; itself where it has but one."""
        if self.first_phase is None:
            return (self,)
        last = self.model_copy(update={"first_phase": None})
        return last.model_copy(update=dict(self.first_phase)), last

    @property
    def held(self) -> tuple[int | None, int | None, int | None]:
        """Units of remote memory, the I/O modules to it and units behind it of each rank."""
        return self.memory_units, self.memory_io, self.tier_units

    @property
    def division(self) -> tuple[int | None, int | None, int | None, Turns]:
        """What names its split of the I/O."""
        return *self.held, self.turns

    @property
    def num_devices(self) -> int:
        return self.all_degrees.num_devices

    @property
    def racks(self) -> int:
        """Racks in which the job lies, equal runs of ranks in each."""
        return self.data_collective.racks

    @property
    def degrees(self) -> str:
        """For messages: the degrees of parallelism above one, and the micro-batch."""
        names = ("tensor", "pipeline", "data", "context", "expert", "interleave")
        parts = [f"{name} {getattr(self, name)}" for name in names[:3]]
        parts += [f"{name} {degree}" for name in names[3:] if (degree := getattr(self, name)) not in (None, 1)]
        own = f", tensor {self.prefill_tensor}, expert {self.prefill_expert}" if self.prefill_tensor else ""
        parts[2] += f" ({self.prefill} of prompts{own})" if self.prefill else ""
        return f"{' x '.join(parts)} with micro_batch {self.micro_batch}"

    @model_validator(mode="after")
    def _divides(self) -> Self:
        if self.num_devices % self.block:
            raise ValueError(f"block {self.block} must divide the {self.num_devices} ranks")
        if self.offload is not None:
            offload_code(self.offload)
        return self

    @model_validator(mode="after")
    def _phases_differ(self) -> Self:
        if self.first_phase is not None and len({*self.by_phase}) == 1:
            raise ValueError("first_phase says the same as the fields beside it; leave it out")
        return self

    @property
    def all_degrees(self) -> Degrees:
        degrees = self.tensor, self.pipeline, self.data, self.context, self.expert
        return Degrees(*degrees, self.rank_order, self.prefill, self.prefill_tensor, self.prefill_expert)

    def is_confined(self, dimension: Dimension) -> bool:
        """Whether the groups along a dimension surely lie in one server."""
        degrees = self.all_degrees
        return degrees.ranks_together(dimension, self.block) == degrees.ranks(dimension)

    def choice(self, menus: Menus) -> dict[str, int]:
        """Number of each column of Mappings; what is absent is the workload's only (or first) choice."""
        written: dict[str, Any] = {name: getattr(self, name) for name in CHOICES}
        if self.recompute is not None:
            written["recompute"] = RECOMPUTE.index(self.recompute)
        if self.offload is not None:
            written["offload"] = offload_code(self.offload)
        if self.schedule is not None:
            written["schedule"] = SCHEDULES.index(self.schedule)
        fixed = {name: menus.get(name, (default,))[0] for name, (_, default) in CHOICES.items()}
        return {name: fixed[name] if value is None else int(value) for name, value in written.items()}

    @model_validator(mode="after")
    def _experts_divide(self) -> Self:
        if self.prefill_tensor or self.prefill_expert:
            if problem := self.all_degrees.pools_problem():
                raise ValueError(problem)
            return self
        if self.data % self.expert:
            raise ValueError(f"expert {self.expert} must divide data {self.data}")
        if self.prefill and (self.prefill >= self.data or self.prefill % self.expert):
            raise ValueError(
                f"prefill {self.prefill} must be below data {self.data}, a multiple of expert {self.expert}"
            )
        return self

    @classmethod
    def of_choice(cls, choice: Mapping[str, int], menus: Menus, **others: Any) -> Self:
        """A mapping's row as a configuration; fixed choices are left out."""
        named: dict[str, Any] = dict(choice)
        for name in ("interleave", "recompute", "zero", "sequence_parallel", "offload"):
            if len(menus.get(name, ())) <= 1:
                del named[name]
        if named.pop("schedule") != menus.get("schedule", (0,))[0]:
            named["schedule"] = SCHEDULES[choice["schedule"]]
        if "recompute" in named:
            named["recompute"] = RECOMPUTE[choice["recompute"]]
        if "offload" in named:
            named["offload"] = offload_name(choice["offload"])
        if "sequence_parallel" in named:
            named["sequence_parallel"] = bool(choice["sequence_parallel"])
        return cls(**named, **others)
