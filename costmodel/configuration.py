"""How one job runs, as written in residents and plans: degrees of parallelism and collective plans."""

from typing import Literal, Self

from pydantic import Field, model_validator

from costmodel.fabrics.base import GroupPlan
from costmodel.spec import Spec


class Collective(Spec):
    """How the groups along one dimension communicate; the fabric knows what it costs."""

    kind: Literal["none", "ring", "tree", "radix", "exchange", "line", "switched"] = "none"
    radices: tuple[int, ...] = ()
    """ranks of the complete groups of each round, first the digit that varies fastest"""
    held: tuple[int, ...] = ()
    """consecutive rounds that share one configuration of circuits"""
    wavelengths: tuple[int, ...] = ()
    """wavelengths of each circuit, one entry for each radix; a ring or a line has one"""

    @classmethod
    def of(cls, plan: GroupPlan) -> "Collective":
        held = plan.held if plan.radices else ()
        return cls(kind=plan.kind, radices=plan.radices, held=held, wavelengths=plan.wavelengths)


class Configuration(Spec):
    """Degrees of parallelism of a job: rank = (data index * pipeline + stage) * tensor + tensor index."""

    tensor: int = Field(default=1, ge=1)
    pipeline: int = Field(default=1, ge=1)
    data: int = Field(default=1, ge=1)
    micro_batch: int = Field(default=1, ge=1)
    block: int = Field(default=1, ge=1)
    """consecutive ranks that stay in one server"""
    tensor_collective: Collective = Collective()
    pipeline_collective: Collective = Collective()
    data_collective: Collective = Collective()

    @property
    def num_devices(self) -> int:
        return self.tensor * self.pipeline * self.data

    @model_validator(mode="after")
    def _divides(self) -> Self:
        if self.num_devices % self.block:
            raise ValueError(f"block {self.block} must divide the {self.num_devices} ranks")
        return self
