"""Shapes of the training runs whose energies Ding and Diep publish, and the volumes that follow from them."""

from typing import Any

from pydantic import Field

from costmodel.hardware.device import BYTES_OF_PRECISION, Precision
from costmodel.spec import Spec
from costmodel.workloads import TransformerTraining

TEBIBYTE = 2.0**40


class PublishedRun(Spec):
    """Fields that all runs share."""

    sequence: int = Field(ge=1)
    global_batch: int = Field(ge=1)
    """sequences"""
    precision: Precision
    tebibyte: float = Field(gt=0)
    """bytes that the published tables count for one TiB: 1e12 where it was taken for a terabyte"""

    @property
    def number_bytes(self) -> float:
        return BYTES_OF_PRECISION[self.precision]

    def counted(self, volume_bytes: float, *, whole: bool = False) -> float:
        """Bytes that the tables count for a volume; all of them where `whole`."""
        return volume_bytes if whole else volume_bytes / TEBIBYTE * self.tebibyte


class Shape(Spec):
    """A transformer with as many heads as layers and a feed-forward network of four times its width."""

    name: str = Field(min_length=1)
    layers: int = Field(ge=1)
    hidden: int = Field(ge=1)

    def activation_bytes(self, run: PublishedRun) -> float:
        """One activation of each token in each layer, over the whole batch."""
        return self.layers * self.hidden * run.sequence * run.global_batch * run.number_bytes

    def job(self, run: PublishedRun, **fields: Any) -> TransformerTraining:
        """One batch as a job of the planner; a vocabulary is not published."""
        shape = {
            "layers": self.layers, "hidden": self.hidden, "heads": self.layers, "kv_heads": self.layers,
            "head_dim": round(self.hidden / self.layers), "ffn": 4 * self.hidden, "vocabulary": 1,
        }  # fmt: skip
        batch = {"global_batch": run.global_batch, "sequence": run.sequence, "precision": run.precision}
        return TransformerTraining.model_validate({"model": shape} | batch | fields)
