"""What a job runs; the key "kind" selects the workload."""

from typing import Annotated

from pydantic import Field

from costmodel.workloads.dlrm.dlrm import Dlrm
from costmodel.workloads.transformer.inference import TransformerInference
from costmodel.workloads.transformer.training import TransformerTraining

Workload = Annotated[TransformerTraining | TransformerInference | Dlrm, Field(discriminator="kind")]

__all__ = ["Dlrm", "TransformerInference", "TransformerTraining", "Workload"]
