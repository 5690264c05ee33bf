"""What a file says of a convolutional or recurrent network that trains."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from costmodel.dataflow.networks.convolutional import KIND, ConvolutionalNetwork, load_convolutional_network
from costmodel.dataflow.networks.node import LayerNode
from costmodel.dataflow.networks.recurrent import RecurrentLayer
from costmodel.hardware.device import Precision
from costmodel.hardware.offload import offload_code
from costmodel.hardware.parts import part_names
from costmodel.parallelism.mappings import Dimension
from costmodel.spec import Count
from costmodel.workloads.base import WorkloadBase

OFFLOADS = {offload_code(choice): choice for choice in ("none", "activations")}
"""what may live in a second tier"""
OVERLAP: dict[Dimension, float] = {"data": 0.7}
"""share that hides unless a job says otherwise: gradients beside the backward pass, as of transformers"""


def _known_network(name: str) -> str:
    load_convolutional_network(name)
    return name


def _list_networks(schema: dict[str, Any]) -> None:
    schema["enum"] = list(part_names(KIND))


def _form(value: object) -> str:
    if isinstance(value, str):
        return "name"
    is_recurrent = isinstance(value, RecurrentLayer) or (isinstance(value, dict) and "cell" in value)
    return "recurrent" if is_recurrent else "convolutional"


_Name = Annotated[str, AfterValidator(_known_network), Field(json_schema_extra=_list_networks)]
Network = Annotated[
    Annotated[_Name, Tag("name")]
    | Annotated[ConvolutionalNetwork, Tag("convolutional")]
    | Annotated[RecurrentLayer, Tag("recurrent")],
    Discriminator(_form),
]
"""Name of a published convolutional network, its layers, or a recurrent layer."""


class NetworkTrainingSpec(WorkloadBase):
    """The fields of a job, and what follows from them alone."""

    kind: Literal["network_training"] = "network_training"
    model: Network
    """a name of the catalog, layers of your own, or a recurrent layer"""
    global_batch: Count
    """samples per step"""
    precision: Precision = "fp32"
    """of matrix products, their weights, gradients and activations"""
    offload: str | tuple[str, ...] = "none"
    """what lives in the device's second memory tier: none or activations, or a list of which the planner chooses"""
    overlap: dict[Dimension, Annotated[float, Field(ge=0, le=1)]] = Field(default=OVERLAP)
    """share of the communication along a dimension that hides behind operators"""
    cuda_graphs: bool = True
    """whether kernels are recorded once and then start by themselves, as steps allow whose sizes never change"""
    limits: ClassVar[None] = None
    """on the times that users wait for tokens: there are none"""

    @model_validator(mode="after")
    def _can_offload(self) -> Self:
        choices = (self.offload,) if isinstance(self.offload, str) else self.offload
        if not choices:
            raise ValueError("offload: the list is empty; give at least one choice")
        for choice in choices:
            if choice not in OFFLOADS.values():
                raise ValueError(f"offload: '{choice}' is not one of {', '.join(OFFLOADS.values())}")
        return self

    @property
    def offload_codes(self) -> tuple[int, ...]:
        """Choices among which the planner takes one, as in `Mappings.offload`."""
        return tuple(map(offload_code, (self.offload,) if isinstance(self.offload, str) else self.offload))

    @property
    def nodes(self) -> tuple[LayerNode, ...]:
        """Layers in an order in which they can run."""
        return load_convolutional_network(self.model).nodes if isinstance(self.model, str) else self.model.nodes
