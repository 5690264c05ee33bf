"""Operators of a transformer's layers on one rank, run over some tokens; shared by training and inference."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from costmodel.hardware.device import Precision
from costmodel.parallelism.mappings import Floats
from costmodel.pricing.opgraph import Message, Operator, Routing
from costmodel.workloads.transformer.shapes import TransformerShape, attention_matrices, ffn_matrices


@dataclass(frozen=True)
class LayerRun:
    """How a rank runs a layer; columns of shape (K,)."""

    shape: TransformerShape
    tensor: Floats
    expert: Floats
    """data ranks among which the experts are divided"""
    tokens: Floats
    """that the rank's tensor group runs at once"""
    normed_tokens: Floats
    """of these, the ones that this rank norms: all, or its share under sequence parallelism"""
    weight_bytes: float
    """per element, as for the other two"""
    activation_bytes: float
    cast_bytes: float = 0.0
    """traffic of a step for each element that enters or leaves a product and becomes narrow; 0 where none does"""
    whole_experts: bool = False
    """whether tensor ranks hold whole experts, instead of a part of each"""
    dispatch_bytes: float | None = None
    """of an element that is sent to an expert; as an activation where absent"""
    copies: float | None = None
    """of a token that are sent to experts; one to each group of experts, which passes it on, where absent"""
    norm_accesses: tuple[float, ...] = (5.0,)
    """of the hidden state by each operator around attention, and around the feed-forward network: norm and residual"""

    def matrix(
        self,
        name: str,
        tokens: Floats | float,
        sizes: tuple[Floats | float, Floats | float],
        count: Floats | float = 1.0,
        *,
        weight_bytes: float | None = None,
        precision: Precision | None = None,
    ) -> Operator:
        """Product of tokens x inputs and inputs x outputs, with the weights of a layer unless others are given."""
        weight = self.weight_bytes if weight_bytes is None else weight_bytes
        return matrix_product(
            name, tokens, sizes, count, weight_bytes=weight, activation_bytes=self.activation_bytes, precision=precision
        )

    def operators(self) -> list[Operator]:
        """Matrices and elementwise traffic of one layer, forward, without the core of attention.

        Activation: its inputs are read, its output written.
        """
        shape, size = self.shape, self.activation_bytes
        rows = [self.matrix(name, self.tokens, io) for name, io in attention_matrices(shape, self.tensor).items()]
        rows += self._feed_forward()
        rows += self._casts(rows)
        hidden_bytes = size * self.normed_tokens * shape.hidden
        norms = (Operator("norm and residual", "elementwise", 0.0, n * hidden_bytes, 2.0) for n in self.norm_accesses)
        return [*rows, *norms]

    def _feed_forward(self) -> list[Operator]:
        """Of the mean layer: some have experts, the others one network."""
        shape, share = self.shape, self.shape.expert_layers
        experts = repeated(self._experts(), share) if share > 0 else []
        return experts + (repeated(self._dense(shape.ffn_of_other_layers), 1 - share) if share < 1 else [])

    def _casts(self, products: Iterable[Operator]) -> list[Operator]:
        """Narrow operands of these products, made from 16 bits: a third of the traffic of a step is forward. Those of
        experts have casts of their own."""
        if not self.cast_bytes:
            return []
        own = [(o.count, *o.sizes) for o in products if o.sizes and o.routing == "none"]
        elements = sum((count * m * (n + k) for count, m, n, k in own), np.zeros(1))
        return [Operator("casts", "elementwise", 0.0, self.cast_bytes / 3.0 * elements)]

    def _dense(self, width: float, label: str = "") -> list[Operator]:
        shape = self.shape
        rows = [
            self.matrix(label + name, self.tokens, io) for name, io in ffn_matrices(shape, width, self.tensor).items()
        ]
        activation = shape.ffn_matrices * self.activation_bytes * self.tokens * width / self.tensor
        return [*rows, Operator(f"{label}activation", "elementwise", 0.0, activation)]

    def _experts(self) -> list[Operator]:
        """Each token visits experts_per_token of them; a rank holds a share, and of these as many are visited as so
        many independent tokens choose. Dispatch and combination copy each token once. The busiest rank's get
        `expert_load` times the mean."""
        shape, size, parts = self.shape, self.activation_bytes, self._parts
        sharing = self.expert * self.tensor / parts
        held = shape.experts / sharing
        arriving = self.tokens * shape.experts_per_token * shape.expert_load * parts / self.tensor
        untouched = (1 - shape.experts_per_token / shape.experts) ** (self.tokens * self.expert)
        visited = np.maximum(held * (1 - untouched), 1.0)
        matrices = ffn_matrices(shape, shape.ffn, parts)
        rows = [
            _routed(grouped(self.matrix(f"expert {name}", arriving / visited, io), visited, held))
            for name, io in matrices.items()
        ]
        if self.cast_bytes:
            elements = arriving * sum(inputs + outputs for inputs, outputs in matrices.values())
            casts = Operator("expert casts", "elementwise", 0.0, self.cast_bytes / 3.0 * elements)
            rows.append(_routed(replace(casts, kernels=held * len(matrices))))
        activation = shape.ffn_matrices * size * arriving * shape.ffn / parts
        rows += [
            self.matrix("router", self.normed_tokens, (float(shape.hidden), float(shape.experts))),
            _routed(Operator("expert activation", "elementwise", 0.0, activation)),
            _routed(Operator("dispatch and combine", "elementwise", 0.0, 4 * size * arriving * shape.hidden)),
        ]
        return rows + (self._dense(shape.shared_ffn, "shared ") if shape.shared_ffn else [])

    @property
    def _parts(self) -> Floats:
        """Tensor ranks among which each expert is divided."""
        return np.ones_like(self.tensor) if self.whole_experts else self.tensor

    def messages(self, all_reduces: Floats | float) -> list[Message]:
        """Exchanges of one run of a layer: so many all-reduces of the hidden state over tensor ranks, of which half are
        the feed-forward network's, and the dispatch of tokens to experts and back. A reduce-scatter with its
        all-gather counts as one all-reduce."""
        shape = self.shape
        hidden_bytes = self.activation_bytes * self.tokens * shape.hidden
        shared = 1.0 if not self.whole_experts or shape.shared_ffn else 1.0 - shape.expert_layers / 2
        reduces = np.where(self.tensor > 1, shared * all_reduces, 0.0)
        rows = [Message("tensor all-reduce", "tensor", hidden_bytes, reduces)]
        if not shape.is_dense:
            there_bytes = self.activation_bytes if self.dispatch_bytes is None else self.dispatch_bytes
            size = (there_bytes + self.activation_bytes) / 2
            copies = shape.copies_between_servers if self.copies is None else self.copies
            sent = size * self.normed_tokens * copies * shape.hidden * shape.expert_load
            there_and_back = 2.0 * shape.expert_layers
            rows.append(Message("expert all-to-all", "expert", sent, np.where(self.expert > 1, there_and_back, 0.0)))
            if self.whole_experts:
                beside = np.where((self.expert == 1) & (self.tensor > 1), there_and_back / 2, 0.0)
                rows.append(Message("exchange of experts' tokens", "tensor", sent, beside))
        return rows


