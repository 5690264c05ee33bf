"""All ways to divide a job: every product of degrees that makes a number of devices, under each choice."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costmodel.parallelism.mappings import CHOICES, Dimension, Mappings


def divisors(number: int) -> list[int]:
    small = [d for d in range(1, int(number**0.5) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def degree_table(
    num_devices: int, tensor: Sequence[int], context: Sequence[int], max_pipeline: int
) -> dict[str, NDArray[np.int32]]:
    """Every (tensor, context, pipeline, data) whose product is num_devices, columns of shape (T,).

    `tensor` and `context` list what is allowed; pipeline is a divisor of what is left, up to max_pipeline.
    """
    rows = [
        (t, c, p, num_devices // (t * c * p))
        for t in tensor
        if num_devices % t == 0
        for c in context
        if (num_devices // t) % c == 0
        for p in divisors(num_devices // (t * c))
        if p <= max_pipeline
    ]
    table = np.array(rows, np.int32).reshape(-1, 4)
    return {name: table[:, i] for i, name in enumerate(("tensor", "context", "pipeline", "data"))}


INDICES = ("rest", "expert", "pipeline", "context", "tensor")
"""indices that number a rank, the slowest first"""
VARIES: dict[Dimension, tuple[str, ...]] = {
    "tensor": ("tensor",),
    "pipeline": ("pipeline",),
    "data": ("rest", "expert", "context"),
    "context": ("context",),
    "expert": ("expert",),
}
"""by dimension: the indices in which the ranks of one group differ, the slowest first"""


@dataclass(frozen=True)
class Degrees:
    """Degrees of one mapping: which rank is which, which ranks form groups, and how many of them share a server.

    rank = ((data index x pipeline + stage) x context + context index) x tensor + tensor index, where data index =
    rest x expert + expert index. All that names ranks of a job asks here.
    """

    tensor: int
    pipeline: int
    data: int
    context: int
    expert: int

    @property
    def num_devices(self) -> int:
        return self.tensor * self.pipeline * self.data * self.context

    def spans(self, server: int | None) -> tuple[int, int, int, int]:
        """Ranks that should share a server: the tensor group, with the context, with the experts, with the pipeline.

        A tensor group wider than a `server` counts with the part of it that divides one; with None it counts whole.
        """
        tensor = self.tensor if server is None or self.tensor <= server else math.gcd(self.tensor, server)
        inner = tensor * self.context
        return tensor, inner, inner * self.expert if self.pipeline == 1 else inner, inner * self.pipeline

    @property
    def _extents(self) -> tuple[int, ...]:
        """Of each of INDICES."""
        return self.data // self.expert, self.expert, self.pipeline, self.context, self.tensor

    def indices(self) -> dict[str, NDArray[np.int64]]:
        """Each of INDICES by rank, shape (ranks,)."""
        grids = np.indices(self._extents).reshape(len(INDICES), -1)
        return dict(zip(INDICES, grids, strict=True))

    def groups(self, dimension: Dimension) -> NDArray[np.int64]:
        """Ranks of each group along a dimension, by their place in it, shape (groups, ranks)."""
        axes = [INDICES.index(name) for name in VARIES[dimension]]
        grid = np.arange(self.num_devices).reshape(self._extents)
        return np.moveaxis(grid, axes, range(-len(axes), 0)).reshape(-1, self.ranks(dimension))

    def ranks(self, dimension: Dimension) -> int:
        """Ranks of a group: context ranks share the data group."""
        return self.data * self.context if dimension == "data" else int(getattr(self, dimension))

    def ranks_together(self, dimension: Dimension, block: int) -> int:
        """Ranks of a group in one server where each block of so many consecutive ranks lies in one."""
        inner = self.tensor * self.context
        if block == self.num_devices:
            return self.ranks(dimension)
        if dimension == "data":
            contexts = self.ranks_together("context", block)
            return contexts * _whole_part(block // (inner * self.pipeline), self.data)
        if dimension == "expert":
            replica = inner * self.pipeline
            return 1 if block % replica else _whole_part(block // replica, self.expert)
        before = {"tensor": 1, "context": self.tensor, "pipeline": inner}[dimension]
        return _whole_part(block // before, self.ranks(dimension))


def _whole_part(together: int, ranks: int) -> int:
    """Of `ranks` in a row, how many surely share a run of `together`; runs that divide unevenly tear groups."""
    if together and ranks % together == 0:
        return together
    return ranks if together and together % ranks == 0 else 1


def every_mapping(degrees: Mapping[str, NDArray[np.int32]], menus: Mapping[str, Sequence[int]]) -> Mappings:
    """Each row of degrees under each combination of the menus' numbers."""
    num_rows = len(next(iter(degrees.values())))
    grids = np.meshgrid(*(np.asarray(menu, CHOICES[name][0]) for name, menu in menus.items()), indexing="ij")
    columns = {name: np.tile(grid.ravel(), num_rows) for name, grid in zip(menus, grids, strict=True)}
    repeats = int(np.prod([len(menu) for menu in menus.values()], dtype=int))
    return Mappings.of(**{name: np.repeat(column, repeats) for name, column in degrees.items()}, **columns)
