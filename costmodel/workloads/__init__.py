"""What a job runs; the key "kind" selects the workload."""

from typing import Annotated

from pydantic import Field, WrapValidator

from costmodel.workloads.dlrm.dlrm import Dlrm
from costmodel.workloads.networks.network_training import NetworkTraining
from costmodel.workloads.shared import shared
from costmodel.workloads.transformer.inference import TransformerInference
from costmodel.workloads.transformer.training import TransformerTraining

Known = TransformerTraining | TransformerInference | Dlrm | NetworkTraining
Workload = Annotated[Known, Field(discriminator="kind"), WrapValidator(shared)]

__all__ = ["Dlrm", "NetworkTraining", "TransformerInference", "TransformerTraining", "Workload"]
