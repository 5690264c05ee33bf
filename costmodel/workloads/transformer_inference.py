"""Serving of dense transformers by replicas under tensor parallelism."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from costmodel.hardware import BYTES_OF_PRECISION, Device
from costmodel.opgraph import Floats, Mappings, Message, Operator, OpGraph
from costmodel.spec import Spec
from costmodel.workloads.shapes import (
    Model,
    TransformerShape,
    kv_dim,
    layer_matrices,
    layer_parameters,
    matrix_operator,
    shape_of,
    tensor_degrees,
)

ACTIVATION_BYTES = 2.0
"""activations and the vocabulary's matrices stay in bf16"""
RUNTIME_BYTES = 2e9
"""memory of the runtime beside weights and KV cache (met in H100 serving)"""


@dataclass(frozen=True)
class _Pass:
    """One run through the layers: all sequences of a replica, each with some new tokens; shapes (C,)."""

    name: str
    tensor: Floats
    sequences: Floats
    new_tokens: float
    """per sequence"""
    context: float
    """mean number of tokens that a new token attends to"""
    kv_tokens: float
    """keys and values that a sequence reads, in tokens"""
    per_step: float
    """runs per decode step"""

    @property
    def tokens(self) -> Floats:
        return self.sequences * self.new_tokens


class TransformerInference(Spec):
    """A closed loop of users: each sends a prompt and reads the answer, and the next one follows at once.

    A step is one token for every user, and with it the share of the prompts that start in a step.
    """

    kind: Literal["transformer_inference"] = "transformer_inference"
    model: Model
    precision: Literal["fp8", "bf16"] = "bf16"
    """of the layers' weights and matrix products"""
    kv_precision: Literal["fp8", "bf16"] = "bf16"
    """of the KV cache"""
    concurrency: int = Field(ge=1)
    """users served at once by the whole job"""
    input_tokens: int = Field(ge=1)
    output_tokens: int = Field(ge=1)

    @property
    def shape(self) -> TransformerShape:
        return shape_of(self.model)

    @property
    def speed_unit(self) -> str:
        return "tokens/s"

    def mappings(self, num_devices: int) -> Mappings:
        """Every split into `data` replicas of `tensor` ranks; micro_batch is users of the fullest one."""
        rows = []
        for tensor in tensor_degrees(self.shape, num_devices):
            data = num_devices // tensor
            if data <= self.concurrency:
                rows.append((tensor, 1, data, -(-self.concurrency // data)))
        return Mappings.from_rows(rows)

    def op_graph(self, mappings: Mappings, device: Device) -> OpGraph:
        """One decode step of all users at mean context, plus 1 / output_tokens of a prefill of all prompts.

        Assumes that prefill and decode share the device without overlap, and prompts of one batch.
        Source: Pope et al. 2022 (arXiv:2211.05102), sections 2 and 3.
        """
        device.matrix_flops_per_s(self.precision)
        tensor = mappings.tensor.astype(np.float64)
        sequences = mappings.micro_batch.astype(np.float64)
        context = self.input_tokens + self.output_tokens / 2
        share = 1.0 / self.output_tokens
        prompt = self.input_tokens * (0.5 if self.shape.causal else 1.0)
        passes = (
            _Pass("decode", tensor, sequences, 1.0, context, context, 1.0),
            _Pass("prefill", tensor, sequences, self.input_tokens, prompt, self.input_tokens, share),
        )
        return OpGraph.from_rows(
            [operator for each in passes for operator in self._operators(each)],
            [self._message(each) for each in passes],
            bubble=np.ones(tensor.shape),
            footprint_bytes=self._footprint_bytes(tensor, sequences),
            work=float(self.concurrency),
            precision=self.precision,
        )

    def _operators(self, run: _Pass) -> list[Operator]:
        """Matrices, attention over the KV cache, and elementwise traffic of the layers; then the vocabulary.

        Norms and residuals: 10 accesses of the hidden state per layer, whole on each rank. The vocabulary
        projection sees one token of each sequence.
        """
        shape, count = self.shape, run.per_step * self.shape.layers
        rows = [
            matrix_operator(
                f"{run.name} {name}",
                run.tokens,
                inputs,
                outputs,
                weight_bytes=BYTES_OF_PRECISION[self.precision],
                activation_bytes=ACTIVATION_BYTES,
                count=count,
            )
            for name, (inputs, outputs) in layer_matrices(shape, run.tensor).items()
        ]
        normed = 5 * ACTIVATION_BYTES * run.tokens * shape.hidden
        gated = (3 if shape.gated else 2) * ACTIVATION_BYTES * run.tokens * shape.ffn / run.tensor
        projection = matrix_operator(
            f"{run.name} vocabulary projection",
            run.sequences,
            shape.hidden,
            shape.vocabulary / run.tensor,
            weight_bytes=ACTIVATION_BYTES,
            activation_bytes=ACTIVATION_BYTES,
            count=run.per_step,
        )
        return [
            *rows,
            self._attention(run, count),
            Operator(f"{run.name} norm and residual", 0.0, normed, 2 * count),
            Operator(f"{run.name} activation", 0.0, gated, count),
            projection,
        ]

    def _attention(self, run: _Pass, count: float) -> Operator:
        """Fused attention of the new tokens: scores and values, KV cache read once, queries and results."""
        shape = self.shape
        query = shape.query_dim / run.tensor
        kv_bytes = 2 * BYTES_OF_PRECISION[self.kv_precision] * kv_dim(shape, run.tensor)
        return Operator(
            f"{run.name} attention",
            4 * run.tokens * run.context * query,
            run.sequences * run.kv_tokens * kv_bytes + 2 * ACTIVATION_BYTES * run.tokens * query,
            count,
        )

    def _message(self, run: _Pass) -> Message:
        """Two all-reduces of the hidden state per layer. Source: Shoeybi et al. 2019 (arXiv:1909.08053)."""
        hidden_bytes = ACTIVATION_BYTES * run.tokens * self.shape.hidden
        count = np.where(run.tensor > 1, 2.0 * self.shape.layers * run.per_step, 0.0)
        return Message(f"{run.name} all-reduce", "tensor", hidden_bytes, count)

    def _footprint_bytes(self, tensor: Floats, sequences: Floats) -> Floats:
        """Weights, the KV cache of all sequences at full length, and the runtime; shape (C,)."""
        shape = self.shape
        layer = layer_parameters(shape, tensor) * BYTES_OF_PRECISION[self.precision]
        vocabulary = ACTIVATION_BYTES * shape.vocabulary_parameters / tensor
        token_bytes = 2 * BYTES_OF_PRECISION[self.kv_precision] * kv_dim(shape, tensor)
        cached_tokens = sequences * (self.input_tokens + self.output_tokens)
        return shape.layers * (layer + token_bytes * cached_tokens) + vocabulary + RUNTIME_BYTES
