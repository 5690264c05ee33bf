"""One layer of a network as the cost model sees it: sizes for one sample, whatever the kind of network."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

MatrixOp = Literal["convolution", "linear", "recurrent"]
ElementwiseOp = Literal["relu", "norm", "local_norm", "max_pool", "average_pool", "add", "concatenate", "cell"]
Op = MatrixOp | ElementwiseOp


@dataclass(frozen=True)
class Accesses:
    """How often a layer reads or writes all elements of its inputs and of its output."""

    forward_inputs: float
    forward_output: float
    backward_inputs: float
    backward_output: float


ACCESSES: Mapping[ElementwiseOp, Accesses] = MappingProxyType(
    {
        "relu": Accesses(1, 1, 2, 1),
        "norm": Accesses(2, 1, 3, 2),
        "local_norm": Accesses(1, 1, 2, 2),
        "max_pool": Accesses(1, 1, 2, 1),
        "average_pool": Accesses(1, 1, 1, 1),
        "add": Accesses(1, 1, 0, 0),
        "concatenate": Accesses(0, 0, 0, 0),
        "cell": Accesses(1, 3, 2, 5),
    }
)
"""Counted from what each needs, every tensor crossing local memory once. Backward reads the gradient of the output and
what the derivative is taken of, and writes the gradient of the inputs. Statistics of a batch take another pass over
the inputs, forward and backward. A sum hands its gradient on, parts of a concatenation are written in place. A cell of
a recurrent layer reads its gates and old state, writes state and output; backward it meets each of them and its
gradient."""
BACKWARD_NEEDS_INPUTS = frozenset({"relu", "norm", "local_norm", "max_pool", "cell"})
"""elementwise layers whose derivative is taken of their inputs; matrices need theirs as well"""


@dataclass(frozen=True)
class LayerNode:
    """A layer; counts are for one sample."""

    name: str
    op: Op
    inputs: tuple[int, ...]
    """layers whose outputs it takes; () is the input of the network, which asks for no gradient"""
    input_elements: int
    output_elements: int
    rows: int = 0
    """m of its product, for one sample; n, k and groups follow"""
    columns: int = 0
    depth: int = 0
    groups: int = 1
    """products of these sizes side by side"""
    weight_name: str = ""
    """layers of one name share their weights"""
    gathered_elements: int = 0
    """of the output, what other devices need when the layer is divided among them"""

    @property
    def is_matrix(self) -> bool:
        return self.rows > 0

    @property
    def weight_elements(self) -> int:
        return self.columns * self.depth * self.groups

    @property
    def macs(self) -> int:
        """Multiplications with addition, forward, of one sample."""
        return self.rows * self.weight_elements


def total_macs(nodes: tuple[LayerNode, ...]) -> int:
    """Of one sample."""
    return sum(node.macs for node in nodes)
