"""Recurrent layers unrolled over time: one product for all gates and one cell for each step."""

from typing import Literal

from pydantic import Field

from costmodel.dataflow.networks.node import LayerNode
from costmodel.spec import Spec
from costmodel.wording import counted

GATES = {"vanilla": 1, "lstm": 4, "gru": 3}
"""products of the old output, by cell"""


class RecurrentLayer(Spec):
    """One recurrent layer; all its steps share the weights."""

    cell: Literal["vanilla", "lstm", "gru"]
    """how a step makes its output: of one product, or gated by four or three"""
    hidden: int = Field(ge=1)
    """features of the state"""
    steps: int = Field(ge=1)
    """of the sequence"""
    input_widths: int = Field(default=1, ge=1)
    """inner size of the product in widths of the layer: 1 is the old output alone, 2 is it beside a new input"""

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.cell} of {self.hidden:,}, {counted(self.steps, 'step')}"

    @property
    def nodes(self) -> tuple[LayerNode, ...]:
        """The product of each step, then its cell; the first step starts from a state of the network's input."""
        return tuple(node for step in range(self.steps) for node in self._step(step))

    def _step(self, step: int) -> tuple[LayerNode, LayerNode]:
        gates, depth = GATES[self.cell] * self.hidden, self.input_widths * self.hidden
        before = (2 * step - 1,) if step else ()
        product = LayerNode(
            f"step {step + 1}", "recurrent", before, depth, gates, rows=1, columns=gates, depth=depth,
            weight_name="recurrent", gathered_elements=self.hidden,
        )  # fmt: skip
        op: Literal["relu", "cell"] = "relu" if self.cell == "vanilla" else "cell"
        return product, LayerNode(f"step {step + 1} {op}", op, (2 * step,), gates, self.hidden)
