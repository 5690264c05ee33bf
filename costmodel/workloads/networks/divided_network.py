"""What one rank of a network's training executes, sends and holds, for each distinct way to divide it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple, Self

import numpy as np

from costmodel.dataflow.networks.node import LayerNode
from costmodel.dataflow.networks.tensor_graph import Operator as Layer
from costmodel.dataflow.networks.tensor_graph import Phase
from costmodel.dataflow.networks.training_step import Division, training_step
from costmodel.dataflow.streams.resident import leaving, page_bytes_of, resident_bytes
from costmodel.hardware.device import BYTES_OF_PRECISION, Precision
from costmodel.parallelism.mappings import Floats, Mappings
from costmodel.pricing.opgraph import Message, Operator, Shapes
from costmodel.workloads.networks.spec import NetworkTrainingSpec
from costmodel.workloads.transformer.memory import RUNTIME_BYTES

MOMENTUM_BYTES, MASTER_BYTES = 4.0, 4.0
"""of a weight, in fp32: what stochastic gradient descent with momentum keeps, and a copy of weights in fewer bits"""
MEMORIES = 2
"""that a second tier consists of at most, each with a page that stays empty"""


class LayerKernel(NamedTuple):
    """A matrix product or a pass over memory of a layer."""

    flops: float
    memory_bytes: float
    sizes: tuple[float, float, float] | None
    """m of all products together, n, k"""
    products: int


class RankWork:
    """A step of one rank, and what of it is counted once."""

    def __init__(self, nodes: tuple[LayerNode, ...], tensor: int, samples: int, precision: Precision) -> None:
        self.graph = training_step(nodes, Division("model", tensor, samples, precision))
        left = [self.graph.tensors[absence.tensor].size_bytes for absence in leaving(self.graph)]
        self.weight_bytes, self.activation_bytes = (
            sum(tensor.size_bytes for tensor in self.graph.tensors if tensor.kind == kind)
            for kind in ("weight", "activation")
        )
        self.leaving_bytes = sum(left)
        self.resident_bytes = resident_bytes(self.graph)
        self.away_bytes = _in_pages(left)

    @cached_property
    def kernels(self) -> dict[Phase, list[tuple[str, LayerKernel]]]:
        """With the name of the layer, by phase."""
        found: dict[Phase, list[tuple[str, LayerKernel]]] = {"forward": [], "backward": []}
        for layer in self.graph.operators:
            found[layer.phase] += [(layer.name, kernel) for kernel in kernels_of(layer)]
        return found

    @cached_property
    def exchanged_bytes(self) -> dict[Phase, list[float]]:
        """By the collective after each layer that has one."""
        found: dict[Phase, list[float]] = {"forward": [], "backward": []}
        for layer in self.graph.operators:
            found[layer.phase] += [layer.exchange.message_bytes] if layer.exchange else []
        return found

    def flops(self, phase: Phase) -> float:
        return sum(kernel.flops for _, kernel in self.kernels[phase])


@dataclass(frozen=True)
class DividedNetwork:
    """Of each distinct shape: samples of a replica, and ranks that share its layers; columns of shape (K,)."""

    shapes: Shapes
    steps: tuple[RankWork, ...]
    """(K,)"""
    nodes: tuple[LayerNode, ...]
    precision: Precision

    @classmethod
    def of(cls, job: NetworkTrainingSpec, mappings: Mappings) -> Self:
        shapes = Shapes.distinct({"tensor": mappings.tensor, "samples": mappings.micro_batch})
        pairs = zip(shapes.columns["tensor"].tolist(), shapes.columns["samples"].tolist(), strict=True)
        steps = tuple(step_of_rank(job, int(tensor), int(samples)) for tensor, samples in pairs)
        return cls(shapes, steps, job.nodes, job.precision)

    def operators(self, phase: Phase) -> list[Operator]:
        """Kernels of a phase; those of one size are one operator, executed so often."""
        columns = zip(*(step.kernels[phase] for step in self.steps), strict=True)
        names = dict[tuple[LayerKernel, ...], list[str]]()
        for column in columns:
            names.setdefault(tuple(kernel for _, kernel in column), []).append(column[0][0])
        return [operator_of(found[0], kernels, len(found)) for kernels, found in names.items()]

    def exchanges(self, phase: Phase) -> list[Message]:
        """What ranks that share layers gather and sum up in a phase."""
        columns = zip(*(step.exchanged_bytes[phase] for step in self.steps), strict=True)
        counts = dict[tuple[float, ...], int]()
        for sizes in columns:
            counts[sizes] = counts.get(sizes, 0) + 1
        name, part = ("outputs", 0.5) if phase == "forward" else ("input gradients", 1.0)
        several = np.where(self.shapes.columns["tensor"] > 1, part, 0.0)
        return [Message(name, "tensor", np.array(sizes), n * several) for sizes, n in counts.items()]

    @cached_property
    def weights(self) -> Floats:
        """Of one rank."""
        return self._column("weight_bytes") / BYTES_OF_PRECISION[self.precision]

    @property
    def num_weights(self) -> int:
        """Tensors of weights, whose gradients are summed one after the other."""
        return len({node.weight_name for node in self.nodes if node.is_matrix})

    @property
    def gradient_bytes(self) -> Floats:
        return self.weights * BYTES_OF_PRECISION[self.precision]

    @property
    def update_bytes(self) -> Floats:
        """Traffic of an update: gradients are read, weights in fp32 and momentum read and written, and weights in fewer
        bits written too."""
        element = BYTES_OF_PRECISION[self.precision]
        return self.weights * (element + 2 * MOMENTUM_BYTES + 2 * MASTER_BYTES + element * (element < MASTER_BYTES))

    @property
    def state_bytes(self) -> Floats:
        """Weights, gradients, momentum, and a copy of weights in fp32 where they have fewer bits."""
        element = BYTES_OF_PRECISION[self.precision]
        return self.weights * (2 * element + MOMENTUM_BYTES + MASTER_BYTES * (element < MASTER_BYTES))

    @property
    def working_bytes(self) -> Floats:
        """Inputs of the largest layer, made again or gathered, their gradients and those of its outputs, all whole; and
        the runtime."""
        most = max(2.0 * node.input_elements + node.output_elements for node in self.nodes)
        return most * self.shapes.columns["samples"] * BYTES_OF_PRECISION[self.precision] + RUNTIME_BYTES

    @cached_property
    def activation_bytes(self) -> Floats:
        """Kept from the forward to the backward pass."""
        return self._column("activation_bytes")

    @cached_property
    def leaving_bytes(self) -> Floats:
        """Of these, what may be elsewhere meanwhile."""
        return self._column("leaving_bytes")

    @cached_property
    def resident_bytes(self) -> Floats:
        """Of what leaves, the most that is in use or on its way at once."""
        return self._column("resident_bytes")

    @cached_property
    def away_bytes(self) -> Floats:
        """Of what leaves, in whole pages of memories that have some."""
        return self._column("away_bytes")

    @cached_property
    def forward_share(self) -> Floats:
        """Of the operations of a step."""
        return np.array(
            [step.flops("forward") / (step.flops("forward") + step.flops("backward")) for step in self.steps]
        )

    def _column(self, name: str) -> Floats:
        return np.array([getattr(step, name) for step in self.steps])


@dataclass(frozen=True)
class _Asked:
    """A network by its text; its layers come along."""

    text: str
    nodes: tuple[LayerNode, ...] = field(compare=False)


def step_of_rank(job: NetworkTrainingSpec, tensor: int, samples: int) -> RankWork:
    """A step of one of so many ranks that share each layer of a replica, which has so many samples."""
    text = job.model if isinstance(job.model, str) else job.model.model_dump_json()
    return _step_of_rank(_Asked(text, job.nodes), tensor, samples, job.precision)


@lru_cache(maxsize=1024)
def _step_of_rank(asked: _Asked, tensor: int, samples: int, precision: Precision) -> RankWork:
    return RankWork(asked.nodes, tensor, samples, precision)


def kernels_of(layer: Layer) -> Iterator[LayerKernel]:
    """Products of a layer, and its traffic beside them."""
    for product in layer.products:
        m, n, k, count = product.m, product.n, product.k, product.count
        moved = product.input_bytes + product.weight_bytes + product.output_bytes
        yield LayerKernel(2.0 * m * n * k * count, moved, (m * count, n, k), count)
    if layer.elementwise_bytes:
        yield LayerKernel(0.0, layer.elementwise_bytes, None, 1)


def operator_of(name: str, kernels: Sequence[LayerKernel], count: int = 1) -> Operator:
    """One kernel by shape, executed so often."""
    flops, moved = (np.array([getattr(each, column) for each in kernels]) for column in ("flops", "memory_bytes"))
    if kernels[0].sizes is None:
        return Operator(name, "elementwise", 0.0, moved, count)
    m, n, k = np.array([each.sizes for each in kernels]).T
    return Operator(name, "matrix", flops, moved, count, (m, n, k), kernels[0].products)


def _in_pages(sizes: list[float]) -> float:
    if not sizes:
        return 0.0
    page = page_bytes_of(max(sizes))
    return page * (sum(int(np.ceil(size / page)) for size in sizes) + MEMORIES)
