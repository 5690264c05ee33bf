"""One training step of a network of layers on one of several devices, by data or by the model.

Data-parallel devices share the batch and sum the gradients of weights, layer by layer and behind the computation.
Model-parallel devices share the outputs of each layer with weights: they gather these outputs forward, sum the
gradients of its inputs backward, wait for both, and keep their own share of the outputs (Krizhevsky,
arXiv:1404.5997). Gathering the other shares once more for the gradients of weights is not counted. Outputs of some
kinds of layers are kept for backward; what is between them is computed again.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from costmodel.dataflow.networks.node import ACCESSES, BACKWARD_NEEDS_INPUTS, LayerNode, Op
from costmodel.dataflow.networks.tensor_graph import Exchange, Operator, Product, Tensor, TensorGraph
from costmodel.hardware.device import BYTES_OF_PRECISION, Precision

MATRICES: frozenset[Op] = frozenset({"convolution", "linear", "recurrent"})
Parallel = Literal["data", "model"]


@dataclass(frozen=True)
class Division:
    """How a batch or a model is divided among devices."""

    parallel: Parallel
    devices: int
    batch: int
    """samples of all devices in one step"""
    precision: Precision = "fp32"

    def __post_init__(self) -> None:
        if self.parallel == "data" and self.batch % self.devices:
            raise ValueError(f"batch ({self.batch}) must be a multiple of devices ({self.devices})")

    @property
    def samples(self) -> int:
        """That one device computes with."""
        return self.batch // self.devices if self.parallel == "data" else self.batch

    @property
    def parts(self) -> int:
        """Into which the outputs of a layer are divided."""
        return self.devices if self.parallel == "model" else 1

    @property
    def sample_bytes(self) -> float:
        """Of one element of all samples of a device."""
        return self.samples * BYTES_OF_PRECISION[self.precision]


def training_step(nodes: tuple[LayerNode, ...], division: Division, saved: Collection[Op] = MATRICES) -> TensorGraph:
    """Operators and tensors of one device; outputs of layers of the kinds `saved` are kept for backward.

    Kernels of layers without weights run on the device's own share. Where outputs that are not kept are sums of
    residual blocks, a sum is made again with its shortcut at hand.
    """
    if missing := MATRICES - set(saved):
        raise ValueError(f"saved: outputs of {', '.join(sorted(missing))} are too long to make again; keep them")
    return _Step(nodes, division, saved).graph()


class _Step:
    """Builds operators in the order of execution."""

    def __init__(self, nodes: tuple[LayerNode, ...], division: Division, saved: Collection[Op]) -> None:
        self.nodes, self.division = nodes, division
        self.tensors: list[Tensor] = []
        self.operators: list[Operator] = []
        self.kept: dict[int, int] = {}
        self.weights: dict[str, int] = {}
        self.at_hand: set[int] = set()
        self.layer_of = _layers(nodes)
        self.saved = saved
        self.consumers = [0] * len(nodes)
        for node in nodes:
            for source in node.inputs:
                self.consumers[source] += 1
        self.behind_sum = [False] * len(nodes)
        for i, node in enumerate(nodes):
            if node.op not in saved:
                self.behind_sum[i] = node.op == "add" or any(self.behind_sum[j] for j in node.inputs)

    def graph(self) -> TensorGraph:
        for i in range(len(self.nodes)):
            self._forward(i)
        for i in reversed(range(len(self.nodes))):
            self._backward(i)
        names = tuple(node.name for node in self.nodes if node.is_matrix)
        return TensorGraph(tuple(self.tensors), tuple(self.operators), names)

    def _tensor(self, tensor: Tensor) -> int:
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def _weight(self, node: LayerNode) -> tuple[int, ...]:
        if not node.is_matrix:
            return ()
        if node.weight_name not in self.weights:
            size = node.weight_elements * BYTES_OF_PRECISION[self.division.precision] / self.division.parts
            self.weights[node.weight_name] = self._tensor(Tensor(f"{node.weight_name} weights", "weight", size))
        return (self.weights[node.weight_name],)

    def _forward(self, i: int) -> None:
        node, cut = self.nodes[i], self.division
        needs = (*self._weight(node), *(self.kept[j] for j in node.inputs if j in self.kept))
        makes: tuple[int, ...] = ()
        if node.op in self.saved:
            size = node.output_elements * cut.sample_bytes / cut.parts
            self.kept[i] = self._tensor(Tensor(f"{node.name} output", "activation", size))
            makes = (self.kept[i],)
        exchange = None
        if cut.parallel == "model" and node.is_matrix:
            exchange = Exchange("all_gather", node.gathered_elements * cut.sample_bytes, True)
        products = _products(node, cut)[:1] if node.is_matrix else ()
        traffic = 0.0 if node.is_matrix else self._traffic(node, backward=False)
        derived = tuple(t for t in dict.fromkeys(self._kept_behind(node)) if t not in needs)
        self.operators.append(
            Operator(node.name, self.layer_of[i], "forward", needs, makes, products, traffic, exchange, derived)
        )

    def _kept_behind(self, node: LayerNode, *, in_sum: bool = False) -> Iterator[int]:
        """Kept tensors from which the inputs of a layer can be made."""
        for source in self._remade_inputs(node, in_sum):
            if source in self.kept:
                yield self.kept[source]
            else:
                yield from self._kept_behind(self.nodes[source], in_sum=in_sum or node.op == "add")

    def _remade_inputs(self, node: LayerNode, in_sum: bool) -> tuple[int, ...]:
        """Inputs without those that are at hand: other sums, where a sum is made again."""
        if not (in_sum or node.op == "add"):
            return node.inputs
        return tuple(source for source in node.inputs if not self.behind_sum[source])

    def _traffic(self, node: LayerNode, *, backward: bool) -> float:
        assert not node.is_matrix
        accesses = ACCESSES[node.op]  # type: ignore[index]
        of_inputs = accesses.backward_inputs if backward else accesses.forward_inputs
        of_output = accesses.backward_output if backward else accesses.forward_output
        elements = of_inputs * node.input_elements + of_output * node.output_elements
        return elements * self.division.sample_bytes / self.division.parts

    def _restore(self, i: int, *, in_sum: bool = False) -> tuple[int, ...]:
        """Tensors that a reader of layer i's output needs; the output is made again first where it was not kept."""
        if i in self.kept:
            return (self.kept[i],)
        if i in self.at_hand:
            return ()
        node = self.nodes[i]
        needs: tuple[int, ...] = ()
        for source in self._remade_inputs(node, in_sum):
            needs += self._restore(source, in_sum=in_sum or node.op == "add")
        self.at_hand.add(i)
        traffic = self._traffic(node, backward=False)
        name, unique = f"{node.name} again", tuple(dict.fromkeys(needs))
        self.operators.append(Operator(name, self.layer_of[i], "backward", unique, (), (), traffic))
        return ()

    def _backward(self, i: int) -> None:
        node = self.nodes[i]
        own: tuple[int, ...] = (self.kept[i],) if i in self.kept and self.consumers[i] == 0 else ()
        if node.is_matrix:
            self._matrix_backward(i, own)
            return
        needs = own
        if node.op in BACKWARD_NEEDS_INPUTS:
            for source in node.inputs:
                needs += self._restore(source)
        traffic = self._traffic(node, backward=True) + self._summed_gradients(i)
        if traffic or needs:
            name = f"{node.name} gradient"
            self.operators.append(Operator(name, self.layer_of[i], "backward", needs, (), (), traffic))

    def _summed_gradients(self, i: int) -> float:
        """Traffic of adding the gradients of several readers: each but the first reads two and writes one."""
        node, cut = self.nodes[i], self.division
        return 3.0 * max(self.consumers[i] - 1, 0) * node.output_elements * cut.sample_bytes / cut.parts

    def _matrix_backward(self, i: int, own: tuple[int, ...]) -> None:
        """The gradient of the inputs, unless they are the network's, then that of the weights."""
        node, cut, layer = self.nodes[i], self.division, self.layer_of[i]
        _, of_inputs, of_weights = _products(node, cut)
        summed = self._summed_gradients(i)
        if node.inputs:
            exchange = None
            if cut.parallel == "model":
                gathered = sum(self.nodes[j].gathered_elements or self.nodes[j].output_elements for j in node.inputs)
                exchange = Exchange("all_reduce", gathered * cut.sample_bytes, True)
            needs = (*own, *self._weight(node))
            name = f"{node.name} input gradient"
            self.operators.append(Operator(name, layer, "backward", needs, (), (of_inputs,), summed, exchange))
            own, summed = (), 0.0
        needs = own
        for source in node.inputs:
            needs += self._restore(source)
        exchange = None
        is_last = all(other.weight_name != node.weight_name for other in self.nodes[:i] if other.is_matrix)
        if cut.parallel == "data" and is_last:
            exchange = Exchange("all_reduce", node.weight_elements * BYTES_OF_PRECISION[cut.precision], False)
        name = f"{node.name} weight gradient"
        self.operators.append(Operator(name, layer, "backward", needs, (), (of_weights,), summed, exchange))


def _layers(nodes: tuple[LayerNode, ...]) -> tuple[int, ...]:
    """Number of the last layer with weights up to each layer; those before the first count for it."""
    number, found = -1, []
    for node in nodes:
        number += node.is_matrix
        found.append(max(number, 0))
    return tuple(found)


def _products(node: LayerNode, cut: Division) -> tuple[Product, Product, Product]:
    """Forward, gradient of the inputs, gradient of the weights: m, n, k change their places.

    The inputs cross memory as they are, not unrolled into windows.
    """
    m, n, k = float(node.rows * cut.samples), float(-(-node.columns // cut.parts)), float(node.depth)
    inputs = node.input_elements * cut.sample_bytes
    outputs = m * n * node.groups * BYTES_OF_PRECISION[cut.precision]
    weights = n * k * node.groups * BYTES_OF_PRECISION[cut.precision]
    return (
        Product(m, n, k, inputs, weights, outputs, node.groups),
        Product(m, k, n, outputs, weights, inputs, node.groups),
        Product(k, n, m, inputs, outputs, weights, node.groups),
    )
