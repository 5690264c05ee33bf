"""One rank's training step of a plain convolutional or recurrent network, layer by layer, from its file alone."""

from dataclasses import dataclass
from math import ceil
from typing import Any

from tests.oracles.transformer import BYTES, Run, Send, Step

ACCESSES = {
    # reads of inputs and writes of outputs, forward, and the same backward
    "relu": (1, 1, 2, 1), "max_pool": (1, 1, 2, 1), "norm": (2, 1, 3, 2), "cell": (1, 3, 2, 5),
}  # fmt: skip
GATES = {"vanilla": 1, "lstm": 4, "gru": 3}
RECORDED = 0.1
"""of a kernel's launch, where it was recorded"""
RUNTIME_BYTES = 0.15 * 2**30


@dataclass(frozen=True)
class Part:
    """A layer that follows the one before it; sizes of one sample."""

    op: str
    inputs: int
    outputs: int
    product: tuple[int, int, int] | None = None
    """m, n and k"""
    gathered: int = 0
    is_shared: bool = False
    """whether its weights are those of the first product"""


def network_step(job: Any, choice: dict[str, int]) -> Step:
    parts = parts_of(job.model)
    tensor, replicas = choice["tensor"], choice["data"]
    samples, element = job.global_batch // replicas, BYTES[job.precision]
    rank = _Rank(parts, tensor, samples, element, RECORDED if job.cuda_graphs else 1.0)
    step = Step()
    step.every_stage.add(*rank.forward(), is_ahead=True)
    step.every_stage.add(*rank.backward(), is_ahead=True)
    weights = rank.weights
    update = element + 16 + (element if element < 4 else 0)
    sent = Send("data", weights * element, 1.0 if replicas > 1 else 0.0, sum(not p.is_shared for p in rank.products))
    step.every_stage.add([Run("elementwise", 0.0, weights * update, kernels=rank.launch)], [sent], is_ahead=True)
    state = weights * (2 * element + 4 + (4 if element < 4 else 0))
    largest = max(2 * part.inputs + part.outputs for part in parts)
    kept = sum(part.outputs for part in rank.products) * samples * element / tensor
    step.memory.footprint_bytes = state + kept + largest * samples * element + RUNTIME_BYTES
    return step


class _Rank:
    def __init__(self, parts: list[Part], tensor: int, samples: int, element: float, launch: float) -> None:
        self.parts, self.tensor, self.samples, self.element, self.launch = parts, tensor, samples, element, launch
        self.products = [part for part in parts if part.product]

    @property
    def weights(self) -> float:
        own = [part.product for part in self.products if not part.is_shared]
        return sum(n * k / self.tensor for product in own if product for _, n, k in [product])

    def forward(self) -> tuple[list[Run], list[Send]]:
        runs, sends = [], []
        for part in self.parts:
            runs.append(self._product(part, "forward") if part.product else self._pass(part, 0))
            if part.product:
                sends.append(self._send(part.gathered, 0.5))
        return runs, sends

    def backward(self) -> tuple[list[Run], list[Send]]:
        """What no product reads any more needs not be made again: the elementwise layers at the end, but for the inputs
        of those after them."""
        runs, sends = [], []
        last = max(i for i, part in enumerate(self.parts) if part.product)
        for i, part in enumerate(self.parts):
            if part.product is None:
                is_read = i < last or i + 1 < len(self.parts)
                runs += [self._pass(part, 0)] * is_read + [self._pass(part, 2)]
                continue
            runs.append(self._product(part, "weights"))
            if i:
                runs.append(self._product(part, "inputs"))
                before = self.parts[i - 1]
                sends.append(self._send(before.gathered or before.outputs, 1.0))
        return runs, sends

    def _pass(self, part: Part, first: int) -> Run:
        of_inputs, of_outputs = ACCESSES[part.op][first : first + 2]
        elements = of_inputs * part.inputs + of_outputs * part.outputs
        return Run("elementwise", 0.0, elements * self.samples * self.element / self.tensor, kernels=self.launch)

    def _product(self, part: Part, of: str) -> Run:
        assert part.product
        m, n, k = part.product[0] * self.samples, ceil(part.product[1] / self.tensor), part.product[2]
        moved = self.element * (part.inputs * self.samples + n * k + m * n)
        sizes = {"forward": (m, n, k), "inputs": (m, k, n), "weights": (k, n, m)}[of]
        return Run("matrix", 2 * m * n * k, moved, sizes=sizes, kernels=self.launch)

    def _send(self, elements: int, times: float) -> Send:
        return Send("tensor", elements * self.samples * self.element, times if self.tensor > 1 else 0.0)


def parts_of(model: Any) -> list[Part]:
    """Of a network whose layers follow each other, or of a recurrent layer unrolled."""
    if hasattr(model, "cell"):
        gates = GATES[model.cell] * model.hidden
        inner = model.input_widths * model.hidden
        op = "relu" if model.cell == "vanilla" else "cell"
        found = []
        for step in range(model.steps):
            found.append(Part("recurrent", inner, gates, (1, gates, inner), model.hidden, step > 0))
            found.append(Part(op, gates, model.hidden))
        return found
    channels, side, parts = model.channels, model.side, []
    for layer in model.layers:
        before = channels * side**2
        if layer.op == "linear":
            product, channels, side = (1, layer.outputs, before), layer.outputs, 1
            parts.append(Part("linear", before, channels, product, channels))
        else:
            side = (side + 2 * layer.padding - layer.kernel) // layer.stride + 1
            inner, channels = layer.kernel**2 * channels, layer.outputs or channels
            size = channels * side**2
            product = (side**2, channels, inner) if layer.op == "convolution" else None
            parts.append(Part(layer.op, before, size, product, size if product else 0))
        parts += [Part(op, channels * side**2, channels * side**2) for op in layer.then]
    return parts
