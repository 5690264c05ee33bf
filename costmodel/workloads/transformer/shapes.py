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
    """blocks of attention and feed-forward network"""
    hidden: Count
    """width of a token's vector between layers"""
    heads: Count
    """query heads"""
    kv_heads: Count
    """heads of keys and values; fewer than `heads` in grouped-query attention"""
    head_dim: Count
    """of queries, keys and values; in latent attention without the part that carries positions"""
    query_rank: int = Field(default=0, ge=0)
    """width to which queries are compressed first; 0 where they are not"""
    kv_rank: int = Field(default=0, ge=0)
    """width of the one latent of a token from which all keys and values are made, and which the cache holds instead
    of them (multi-head latent attention, arXiv:2405.04434, section 2.1); 0 where they are projected at once"""
    rope_dim: int = Field(default=0, ge=0)
    """of each query, and of one key that all heads share: what carries positions beside a latent"""
    ffn: Count
    """width of the feed-forward network, or of one expert"""
    experts: Count = 1
    """feed-forward networks among which a router chooses; 1 is a dense model"""
    experts_per_token: Count = 1
    """experts that each token visits"""
    shared_ffn: int = Field(default=0, ge=0)
    """width of the expert that every token visits beside the chosen ones; 0 where there is none"""
    dense_layers: int = Field(default=0, ge=0)
    """layers that have one feed-forward network instead of experts"""
    dense_ffn: int = Field(default=0, ge=0)
    """width of that network"""
    expert_groups: Count = 1
    """groups of experts, of which each token visits `groups_per_token` at most: it is sent there once"""
    groups_per_token: Count = 1
    """most groups of experts that a token visits"""
    expert_load: float = Field(default=1.0, ge=1)
    """tokens that the busiest rank's experts get, over the mean of all ranks; 1 where a router keeps the load even"""
    gated: bool = False
    """whether the feed-forward network has a gate, and so three matrices"""
    vocabulary: Count
    """tokens that the model knows"""
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
        if self.is_dense and (self.shared_ffn or self.dense_layers):
            raise ValueError("shared_ffn and dense_layers need experts beside them; widen ffn instead")
        if self.dense_layers >= self.layers or bool(self.dense_layers) != bool(self.dense_ffn):
            raise ValueError(f"dense_layers: {self.dense_layers} of {self.layers} layers need a dense_ffn, and others")
        if self.experts % self.expert_groups or self.groups_per_token > self.expert_groups:
            raise ValueError(f"expert_groups ({self.expert_groups}) must divide experts, and hold groups_per_token")
        if (self.query_rank or self.rope_dim) and not self.kv_rank:
            raise ValueError("query_rank and rope_dim belong to latent attention; give kv_rank too")
        return self

    @property
    def label(self) -> str:
        """The shape in a few words."""
        return f"{self.layers} layers, hidden {self.hidden}"

    @property
    def is_dense(self) -> bool:
        return self.experts == 1

    @property
    def copies_between_servers(self) -> int:
        """Of a token on its way to its experts in other servers: one to each group of experts, which passes it on."""
        return min(self.groups_per_token, self.experts_per_token) if self.expert_groups > 1 else self.experts_per_token

    @property
    def copies_inside(self) -> float:
        """The same in one server, over those between servers: one to each of its experts."""
        return self.experts_per_token / self.copies_between_servers

    @property
    def ffn_matrices(self) -> int:
        """Matrices of a feed-forward network: a gate makes a third."""
        return 3 if self.gated else 2

    @property
    def query_dim(self) -> int:
        """Width of what attention returns."""
        return self.heads * self.head_dim

    @property
    def core_dim(self) -> float:
        """Mean width of a head in the two products of attention, scores and values."""
        return self.head_dim + self.rope_dim / 2

    @property
    def expert_layers(self) -> float:
        """Share of the layers that have experts; of a dense model none."""
        return 0.0 if self.is_dense else 1.0 - self.dense_layers / self.layers

    @property
    def ffn_of_other_layers(self) -> int:
        """Width of the network of layers without experts."""
        return self.ffn if self.is_dense else self.dense_ffn

    @property
    def vocabulary_parameters(self) -> int:
        """Parameters of the embedding and, unless it is tied, of the vocabulary projection."""
        return self.vocabulary * self.hidden * (1 if self.tied_embeddings else 2)

    def forward_flops(self, context: float) -> float:
        """Matrix operations of one token's forward pass that attends to so many tokens, vocabulary included."""
        visited = self.experts_per_token * self.ffn + self.shared_ffn
        ffn = self.expert_layers * visited + (1 - self.expert_layers) * self.ffn_of_other_layers
        router = self.expert_layers * self.experts
        attention = sum(float(np.sum(i * o)) for i, o in attention_matrices(self, np.ones(1)).values())
        matrices = attention + self.hidden * (self.ffn_matrices * ffn + router)
        core = 2 * context * self.heads * self.core_dim
        return 2.0 * (self.layers * (matrices + core) + self.vocabulary * self.hidden)

    @property
    def num_parameters(self) -> int:
        """Parameters of matrices and norms."""
        layer = float(layer_parameters(self, np.ones(1))[0])
        return round(self.layers * layer) + self.hidden + self.vocabulary_parameters

    @property
    def num_active_parameters(self) -> int:
        """Of these, the ones that one token meets."""
        idle = (self.experts - self.experts_per_token) * self.ffn * self.expert_layers
        return self.num_parameters - round(self.layers * self.ffn_matrices * self.hidden * idle)


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


