"""Shapes of transformers: published ones by name, and what each tensor rank holds of them."""

from functools import cache
from typing import Annotated, Any, Self

import numpy as np
from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from costmodel.catalog import documents, unknown_name
from costmodel.opgraph import Floats, Operator
from costmodel.spec import Spec

MAX_TENSOR = 32
"""widest tensor group that is listed"""


class TransformerShape(Spec):
    """Sizes of a dense transformer; biases and position embeddings are left out."""

    layers: int = Field(ge=1)
    hidden: int = Field(ge=1)
    heads: int = Field(ge=1)
    """query heads"""
    kv_heads: int = Field(ge=1)
    """heads of keys and values; fewer than `heads` in grouped-query attention"""
    head_dim: int = Field(ge=1)
    ffn: int = Field(ge=1)
    """width of the feed-forward network"""
    gated: bool = False
    """whether the feed-forward network has a gate, and so three matrices"""
    vocabulary: int = Field(ge=1)
    tied_embeddings: bool = False
    """whether the vocabulary projection reuses the embedding matrix"""
    causal: bool = True
    """whether a token attends to earlier tokens only"""
    source: str = ""
    """where the shape comes from"""

    @model_validator(mode="after")
    def _kv_heads_divide_heads(self) -> Self:
        if self.heads % self.kv_heads:
            raise ValueError(f"kv_heads ({self.kv_heads}) must divide heads ({self.heads})")
        return self

    @property
    def query_dim(self) -> int:
        return self.heads * self.head_dim

    @property
    def vocabulary_parameters(self) -> int:
        """Parameters of the embedding and, unless it is tied, of the vocabulary projection."""
        return self.vocabulary * self.hidden * (1 if self.tied_embeddings else 2)

    @property
    def num_parameters(self) -> int:
        """Parameters of matrices and norms."""
        layer = float(layer_parameters(self, np.ones(1))[0])
        return self.layers * round(layer) + self.hidden + self.vocabulary_parameters


def model_names() -> tuple[str, ...]:
    """Names of the published shapes."""
    return tuple(documents()["models"]["models"])


@cache
def load_model(name: str) -> TransformerShape:
    """A published shape; ValueError names the nearest ones where it is unknown."""
    if name not in model_names():
        raise unknown_name("model", name, model_names())
    return TransformerShape.model_validate(documents()["models"]["models"][name])


def _known_model(name: str) -> str:
    load_model(name)
    return name


def _list_models(schema: dict[str, Any]) -> None:
    schema["enum"] = list(model_names())


def _name_or_shape(value: object) -> str:
    return "name" if isinstance(value, str) else "shape"


_ModelName = Annotated[str, AfterValidator(_known_model), Field(json_schema_extra=_list_models)]
Model = Annotated[
    Annotated[_ModelName, Tag("name")] | Annotated[TransformerShape, Tag("shape")],
    Discriminator(_name_or_shape),
]
"""Name of a published shape, or a shape."""


def shape_of(model: str | TransformerShape) -> TransformerShape:
    return load_model(model) if isinstance(model, str) else model


def divisors(number: int) -> list[int]:
    return [d for d in range(1, number + 1) if number % d == 0]


def tensor_degrees(shape: TransformerShape, num_devices: int) -> list[int]:
    """Degrees of tensor parallelism: each rank has whole heads, its own K and V heads or a copy of one."""
    return [
        t
        for t in divisors(num_devices)
        if t <= MAX_TENSOR and shape.heads % t == 0 and (shape.kv_heads % t == 0 or t % shape.kv_heads == 0)
    ]


def kv_dim(shape: TransformerShape, tensor: Floats) -> Floats:
    """Width of keys (or values) on one rank, shape (C,): one head at least, copied where heads are fewer."""
    return np.maximum(shape.kv_heads / tensor, 1.0) * shape.head_dim


def layer_matrices(shape: TransformerShape, tensor: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Inputs and outputs of a layer's weight matrices on one tensor rank, each of shape (C,).

    Columns of the first matrix and rows of the second are divided, in attention and in the feed-forward
    network. Source: Shoeybi et al. 2019 (arXiv:1909.08053), section 3.
    """
    hidden = np.full(tensor.shape, float(shape.hidden))
    query, ffn = shape.query_dim / tensor, shape.ffn / tensor
    return {
        "qkv projection": (hidden, query + 2 * kv_dim(shape, tensor)),
        "attention output": (query, hidden),
        "ffn up": (hidden, (2 if shape.gated else 1) * ffn),
        "ffn down": (ffn, hidden),
    }


def layer_parameters(shape: TransformerShape, tensor: Floats) -> Floats:
    """Parameters of one layer on one tensor rank, shape (C,); the two norms are whole on each rank."""
    matrices = layer_matrices(shape, tensor).values()
    return sum((inputs * outputs for inputs, outputs in matrices), np.full(tensor.shape, 2.0 * shape.hidden))


def matrix_operator(
    name: str,
    tokens: Floats | float,
    inputs: Floats | float,
    outputs: Floats | float,
    *,
    weight_bytes: float,
    activation_bytes: float,
    count: Floats | float,
    in_bubble: bool = True,
) -> Operator:
    """Product of tokens x inputs and inputs x outputs; weight_bytes and activation_bytes are per element.

    Each of the three matrices crosses local memory once: 2 t i o operations,
    w i o + a t (i + o) bytes. Shapes broadcast to (C,).
    """
    return Operator(
        name,
        flops=2.0 * tokens * inputs * outputs,
        memory_bytes=weight_bytes * inputs * outputs + activation_bytes * tokens * (inputs + outputs),
        count=count,
        in_bubble=in_bubble,
    )
