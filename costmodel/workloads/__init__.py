"""What a job runs; the key "kind" selects the workload."""

from typing import Annotated

from pydantic import Field

from costmodel.workloads.dlrm import Dlrm
from costmodel.workloads.transformer_inference import TransformerInference
from costmodel.workloads.transformer_training import TransformerTraining

Workload = Annotated[TransformerTraining | TransformerInference | Dlrm, Field(discriminator="kind")]

__all__ = ["Dlrm", "TransformerInference", "TransformerTraining", "Workload"]
