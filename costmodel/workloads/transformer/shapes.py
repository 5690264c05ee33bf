"""Shapes of transformers: published ones by name, and what each tensor rank holds of them."""

from functools import cache
from typing import Annotated, Any, Self

import numpy as np
from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from costmodel.catalog import documents, unknown_name
from costmodel.parallelism.mappings import Floats
from costmodel.spec import Count, Spec

MAX_TENSOR = 32
"""widest tensor group that is listed"""


class TransformerShape(Spec):
    """Sizes of a transformer, dense or of experts; biases and position embeddings are left out."""

    layers: Count
    hidden: Count
    heads: Count
    """query heads"""
    kv_heads: Count
    """heads of keys and values; fewer than `heads` in grouped-query attention"""
    head_dim: Count
    ffn: Count
    """width of the feed-forward network, or of one expert"""
    experts: Count = 1
    """feed-forward networks among which a router chooses; 1 is a dense model"""
    experts_per_token: Count = 1
    """experts that each token visits"""
    shared_ffn: int = Field(default=0, ge=0)
    """width of the expert that every token visits beside the chosen ones; 0 where there is none"""
    gated: bool = False
    """whether the feed-forward network has a gate, and so three matrices"""
    vocabulary: Count
    tied_embeddings: bool = False
    """whether the vocabulary projection reuses the embedding matrix"""
    causal: bool = True
    """whether a token attends to earlier tokens only"""
    source: str = ""
    """where the shape comes from"""
    aliases: tuple[str, ...] = ()
    """other names of the model"""

    @model_validator(mode="after")
    def _kv_heads_divide_heads(self) -> Self:
        if self.heads % self.kv_heads:
            raise ValueError(f"kv_heads ({self.kv_heads}) must divide heads ({self.heads})")
        if self.experts_per_token > self.experts:
            raise ValueError(f"experts_per_token ({self.experts_per_token}) must not exceed experts ({self.experts})")
        if self.is_dense and self.shared_ffn:
            raise ValueError(f"shared_ffn ({self.shared_ffn}) needs experts beside it; widen ffn instead")
        return self

    @property
    def label(self) -> str:
        """The shape in a few words."""
        return f"{self.layers} layers, hidden {self.hidden}"

    @property
    def is_dense(self) -> bool:
        return self.experts == 1

    @property
    def ffn_matrices(self) -> int:
        """Matrices of a feed-forward network: a gate makes a third."""
        return 3 if self.gated else 2

    @property
    def query_dim(self) -> int:
        return self.heads * self.head_dim

    @property
    def vocabulary_parameters(self) -> int:
        """Parameters of the embedding and, unless it is tied, of the vocabulary projection."""
        return self.vocabulary * self.hidden * (1 if self.tied_embeddings else 2)

    def forward_flops(self, context: float) -> float:
        """Matrix operations of one token's forward pass that attends to so many tokens, vocabulary included."""
        ffn = self.experts_per_token * self.ffn + self.shared_ffn
        router = 0 if self.is_dense else self.experts
        attention = 2 * self.query_dim + 2 * self.kv_heads * self.head_dim
        matrices = self.hidden * (attention + self.ffn_matrices * ffn + router)
        core = 2 * context * self.query_dim
        return 2.0 * (self.layers * (matrices + core) + self.vocabulary * self.hidden)

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
    """A published shape by its name or an alias, whatever the case; ValueError names the nearest ones.

    What says how the weights were tuned is no part of the shape: "-instruct", "-chat" and "-base" may follow.
    """
    plain = name.lower()
    for suffix in ("-instruct", "-chat", "-base"):
        if plain not in model_names():
            plain = plain.removesuffix(suffix)
    for known, content in documents()["models"]["models"].items():
        if plain == known or plain in content.get("aliases", ()):
            return TransformerShape.model_validate(content)
    raise unknown_name("model", name, model_names())


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


def tensor_degrees(shape: TransformerShape, num_devices: int) -> list[int]:
    """Degrees of tensor parallelism: each rank has whole heads, its own K and V heads or a copy of one."""
    return [
        t
        for t in range(1, MAX_TENSOR + 1)
        if num_devices % t == 0 and shape.heads % t == 0 and (shape.kv_heads % t == 0 or t % shape.kv_heads == 0)
    ]


def kv_dim(shape: TransformerShape, tensor: Floats | float) -> Floats:
    """Width of keys (or values) on one rank, shape (K,): one head at least, copied where heads are fewer."""
    return np.maximum(shape.kv_heads / tensor, 1.0) * shape.head_dim


def attention_matrices(shape: TransformerShape, tensor: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Inputs and outputs of attention's weight matrices on one tensor rank, each of shape (K,).

    Columns of the first matrix and rows of the second are divided, here and in the feed-forward network.
    Source: Shoeybi et al. 2019 (arXiv:1909.08053), section 3.
    """
    hidden = np.full(tensor.shape, float(shape.hidden))
    query = shape.query_dim / tensor
    return {
        "qkv projection": (hidden, query + 2 * kv_dim(shape, tensor)),
        "attention output": (query, hidden),
    }


def ffn_matrices(shape: TransformerShape, width: float, tensor: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Inputs and outputs of a feed-forward network's matrices on one tensor rank, each of shape (K,)."""
    hidden = np.full(tensor.shape, float(shape.hidden))
    return {
        "ffn up": (hidden, (2 if shape.gated else 1) * width / tensor),
        "ffn down": (width / tensor, hidden),
    }


def expert_parameters(shape: TransformerShape, tensor: Floats, expert: Floats | float = 1.0) -> Floats:
    """Of layer_parameters, those of one rank's experts, which only every `expert`-th data rank shares; shape (K,)."""
    width = 0.0 if shape.is_dense else shape.experts * shape.ffn / np.asarray(expert, np.float64)
    return np.asarray(shape.ffn_matrices * shape.hidden * width / tensor)


def layer_parameters(shape: TransformerShape, tensor: Floats, expert: Floats | float = 1.0) -> Floats:
    """Parameters of one layer on one rank, shape (K,); norms and router are whole on each rank."""
    attention = sum(inputs * outputs for inputs, outputs in attention_matrices(shape, tensor).values())
    width = shape.experts * shape.ffn / np.asarray(expert, np.float64) + shape.shared_ffn
    router = 0 if shape.is_dense else shape.experts * shape.hidden
    total: Floats = attention + shape.ffn_matrices * shape.hidden * width / tensor + 2.0 * shape.hidden + router
    return total
