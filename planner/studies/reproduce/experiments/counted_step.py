"""A transformer's step counted kernel by kernel: each reads its inputs and weights and writes its outputs.

The counting of Calculon (Isaev et al., SC 2023), which SiPAM evaluates with: query, key and value are three products,
attention is not fused and writes its scores, dropout has a mask of one byte an element, the vocabulary is left out.
A product's backward pass is two products of its size; Adam reads its state once a step. Tensor ranks divide every
kernel, the traffic of their exchanges is left out.
"""

from dataclasses import dataclass, fields
from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from costmodel.hardware.device import BYTES_OF_PRECISION
from costmodel.memory_pool.demand import Demands
from costmodel.parallelism.degrees import degree_table
from costmodel.parallelism.mappings import Floats, Mappings
from costmodel.spec import Spec
from costmodel.workloads.transformer.shapes import Model, TransformerShape, shape_of, tensor_degrees

ELEMENT_BYTES = BYTES_OF_PRECISION["fp16"]
"""of weights, activations and their gradients"""
STATE_BYTES = 12.0
"""of Adam per parameter: master copy and two moments in fp32"""
STATE_FLOPS = 11.0
"""of Adam per parameter"""
MASK_BYTES = 1.0
"""of dropout, per element"""


@dataclass(frozen=True)
class Kernel:
    """One kernel of a layer on one rank, or several of its size; columns of shape (M,)."""

    flops: Floats
    memory_bytes: Floats
    back_flops: Floats
    back_bytes: Floats
    kept_bytes: Floats
    """input that the backward pass needs; 0 where another kernel keeps the same"""
    gradient_bytes: Floats
    """gradient of the output"""
    launches: Floats
    back_launches: Floats

    def __add__(self, other: "Kernel") -> "Kernel":
        return Kernel(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def times(self, count: float) -> "Kernel":
        return Kernel(*(getattr(self, f.name) * count for f in fields(self)))


def matrix(tokens: Floats, inputs: Floats, outputs: Floats, *, keeps: bool = True) -> Kernel:
    """Product with a weight: 2 t i o operations forward, for inputs' gradients, and for the weight's."""
    flops = 2 * tokens * inputs * outputs
    moved = ELEMENT_BYTES * (tokens * (inputs + outputs) + inputs * outputs)
    kept = ELEMENT_BYTES * tokens * inputs * keeps
    return Kernel(flops, moved, 2 * flops, 2 * moved, kept, ELEMENT_BYTES * tokens * outputs, *_launches(flops, 2))


def product(flops: Floats, inputs: Floats, outputs: Floats) -> Kernel:
    """Product of two activations of so many elements in all; one kernel makes both gradients."""
    kept, gradient = ELEMENT_BYTES * inputs, ELEMENT_BYTES * outputs
    return Kernel(flops, kept + gradient, 2 * flops, kept + gradient, kept, gradient, *_launches(flops, 1))


def elementwise(elements: Floats, flops: float, back_flops: float, *, reads: float = 1.0) -> Kernel:
    """So many operations an element; backward moves as much as forward. A sum of two inputs keeps neither."""
    each = ELEMENT_BYTES * elements
    moved, kept = (reads + 1) * each, each * (reads == 1.0)
    return Kernel(flops * elements, moved, back_flops * elements, moved, kept, each, *_launches(elements, 1))


def dropout(elements: Floats) -> Kernel:
    """Its input is not kept, its mask is."""
    each, mask = ELEMENT_BYTES * elements, MASK_BYTES * elements
    return Kernel(elements, 2 * each + mask, elements, 2 * each + mask, mask, each, *_launches(elements, 1))


def norm(elements: Floats, hidden: float) -> Kernel:
    """9 operations an element forward, 14 for inputs' gradients and 7 for the weights'."""
    moved = ELEMENT_BYTES * (2 * elements + 2 * hidden)
    each = ELEMENT_BYTES * elements
    return Kernel(9 * elements, moved, 21 * elements, 2 * moved, each, each, *_launches(elements, 2))


def fork(elements: Floats, users: int) -> Kernel:
    """Free forward; backward sums the gradients of all users of one activation."""
    none = np.zeros_like(elements)
    return Kernel(none, none, users * elements, ELEMENT_BYTES * (users + 1) * elements, none, none, none, none + 1)


def _launches(like: Floats, back: int) -> tuple[Floats, Floats]:
    return np.ones_like(like), np.full_like(like, float(back))


def layer(shape: TransformerShape, sequences: Floats, sequence: int, tensor: Floats) -> Kernel:
    """All kernels of one layer on one of `tensor` ranks; norms, residuals and their dropout are divided too."""
    tokens = sequences * sequence
    hidden = np.full_like(tensor, float(shape.hidden))
    query, width = shape.query_dim / tensor, shape.ffn / tensor
    whole, split = tokens * hidden, tokens * hidden / tensor
    scores = sequences * float(sequence) ** 2 * shape.heads / tensor
    flops = 2 * tokens * sequence * query
    attention = (
        fork(whole, 3)
        + matrix(tokens, hidden, query)
        + matrix(tokens, hidden, query, keeps=False).times(2)
        + product(flops, 2 * tokens * query, scores)
        + elementwise(scores, 5, 8)
        + dropout(scores)
        + product(flops, tokens * query + scores, tokens * query)
        + matrix(tokens, query, hidden)
    )
    network = matrix(tokens, hidden, width) + elementwise(tokens * width, 8, 13) + matrix(tokens, width, hidden)
    around = fork(split, 2) + norm(split, shape.hidden) + dropout(split) + elementwise(split, 1, 2, reads=2.0)
    return attention + network + around.times(2)


def layer_parameters(shape: TransformerShape, tensor: Floats) -> Floats:
    """Of matrices and norms on one rank, shape (M,)."""
    matrices = shape.hidden * (4 * shape.query_dim + 2 * shape.ffn)
    return np.asarray(matrices / tensor + 4.0 * shape.hidden)


class CountedStep(Spec):
    """One step of training, or the forward pass of a batch of prompts; a `Demand`."""

    model: Model
    phase: Literal["training", "inference"]
    sequence: int = Field(ge=1)
    """tokens of a sequence"""
    global_batch: int = Field(ge=1)
    """sequences of a step"""
    micro_batch: int = Field(ge=1)

    @model_validator(mode="after")
    def _is_counted(self) -> Self:
        shape = self.shape
        if not shape.is_dense or shape.gated or shape.kv_heads != shape.heads:
            raise ValueError(
                "model: only transformers without experts, gates and shared key heads are counted; "
                "price others by the workloads of an instance"
            )
        if self.global_batch % self.micro_batch:
            raise ValueError(f"micro_batch: {self.micro_batch} does not divide the batch of {self.global_batch}")
        return self

    @property
    def shape(self) -> TransformerShape:
        return shape_of(self.model)

    @property
    def is_training(self) -> bool:
        return self.phase == "training"

    def mappings(self, num_devices: int) -> Mappings:
        """Every split into tensor ranks, stages of whole layers, and replicas with whole micro-batches."""
        shape = self.shape
        table = degree_table([num_devices], tensor_degrees(shape), (1,), shape.layers)
        found = Mappings.of(**table, micro_batch=np.full(len(table["tensor"]), self.micro_batch))
        divides = (self.global_batch % (found.data * self.micro_batch) == 0) & (shape.layers % found.pipeline == 0)
        return found.take(divides)

    def demands(self, mappings: Mappings) -> Demands:
        """Weights, kept activations of the micro-batches in flight, gradients and optimizer state are the footprint;
        gradients of activations of one layer; in inference, weights and the activations of one layer."""
        tensor, pipeline = mappings.tensor.astype(np.float64), mappings.pipeline.astype(np.float64)
        each = layer(self.shape, mappings.micro_batch.astype(np.float64), self.sequence, tensor)
        layers = self.shape.layers / pipeline
        micro_batches = self.global_batch / (mappings.data * mappings.micro_batch.astype(np.float64))
        times = layers * micro_batches
        parameters = layers * layer_parameters(self.shape, tensor)
        flops, moved, launches = times * each.flops, times * each.memory_bytes, times * each.launches
        footprint = ELEMENT_BYTES * parameters + each.kept_bytes
        if self.is_training:
            flops = flops + times * each.back_flops + STATE_FLOPS * parameters
            moved = moved + times * each.back_bytes + STATE_BYTES * parameters
            launches = launches + times * each.back_launches + layers
            in_flight = layers * np.minimum(pipeline, micro_batches)
            footprint = (2 * ELEMENT_BYTES + STATE_BYTES) * parameters + in_flight * each.kept_bytes
            footprint = footprint + each.gradient_bytes
        return Demands(mappings, flops, moved, footprint, launches, (pipeline - 1) / micro_batches)
