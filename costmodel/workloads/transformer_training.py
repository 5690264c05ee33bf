"""Training of dense transformers under tensor, pipeline and data parallelism."""

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
    divisors,
    kv_dim,
    layer_matrices,
    layer_parameters,
    matrix_operator,
    shape_of,
    tensor_degrees,
)

MICRO_BATCHES = (1, 2, 4, 8, 16)
"""micro-batch sizes that are listed where none is given"""
GRADIENT_BYTES = 4.0
"""gradients are accumulated in fp32"""
OPTIMIZER_BYTES = 30.0
"""traffic of Adam per owned parameter: state, gradient and parameter, read and written (fit on B200 steps)"""
LOCAL_PARAMETER_BYTES = 8.0
"""traffic per local parameter and step, and per accumulation of a gradient: read and write in fp32"""
ACTIVATION_FACTOR = 1.115
"""kept activations over the matrices' inputs: masks, norms and alignment (fit on B200 peaks, 0.6 %)"""
LOGIT_BYTES = 2.49
"""peak memory per logit (fit on B200 peaks)"""
RUNTIME_BYTES = 0.71 * 2**30
"""memory of the runtime and its communication buffers (fit on B200 peaks)"""


@dataclass(frozen=True)
class _Stage:
    """Columns of one stage of the pipeline, each of shape (C,)."""

    tensor: Floats
    pipeline: Floats
    data: Floats
    micro_batches: Floats
    sequences: Floats
    """of a micro-batch"""
    tokens: Floats
    """of a micro-batch"""
    layers: Floats
    """of the stage"""
    parameters: Floats
    """of one rank: layers of the stage and its part of the vocabulary"""


