"""Serving of transformers by replicas under tensor and expert parallelism."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from costmodel.hardware.device import BYTES_OF_PRECISION, Device, Precision, wide_precision
from costmodel.parallelism.degrees import RANK_ORDERS, RankOrder, degree_table, divisors, every_mapping
from costmodel.parallelism.mappings import Bools, Dimension, Floats, Mappings
from costmodel.pricing.opgraph import Block, Operator, OpGraph, Shapes
from costmodel.spec import Count, Degree, Spec
from costmodel.workloads.transformer.layers import LayerRun
from costmodel.workloads.transformer.shapes import (
    Model,
    TransformerShape,
    kv_dim,
    layer_parameters,
    shape_of,
    tensor_degrees,
)

_KEYS = ("tensor", "expert", "micro_batch")
"""columns on which the operators of a layer depend"""
VOCABULARY_BYTES = 2.0
"""the vocabulary's matrices stay in bf16"""
RUNTIME_BYTES = 2e9
"""memory of the runtime beside weights and KV cache (met in H100 serving)"""


@dataclass(frozen=True)
class _Pass:
    """One run through the layers: all sequences of a replica, each with some new tokens; shapes (K,)."""

    name: str
    run: LayerRun
    sequences: Floats
    context: float
    """mean number of tokens that a new token attends to"""
    kv_tokens: float
    """keys and values that a sequence reads, in tokens"""


