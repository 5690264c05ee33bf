"""What a file says of a deep learning recommendation model that trains or serves."""

from functools import cache
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from costmodel.hardware.device import BYTES_OF_PRECISION, Precision
from costmodel.hardware.offload import share_codes
from costmodel.spec import Count
from costmodel.workloads.base import WorkloadBase
from costmodel.workloads.dlrm.recommenders import DlrmShape, Recommender, load_recommender


class DlrmSpec(WorkloadBase):
    """The fields of a job, and the numbers that follow from them alone."""

    kind: Literal["dlrm"] = "dlrm"
    mode: Literal["training", "inference"]
    """training, or inference: answers alone"""
    model: Recommender
    """a name of the catalog, or a shape of your own"""
    batch: Count
    """samples of a step"""
    precision: Precision = "bf16"
    """of matrix products, their weights and activations"""
    table_precision: Precision = "fp32"
    """of the rows of tables"""
    pooled_precision: Precision | None = None
    """of pooled rows in memory and on the network; as the tables where absent"""
    offload: str | tuple[str, ...] = Field(default="none", exclude_if=lambda choice: choice == "none")
    """share of the rows that each rank keeps in the device's second memory tier, in steps of 12.5 %, such as
    tables 25 %; of tables without a share each is a choice"""
    limits: ClassVar[None] = None
    """on the times that users wait for tokens: there are none"""

    @model_validator(mode="after")
    def _can_offload(self) -> Self:
        if not self.offload_codes:
            raise ValueError("offload: the list is empty; give at least one choice")
        return self

    @property
    def offload_codes(self) -> tuple[int, ...]:
        """Choices among which the planner takes one, as in `Mappings.offload`."""
        return _codes(self.offload)

    @property
    def shape(self) -> DlrmShape:
        return load_recommender(self.model) if isinstance(self.model, str) else self.model

    @property
    def row_bytes(self) -> float:
        """Of a row in its table."""
        return self.shape.dimension * BYTES_OF_PRECISION[self.table_precision]

    @property
    def pooled_bytes(self) -> float:
        """Of the pooled rows of one sample, all tables together."""
        precision = self.pooled_precision or self.table_precision
        return self.shape.num_tables * self.shape.dimension * BYTES_OF_PRECISION[precision]


@cache
def _codes(offload: str | tuple[str, ...]) -> tuple[int, ...]:
    return share_codes((offload,) if isinstance(offload, str) else offload, ("tables",))