class TransformerTraining(Spec):
    """Training with Adam whose state is divided over the data ranks (ZeRO-1), and sequence parallelism.

    Attention runs as a fused kernel unless recompute is "none".
    """

    kind: Literal["transformer_training"] = "transformer_training"
    model: Model
    global_batch: int = Field(ge=1)
    """sequences per step"""
    sequence: int = Field(ge=1)
    """tokens of a sequence"""
    precision: Literal["fp32", "bf16", "fp16"] = "bf16"
    micro_batch: int | None = Field(default=None, ge=1)
    """sequences of a micro-batch; the planner chooses where it is absent"""
    recompute: Literal["none", "selective", "full"] = "selective"
    """none keeps every activation and the attention scores; selective redoes the attention core in the
    backward pass, as fused attention does; full keeps each layer's input and runs the forward pass twice"""

    @property
    def shape(self) -> TransformerShape:
        return shape_of(self.model)

    @property
    def speed_unit(self) -> str:
        return "tokens/s"

    def mappings(self, num_devices: int) -> Mappings:
        """Every (tensor, pipeline, data, micro_batch) on num_devices; none where nothing divides."""
        sizes = MICRO_BATCHES if self.micro_batch is None else (self.micro_batch,)
        rows = []
        for tensor in tensor_degrees(self.shape, num_devices):
            for pipeline in divisors(num_devices // tensor):
                if self.shape.layers % pipeline:
                    continue
                data = num_devices // (tensor * pipeline)
                rows += [(tensor, pipeline, data, b) for b in sizes if self.global_batch % (data * b) == 0]
        return Mappings.from_rows(rows)

    def op_graph(self, mappings: Mappings, device: Device) -> OpGraph:
        """One step on the last stage, which also holds the vocabulary projection.

        1F1B without interleaving; the backward pass of a matrix is two products of the forward's size.
        Source: Narayanan et al. 2021 (arXiv:2104.04473), section 2.2; Korthikanti et al. 2022
        (arXiv:2205.05198).
        """
        device.matrix_flops_per_s(self.precision)
        stage = self._stage(mappings)
        return OpGraph.from_rows(
            [*self._layer_operators(stage), *self._attention(stage), *self._stage_operators(stage)],
            self._messages(stage),
            bubble=(stage.micro_batches + stage.pipeline - 1) / stage.micro_batches,
            footprint_bytes=self._footprint_bytes(stage),
            work=float(self.global_batch * self.sequence),
            precision=self.precision,
        )

    @property
    def _element_bytes(self) -> float:
        return BYTES_OF_PRECISION[self.precision]

    def _stage(self, mappings: Mappings) -> _Stage:
        shape = self.shape
        tensor, pipeline, data, sequences = (
            column.astype(np.float64)
            for column in (mappings.tensor, mappings.pipeline, mappings.data, mappings.micro_batch)
        )
        layers = shape.layers / pipeline
        whole, one_end = shape.vocabulary_parameters, shape.vocabulary * shape.hidden
        vocabulary = np.where(pipeline == 1, whole, one_end) / tensor
        return _Stage(
            tensor=tensor,
            pipeline=pipeline,
            data=data,
            micro_batches=self.global_batch / (data * sequences),
            sequences=sequences,
            tokens=sequences * self.sequence,
            layers=layers,
            parameters=layers * layer_parameters(shape, tensor) + vocabulary,
        )

    def _layer_operators(self, stage: _Stage) -> list[Operator]:
        """Matrices and elementwise traffic of the layers; forward once or twice, backward of twice its size.

        Norms and residuals: 10 accesses of the hidden state per layer, divided over the tensor ranks
        (sequence parallelism). Activation: its inputs are read and its output is written.
        """
        shape, size = self.shape, self._element_bytes
        passes = 4 if self.recompute == "full" else 3
        count = passes * stage.micro_batches * stage.layers
        matrices = layer_matrices(shape, stage.tensor)
        rows = [
            matrix_operator(name, stage.tokens, inputs, outputs, weight_bytes=size, activation_bytes=size, count=count)
            for name, (inputs, outputs) in matrices.items()
        ]
        rank_tokens = stage.tokens / stage.tensor
        accumulated = LOCAL_PARAMETER_BYTES * layer_parameters(shape, stage.tensor)
        return [
            *rows,
            Operator("norm and residual", 0.0, 5 * size * rank_tokens * shape.hidden, 2 * count),
            Operator("activation", 0.0, (3 if shape.gated else 2) * size * rank_tokens * shape.ffn, count),
            Operator("gradient accumulation", 0.0, accumulated, stage.micro_batches * stage.layers),
        ]

    def _attention(self, stage: _Stage) -> list[Operator]:
        """Scores and values: two products forward; four backward, and a fifth that redoes the scores.

        A fused kernel skips the masked half of the scores and never writes them; otherwise the scores cross
        local memory four times in each direction. Source: Dao 2023 (arXiv:2307.08691), sections 2.3 and 3.1.
        """
        shape, size = self.shape, self._element_bytes
        is_fused = self.recompute != "none"
        scores = stage.sequences * self.sequence**2 * shape.heads / stage.tensor
        product = 2 * scores * shape.head_dim * (0.5 if is_fused and shape.causal else 1.0)
        query, keys = shape.query_dim / stage.tensor, kv_dim(shape, stage.tensor)
        kept = size * stage.tokens * (2 * query + 2 * keys)
        spilled = 0.0 if is_fused else 4 * size * scores
        count = stage.micro_batches * stage.layers
        forward_count = count * (2 if self.recompute == "full" else 1)
        return [
            Operator("attention forward", 2 * product, kept + spilled, forward_count),
            Operator("attention backward", (5 if is_fused else 4) * product, 2 * kept + spilled, count),
        ]

    def _stage_operators(self, stage: _Stage) -> list[Operator]:
        """Vocabulary and optimizer. Other stages never wait for the vocabulary, so the bubble spares it.

        Logits are read and written in fp32, forward and backward; embeddings are read, written, and their
        gradient likewise, where the first stage is also the last.
        """
        shape, size, once = self.shape, self._element_bytes, stage.micro_batches
        logits = stage.tokens * shape.vocabulary / stage.tensor
        optimizer = stage.parameters * (OPTIMIZER_BYTES / stage.data + LOCAL_PARAMETER_BYTES)
        embedded = 4 * size * stage.tokens * shape.hidden
        embeddings = np.where(stage.pipeline == 1, once, 0.0)
        return [
            matrix_operator(
                "vocabulary projection",
                stage.tokens,
                shape.hidden,
                shape.vocabulary / stage.tensor,
                weight_bytes=size,
                activation_bytes=size,
                count=3 * once,
                in_bubble=False,
            ),
            Operator("cross entropy", 0.0, 4 * 4.0 * logits, once, in_bubble=False),
            Operator("embedding", 0.0, embedded, embeddings, in_bubble=False),
            Operator("optimizer", 0.0, optimizer, 1.0, in_bubble=False),
        ]

    def _messages(self, stage: _Stage) -> list[Message]:
        """Messages of one step; a reduce-scatter with its all-gather counts as one all-reduce.

        Tensor: two all-reduces of the hidden state per layer forward and two backward, and two more where the
        forward pass runs twice. Pipeline: each rank sends its share of the hidden state and of its gradient.
        Data: gradients are reduce-scattered in fp32 and parameters gathered in the precision of training.
        Source: Shoeybi et al. 2019 (arXiv:1909.08053); Rajbhandari et al. 2020 (arXiv:1910.02054).
        """
        hidden_bytes = self._element_bytes * stage.tokens * self.shape.hidden
        once = np.where(stage.tensor > 1, stage.micro_batches, 0.0)
        per_layer = 6 if self.recompute == "full" else 4
        handed = np.where(stage.pipeline > 1, 2 * stage.micro_batches, 0.0)
        reduced = (GRADIENT_BYTES + self._element_bytes) / 2 * stage.parameters
        return [
            Message("tensor all-reduce", "tensor", hidden_bytes, per_layer * stage.layers * once),
            Message("vocabulary all-reduce", "tensor", hidden_bytes, once, in_bubble=False),
            Message("pipeline hand-over", "pipeline", hidden_bytes / stage.tensor, handed),
            Message("data all-reduce", "data", reduced, np.where(stage.data > 1, 1.0, 0.0), in_bubble=False),
        ]

    def _footprint_bytes(self, stage: _Stage) -> Floats:
        """Peak memory of the first stage (most micro-batches in flight) or the last (logits), shape (C,).

        Parameters and fp32 gradients; Adam's state (and fp32 parameters) divided over data ranks; activations
        of up to `pipeline` micro-batches. The constants are fits on peaks of B200 training steps.
        """
        size = self._element_bytes
        state = 8.0 if self.precision == "fp32" else 12.0
        fixed = stage.parameters * (size + GRADIENT_BYTES + state / stage.data) + RUNTIME_BYTES
        layer, working = self._activation_bytes(stage)
        logits = stage.tokens * self.shape.vocabulary / stage.tensor * LOGIT_BYTES * size / 2
        in_flight = np.minimum(stage.pipeline, stage.micro_batches)
        first = in_flight * stage.layers * layer + np.where(stage.pipeline == 1, logits, 0.0)
        last = stage.layers * layer + logits
        footprint_bytes: Floats = fixed + np.maximum(first, last) + working
        return footprint_bytes

    def _activation_bytes(self, stage: _Stage) -> tuple[Floats, Floats | float]:
        """Activations kept per layer and micro-batch, and those of the one layer redone; shapes (C,).

        Source: Korthikanti et al. 2022 (arXiv:2205.05198), section 4; its 34 s b h is 32 x 1.115 here.
        """
        shape, size = self.shape, self._element_bytes
        rank_tokens = stage.tokens / stage.tensor
        ffn = (3 if shape.gated else 2) * shape.ffn
        keys = 2 * kv_dim(shape, stage.tensor) * stage.tensor
        width = 4 * shape.hidden + 2 * shape.query_dim + keys + ffn
        kept = ACTIVATION_FACTOR * size * rank_tokens * width
        if self.recompute == "full":
            return size * rank_tokens * shape.hidden, kept
        if self.recompute == "none":
            scores = stage.sequences * self.sequence**2 * shape.heads / stage.tensor
            return kept + (2 * size + 1) * scores, 0.0
        return kept, 0.0