class TransformerInference(Spec):
    """A closed loop of users: each sends a prompt and reads the answer, and the next one follows at once.

    A step is one token for every user, and with it the share of the prompts that start in a step.
    """

    kind: Literal["transformer_inference"] = "transformer_inference"
    model: Model
    precision: Precision = "bf16"
    """of the layers' weights and matrix products"""
    activation_precision: Precision = "bf16"
    """of what crosses memory and network between operators"""
    kv_precision: Precision = "bf16"
    """of the KV cache"""
    concurrency: Count
    """users served at once by the whole job"""
    input_tokens: Count
    output_tokens: Count
    expert: Degree | tuple[Degree, ...] | None = None
    """replicas among which the experts are divided; the planner chooses of a list, or where it is absent"""

    @property
    def shape(self) -> TransformerShape:
        return shape_of(self.model)

    @property
    def speed_unit(self) -> str:
        return "tokens/s"

    @property
    def phases(self) -> tuple[str, ...]:
        """In a round: prompts of all users, then all their tokens."""
        return ("prefill", "decode")

    @property
    def rounds_per_step(self) -> float:
        return 1.0 / self.output_tokens

    @property
    def divided(self) -> str:
        """What degrees of parallelism must divide, for messages."""
        return f"its {self.shape.heads} heads, with one of {self.concurrency} users at least for each replica"

    @property
    def flops_per_work(self) -> float:
        """Matrix operations of an output token, with its share of the prompt's."""
        prompt = self.shape.forward_flops(self.input_tokens * (0.5 if self.shape.causal else 1.0))
        share = self.input_tokens / self.output_tokens
        return self.shape.forward_flops(self.input_tokens + self.output_tokens / 2) + share * prompt

    def menus(self) -> dict[str, tuple[int, ...]]:
        """Numbers of each column of mappings beside the degrees."""
        if self.expert is None:
            return {"expert": tuple(divisors(self.shape.experts))}
        return {"expert": self.expert if isinstance(self.expert, tuple) else (self.expert,)}

    def mappings(self, num_devices: int) -> Mappings:
        """Every split into `data` replicas of `tensor` ranks; micro_batch is users of the fullest one."""
        degrees = degree_table(num_devices, tensor_degrees(self.shape, num_devices), (1,), 1)
        found = every_mapping(degrees, self.menus())
        users = -(-self.concurrency // found.data)
        found = replace(found, micro_batch=users.astype(found.micro_batch.dtype))
        return found.take(self.allowed(found))

    def allowed(self, m: Mappings) -> Bools:
        """Which mappings have a user for each replica and whole experts on each rank, shape (M,)."""
        divides = (self.shape.experts % m.expert.astype(np.int64) == 0) & (m.data % m.expert == 0)
        return np.asarray((m.data <= self.concurrency) & divides)

    def footprint(self, mappings: Mappings) -> tuple[Floats, Floats]:
        """Memory of one accelerator and what it keeps in a second tier, in bytes, shapes (M,)."""
        shapes = Shapes.distinct({name: getattr(mappings, name) for name in _KEYS})
        return self._footprint_bytes(shapes)[shapes.of], np.zeros(len(mappings))

    @property
    def tensor_leaves_servers(self) -> bool:
        """Whether a tensor group wider than a server is listed: its all-reduces would wait for the network."""
        return False

    @property
    def rank_orders(self) -> tuple[RankOrder, ...]:
        """Orders of the ranks among which is chosen: all, though without a pipeline they are alike."""
        return RANK_ORDERS

    def sends_halves(self, dimension: Dimension) -> bool:
        """Whether ranks only reduce-scatter and all-gather along a dimension, which no tree does."""
        return False

    def sends(self, dimension: Dimension) -> bool:
        """Whether groups of several ranks along a dimension exchange anything: replicas do not."""
        return dimension in ("tensor", "expert")

    def op_graph(self, mappings: Mappings, device: Device) -> OpGraph:
        """One decode step of all users at mean context, plus 1 / output_tokens of a prefill of all prompts.

        Assumes that prefill and decode share the device without overlap, and prompts of one batch.
        Source: Pope et al. 2022 (arXiv:2211.05102), sections 2 and 3.
        """
        device.matrix_flops_per_s(self.precision)
        shapes = Shapes.distinct({name: getattr(mappings, name) for name in _KEYS})
        context = self.input_tokens + self.output_tokens / 2
        prompt = self.input_tokens * (0.5 if self.shape.causal else 1.0)
        decode = self._pass("decode", shapes, 1.0, context, context)
        prefill = self._pass("prefill", shapes, self.input_tokens, prompt, self.input_tokens)
        none = np.zeros(len(mappings))
        return OpGraph(
            blocks=(*self._blocks(decode, shapes, 1.0), *self._blocks(prefill, shapes, 1.0 / self.output_tokens)),
            bubble=none,
            relief=none,
            footprint_bytes=self._footprint_bytes(shapes)[shapes.of],
            tier_footprint_bytes=none,
            tier_bytes=none,
            work=np.full(len(mappings), float(self.concurrency)),
            precision=self.precision,
            regime="inference",
        )

    def _pass(self, name: str, shapes: Shapes, new_tokens: float, context: float, kv_tokens: float) -> _Pass:
        tensor, expert, sequences = (shapes.columns[key] for key in _KEYS)
        tokens = sequences * new_tokens
        weight, activation = BYTES_OF_PRECISION[self.precision], BYTES_OF_PRECISION[self.activation_precision]
        run = LayerRun(self.shape, tensor, expert, tokens, tokens, weight, activation)
        return _Pass(name, run, sequences, context, kv_tokens)

    def _blocks(self, run: _Pass, shapes: Shapes, per_step: float) -> list[Block]:
        """Layers with their two all-reduces, and the vocabulary projection of one token of each sequence."""
        shape, layers, name = self.shape, run.run, run.name
        sizes = (float(shape.hidden), shape.vocabulary / layers.tensor)
        precision = wide_precision(self.precision)
        vocabulary = layers.matrix(
            "vocabulary projection", run.sequences, sizes, weight_bytes=VOCABULARY_BYTES, precision=precision
        )
        operators = [*layers.operators(), self._attention(run)]
        return [
            shapes.block(f"{name} layers", operators, layers.messages(2.0), per_step * shape.layers, phase=name),
            shapes.block(f"{name} vocabulary", [vocabulary], [], per_step, phase=name),
        ]

    def _attention(self, run: _Pass) -> Operator:
        """Fused attention of the new tokens: scores and values, KV cache read once, queries and results.

        It runs in a narrow precision only where the KV cache is in the same.
        """
        query = self.shape.query_dim / run.run.tensor
        kv_bytes = 2 * BYTES_OF_PRECISION[self.kv_precision] * kv_dim(self.shape, run.run.tensor)
        return Operator(
            "attention",
            "attention",
            4 * run.run.tokens * run.context * query,
            run.sequences * run.kv_tokens * kv_bytes + 2 * run.run.activation_bytes * run.run.tokens * query,
            precision=self.precision if self.kv_precision == self.precision else wide_precision(self.precision),
        )

    def _footprint_bytes(self, shapes: Shapes) -> Floats:
        """Weights, the KV cache of all sequences at full length, and the runtime; shape (K,)."""
        shape = self.shape
        tensor, expert, sequences = (shapes.columns[key] for key in _KEYS)
        layer = layer_parameters(shape, tensor, expert) * BYTES_OF_PRECISION[self.precision]
        vocabulary = VOCABULARY_BYTES * shape.vocabulary_parameters / tensor
        token_bytes = 2 * BYTES_OF_PRECISION[self.kv_precision] * kv_dim(shape, tensor)
        cached_tokens = sequences * (self.input_tokens + self.output_tokens)
        return shape.layers * (layer + token_bytes * cached_tokens) + vocabulary + RUNTIME_BYTES
