"""All ways to divide a job: every product of degrees that makes a number of devices, under each choice."""

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from costmodel.parallelism.mappings import CHOICES, DIMENSIONS, Bools, Dimension, Ints, Mappings


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


RankOrder = Literal["tp-cp-pp-dp", "tp-cp-ep-pp-dp", "tp-cp-dp-pp"]
AXES: dict[RankOrder, tuple[str, ...]] = {
    "tp-cp-pp-dp": ("tensor", "context", "pipeline", "expert", "rest"),
    "tp-cp-ep-pp-dp": ("tensor", "context", "expert", "pipeline", "rest"),
    "tp-cp-dp-pp": ("tensor", "context", "expert", "rest", "pipeline"),
}
"""by order of the ranks: the indices that number a rank, the fastest first. Data ranks are groups of experts, the rest
counts these groups. Megatron-LM has the third order unless told otherwise"""
RANK_ORDERS: tuple[RankOrder, ...] = get_args(RankOrder)
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

    In the first order rank = ((data index x pipeline + stage) x context + context index) x tensor + tensor index,
    where data index = rest x expert + expert index. All that names ranks of a job asks here.
    """

    tensor: int
    pipeline: int
    data: int
    context: int
    expert: int
    order: RankOrder = RANK_ORDERS[0]

    @property
    def num_devices(self) -> int:
        return self.tensor * self.pipeline * self.data * self.context

    def spans(self, server: int | None) -> tuple[int, int, int, int]:
        """Ranks that should share a server: the tensor group, with the context, with the experts if these come next,
        and with all up to the pipeline.

        A tensor group wider than a `server` counts with the part of it that divides one; with None it counts whole.
        """
        tensor = self.tensor if server is None or self.tensor <= server else math.gcd(self.tensor, server)
        inner = tensor * self.context
        third = AXES[self.order][2] if self.pipeline > 1 else "expert"
        stages = self._strides["pipeline"] // (self.tensor * self.context) * inner * self.pipeline
        return tensor, inner, inner * self.expert if third == "expert" else inner, stages

    @property
    def _extents(self) -> dict[str, int]:
        """Of each index."""
        return {
            "tensor": self.tensor,
            "context": self.context,
            "pipeline": self.pipeline,
            "expert": self.expert,
            "rest": self.data // self.expert,
        }

    @property
    def _strides(self) -> dict[str, int]:
        """Of each index, how far apart ranks are that differ by one there."""
        extents = self._extents
        before = accumulate((extents[name] for name in AXES[self.order]), operator.mul, initial=1)
        return dict(zip(AXES[self.order], before, strict=False))

    def indices(self) -> dict[str, NDArray[np.int64]]:
        """Each index by rank, shape (ranks,)."""
        names = AXES[self.order][::-1]
        grids = np.indices([self._extents[name] for name in names]).reshape(len(names), -1)
        return dict(zip(names, grids, strict=True))

    def groups(self, dimension: Dimension) -> NDArray[np.int64]:
        """Ranks of each group along a dimension, by their place in it, shape (groups, ranks)."""
        names = AXES[self.order][::-1]
        axes = [names.index(name) for name in VARIES[dimension]]
        grid = np.arange(self.num_devices).reshape([self._extents[name] for name in names])
        return np.moveaxis(grid, axes, range(-len(axes), 0)).reshape(-1, self.ranks(dimension))

    def ranks(self, dimension: Dimension) -> int:
        """Ranks of a group: context ranks share the data group."""
        return self.data * self.context if dimension == "data" else int(getattr(self, dimension))

    def ranks_together(self, dimension: Dimension, block: int) -> int:
        """Ranks of a group in one server where each block of so many consecutive ranks lies in one."""
        return self.together(block)[DIMENSIONS.index(dimension)]

    @property
    def distinct_orders(self) -> tuple[RankOrder, ...]:
        """Of the orders that put the ranks of groups apart differently, the first ones."""
        if self.pipeline == 1 or self.data == 1:
            return RANK_ORDERS[:1]
        return RANK_ORDERS if 1 < self.expert < self.data else ("tp-cp-pp-dp", "tp-cp-dp-pp")

    def together(self, block: int) -> tuple[int, ...]:
        """The same of each of DIMENSIONS."""
        if block == self.num_devices:
            return tuple(self.ranks(dimension) for dimension in DIMENSIONS)
        extents, strides = self._extents, self._strides
        tensor, context, pipeline, expert, rest = (
            _held(block, strides[name], extents[name]) for name in ("tensor", "context", "pipeline", "expert", "rest")
        )
        is_one_run = strides["rest"] == strides["expert"] * self.expert
        data = _held(block, strides["expert"], self.data) if is_one_run else expert * rest
        return tensor, pipeline, context * data, context, expert


def confined(mappings: Mappings, block: Ints, order: Ints) -> Bools:
    """Whether the groups along each of DIMENSIONS surely lie in one server, of rows with a mapping, a block and the
    place of their order in RANK_ORDERS each, shape (5, C)."""
    m = mappings
    tensor = m.tensor.astype(np.int64)
    inner, expert, ranks = tensor * m.context, m.expert.astype(np.int64), m.num_devices
    ends: dict[Dimension, Ints] = {
        "tensor": tensor,
        "context": inner,
        "pipeline": np.choose(order, [inner * m.pipeline, inner * m.pipeline * expert, ranks]),
        "data": np.where((m.data == 1) | (order == 2) | ((order == 1) & (m.data == expert)), inner * m.data, ranks),
        "expert": np.where(order == 0, inner * m.pipeline * expert, inner * expert),
    }
    return np.stack([(block == ranks) | (block % ends[dimension] == 0) for dimension in DIMENSIONS])


def _held(block: int, stride: int, extent: int) -> int:
    """Of ranks so far apart, so many in a row: how many surely share a block of consecutive ranks."""
    return 1 if block % stride else _whole_part(block // stride, extent)


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
