"""A training step of a dense transformer as the same operators and tensors: what of it may leave, and when.

One device, one micro-batch; weights, gradients and optimizer state are tensors beside the activations, so that a
placement may move any of them. The vocabulary is left out, and the parameters of the embedding.
"""

from typing import Literal

import numpy as np

from costmodel.dataflow.networks.tensor_graph import Operator, Product, Tensor, TensorGraph, TensorKind
from costmodel.hardware.device import BYTES_OF_PRECISION, Precision
from costmodel.parallelism.mappings import Floats
from costmodel.workloads.transformer.blocks import GRADIENT_BYTES, OPTIMIZER_BYTES
from costmodel.workloads.transformer.shapes import TransformerShape, attention_matrices, ffn_matrices

Half = Literal["attention", "ffn"]
STATE_BYTES = {"fp32": 8.0}
"""optimizer state of a parameter: two moments, and a copy in fp32 of what is kept in fewer bits"""
MIXED_STATE_BYTES = 12.0


def transformer_step(
    shape: TransformerShape,
    micro_batch: int,
    sequence: int,
    *,
    layers: int | None = None,
    precision: Precision = "bf16",
) -> TensorGraph:
    """One step of some layers, all unless given; ValueError for a model of experts.

    Activations are those of Korthikanti et al. 2022 (arXiv:2205.05198), section 4, with attention that recomputes its
    scores. Bytes are of weights and activations in `precision`, 2 at least, and of gradients in fp32.
    """
    if not shape.is_dense:
        raise ValueError("shape: models of experts are not expressible as one step of one device; give a dense one")
    return _Step(shape, micro_batch, sequence, layers or shape.layers, precision).graph()


class _Step:
    def __init__(
        self, shape: TransformerShape, micro_batch: int, sequence: int, layers: int, precision: Precision
    ) -> None:
        self.shape, self.layers, self.precision = shape, layers, precision
        self.sequences, self.sequence, self.tokens = micro_batch, sequence, float(micro_batch * sequence)
        self.element_bytes = max(BYTES_OF_PRECISION[precision], 2.0)
        self.state_bytes = STATE_BYTES.get(precision, MIXED_STATE_BYTES)
        one = np.ones(1)
        found: dict[Half, dict[str, tuple[Floats, Floats]]] = {
            "attention": attention_matrices(shape, one),
            "ffn": ffn_matrices(shape, float(shape.ffn), one),
        }
        self.matrices = {
            half: [(float(inputs[0]), float(outputs[0])) for inputs, outputs in matrices.values()]
            for half, matrices in found.items()
        }
        self.tensors: list[Tensor] = []
        self.operators: list[Operator] = []

    def graph(self) -> TensorGraph:
        """Forward layer by layer in halves, backward in reverse, then every half's update."""
        hidden = [self._activation(f"layer {i + 1} input", self.shape.hidden) for i in range(self.layers)]
        middle = [self._activation(f"layer {i + 1} middle", self.shape.hidden) for i in range(self.layers)]
        inner = {half: [self._inner(half, i) for i in range(self.layers)] for half in self.matrices}
        state = {half: [self._parameters(half, i) for i in range(self.layers)] for half in self.matrices}
        self._embed(hidden[0])
        for i in range(self.layers):
            following = hidden[i + 1 : i + 2]
            self._forward("attention", i, state["attention"][i][0], hidden[i], (inner["attention"][i], middle[i]))
            self._forward("ffn", i, state["ffn"][i][0], middle[i], (inner["ffn"][i], *following))
        for i in reversed(range(self.layers)):
            self._backward("ffn", i, state["ffn"][i], (middle[i], inner["ffn"][i]))
            self._backward("attention", i, state["attention"][i], (hidden[i], inner["attention"][i]))
        for i in range(self.layers):
            for half in state:
                self._update(half, i, state[half][i])
        return TensorGraph(
            tuple(self.tensors), tuple(self.operators), tuple(f"layer {i + 1}" for i in range(self.layers))
        )

    def _tensor(self, name: str, kind: TensorKind, size_bytes: float) -> int:
        self.tensors.append(Tensor(name, kind, size_bytes))
        return len(self.tensors) - 1

    def _activation(self, name: str, width: float) -> int:
        return self._tensor(name, "activation", self.element_bytes * self.tokens * width)

    def _inner(self, half: Half, i: int) -> int:
        """Output of the norm, and inputs of attention and of its output matrix, or of the activation and the second
        matrix."""
        shape = self.shape
        attention = 2 * shape.query_dim + 2 * shape.kv_heads * shape.head_dim
        width = attention if half == "attention" else shape.ffn_matrices * shape.ffn
        return self._activation(f"layer {i + 1} {half}", shape.hidden + width)

    def _parameters(self, half: Half, i: int) -> tuple[int, int, int]:
        """Weights, gradients and optimizer state of a half, its norm included."""
        count = self._num_parameters(half)
        return (
            self._tensor(f"layer {i + 1} {half} weights", "weight", self.element_bytes * count),
            self._tensor(f"layer {i + 1} {half} gradients", "gradient", GRADIENT_BYTES * count),
            self._tensor(f"layer {i + 1} {half} optimizer", "optimizer", self.state_bytes * count),
        )

    def _num_parameters(self, half: Half) -> float:
        return sum(inputs * outputs for inputs, outputs in self.matrices[half]) + self.shape.hidden

    def _embed(self, hidden: int) -> None:
        """The first layer's input is the embedding."""
        width = self.element_bytes * self.tokens * self.shape.hidden
        self.operators.append(Operator("input", 0, "forward", (), (hidden,), (), width))

    def _forward(self, half: Half, i: int, weights: int, source: int, makes: tuple[int, ...]) -> None:
        needs, name = (source, weights), f"layer {i + 1} {half}"
        self.operators.append(Operator(name, i, "forward", needs, makes, self._products(half), self._traffic(half)))

    def _backward(self, half: Half, i: int, state: tuple[int, int, int], kept: tuple[int, int]) -> None:
        """Two products of the forward's size for each."""
        weights, gradients, _ = state
        needs, name = (*kept, weights), f"layer {i + 1} {half} gradient"
        products, traffic = 2 * self._products(half), 2 * self._traffic(half)
        self.operators.append(Operator(name, i, "backward", needs, (gradients,), products, traffic))

    def _update(self, half: Half, i: int, state: tuple[int, int, int]) -> None:
        weights, _, optimizer = state
        traffic = OPTIMIZER_BYTES * self._num_parameters(half)
        name = f"layer {i + 1} {half} update"
        self.operators.append(Operator(name, i, "update", state, (weights, optimizer), (), traffic))

    def _products(self, half: Half) -> tuple[Product, ...]:
        """Matrices of a half, and between the two of attention its scores and values, head by head."""
        first, last = (self._product(self.tokens, outputs, inputs) for inputs, outputs in self.matrices[half])
        if half == "ffn":
            return first, last
        heads, length, width = self.sequences * self.shape.heads, float(self.sequence), float(self.shape.head_dim)
        return first, self._product(length, length, width, heads), self._product(length, width, length, heads), last

    def _product(self, m: float, n: float, k: float, count: int = 1) -> Product:
        size = self.element_bytes * count
        return Product(m, n, k, size * m * k, size * k * n, size * m * n, count)

    def _traffic(self, half: Half) -> float:
        """Norm and residual: 5 accesses of the hidden state; activation: its inputs and its output."""
        width = 5 * self.shape.hidden + (self.shape.ffn_matrices * self.shape.ffn if half == "ffn" else 0)
        return self.element_bytes * self.tokens * width