def matrix_product(
    name: str,
    tokens: Floats | float,
    sizes: tuple[Floats | float, Floats | float],
    count: Floats | float = 1.0,
    *,
    weight_bytes: float,
    activation_bytes: float,
    precision: Precision | None = None,
) -> Operator:
    """Product of tokens x inputs and inputs x outputs; each of the three crosses local memory once:
    2 t i o operations, w i o + a t (i + o) bytes."""
    inputs, outputs = sizes
    return Operator(
        name,
        "matrix",
        flops=2.0 * tokens * inputs * outputs,
        memory_bytes=weight_bytes * inputs * outputs + activation_bytes * tokens * (inputs + outputs),
        count=count,
        sizes=(tokens, outputs, inputs),
        precision=precision,
    )


def grouped(operator: Operator, products: Floats, kernels: Floats) -> Operator:
    """So many products of one size at once, such as those of the experts.

    Frameworks of training start a kernel for each expert that a rank holds, on several streams (GroupedLinear of
    NVIDIA's Transformer Engine); engines of inference have one for all.
    """
    assert operator.sizes is not None
    rows, columns, depth = operator.sizes
    flops, memory_bytes = operator.flops * products, operator.memory_bytes * products
    together = rows * np.asarray(products), columns, depth
    return replace(operator, flops=flops, memory_bytes=memory_bytes, sizes=together, products=products, kernels=kernels)


def _routed(operator: Operator) -> Operator:
    """In the forward pass the host waits for the number of tokens that each expert gets."""
    return replace(operator, routing="awaited")


def backward(operators: Iterable[Operator]) -> list[Operator]:
    """The backward pass of operators: a matrix has a product for the gradients of its inputs and one for those of its
    weights, both with the forward's operations and bytes; all else runs twice."""
    rows: list[Operator] = []
    for operator in operators:
        known: Routing = "none" if operator.routing == "none" else "known"
        if operator.sizes is None:
            rows.append(replace(operator, count=2.0 * operator.count, routing=known))
            continue
        tokens, outputs, inputs = operator.sizes
        products = np.asarray(operator.products)
        turned = tokens, inputs, outputs
        rows.append(replace(operator, name=f"{operator.name}, inputs", sizes=turned, routing=known))
        depth = inputs * products, outputs, tokens / products
        rows.append(replace(operator, name=f"{operator.name}, weights", sizes=depth, routing=known))
    return rows


def repeated(operators: Iterable[Operator], times: float) -> list[Operator]:
    """The same operators, so often: the backward pass of a matrix is two products of the forward's size."""
    return [replace(operator, count=times * operator.count) for operator in operators]