def tensor_degrees(shape: TransformerShape) -> list[int]:
    """Degrees of tensor parallelism: each rank has whole heads, its own K and V heads or a copy of one."""
    return [
        t
        for t in range(1, MAX_TENSOR + 1)
        if shape.heads % t == 0 and (shape.kv_heads % t == 0 or t % shape.kv_heads == 0)
    ]


def kv_dim(shape: TransformerShape, tensor: Floats | float) -> Floats:
    """Half of what a token leaves in the cache of one rank in a layer, in elements, shape (K,): the width of its keys,
    one head at least, copied where heads are fewer; or half of the latent, which every rank holds whole."""
    if shape.kv_rank:
        return np.full(np.shape(tensor), (shape.kv_rank + shape.rope_dim) / 2)
    return np.maximum(shape.kv_heads / tensor, 1.0) * shape.head_dim


def key_dim(shape: TransformerShape, tensor: Floats | float) -> Floats:
    """Mean width of keys and values on one rank as training computes them, shape (K,): made from the latent."""
    return np.maximum(shape.kv_heads / tensor, 1.0) * shape.core_dim


def attention_core(
    shape: TransformerShape, tensor: Floats | float, *, is_cached: bool
) -> tuple[Floats | float, Floats, float]:
    """Query heads, heads of keys and values, and width of a head of a kernel with the work and the traffic of the core
    of attention on one rank.

    Over a cache of latents each head multiplies these themselves: scores over kv_rank + rope_dim, values over kv_rank
    (the matrices that make keys and values are absorbed into those of queries and results, as many operations).
    """
    if shape.kv_rank and is_cached:
        width = shape.kv_rank + shape.rope_dim / 2
        return shape.heads / tensor, kv_dim(shape, tensor) / width, width
    return shape.heads / tensor, np.maximum(shape.kv_heads / tensor, 1.0), shape.core_dim


def attention_matrices(shape: TransformerShape, tensor: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Inputs and outputs of attention's weight matrices on one tensor rank, each of shape (K,).

    Columns of the first matrix and rows of the second are divided, here and in the feed-forward network.
    Source: Shoeybi et al. 2019 (arXiv:1909.08053), section 3.
    """
    hidden = np.full(tensor.shape, float(shape.hidden))
    query = shape.query_dim / tensor
    if shape.kv_rank:
        return _latent_matrices(shape, tensor, hidden)
    return {
        "qkv projection": (hidden, query + 2 * kv_dim(shape, tensor)),
        "attention output": (query, hidden),
    }


def _latent_matrices(shape: TransformerShape, tensor: Floats, hidden: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Those of latent attention: every rank compresses whole, and makes queries, keys and values of its own heads."""
    heads, one = shape.heads / tensor, np.ones(tensor.shape)
    queries = heads * (shape.head_dim + shape.rope_dim)
    compressed = (shape.query_rank + shape.kv_rank + shape.rope_dim) * one
    into_queries = shape.query_rank * one if shape.query_rank else hidden
    return {
        "latent projection": (hidden, compressed),
        "query projection": (into_queries, queries),
        "key and value projection": (shape.kv_rank * one, heads * 2 * shape.head_dim),
        "attention output": (heads * shape.head_dim, hidden),
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
    width = shape.expert_layers * shape.experts * shape.ffn / np.asarray(expert, np.float64)
    return np.asarray(shape.ffn_matrices * shape.hidden * width / tensor)


def layer_parameters(shape: TransformerShape, tensor: Floats, expert: Floats | float = 1.0) -> Floats:
    """Parameters of one layer on one rank, the mean of all layers, shape (K,); norms and router are whole on each."""
    attention = sum(inputs * outputs for inputs, outputs in attention_matrices(shape, tensor).values())
    width = shape.expert_layers * shape.shared_ffn + (1 - shape.expert_layers) * shape.ffn_of_other_layers
    others = shape.ffn_matrices * shape.hidden * width / tensor
    router = shape.expert_layers * shape.experts * shape.hidden
    norms = 2.0 * shape.hidden + shape.query_rank + shape.kv_rank
    return np.asarray(attention + expert_parameters(shape, tensor, expert) + others + norms + router)


@cache
def model_name(shape: TransformerShape) -> str:
    """Name of a shape in the catalog; "" where it has none."""
    return next((name for name in model_names() if load_model(name) == shape), "")
