"""All ways to divide a job: every product of degrees that makes a number of devices, under each choice."""

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from costmodel.parallelism.mappings import CHOICES, DIMENSIONS, Bools, Dimension, Ints, Mappings


def divisors(number: int) -> list[int]:
    small = [d for d in range(1, int(number**0.5) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def degree_table(
    sizes: Sequence[int], tensor: Sequence[int], context: Sequence[int], max_pipeline: int
) -> dict[str, NDArray[np.int32]]:
    """Every (tensor, context, pipeline, data) whose product is one of the sizes, columns of shape (T,), those of one
    size after those of the other.

    `tensor` and `context` list what is allowed; pipeline is a divisor of what is left, up to max_pipeline.
    """
    menus = {"tensor": tensor, "context": context, "pipeline": range(1, max_pipeline + 1)}
    table = {"data": np.array(sizes, np.int32)}
    for name, allowed in menus.items():
        degrees = np.array(allowed, np.int32)
        row, chosen = np.nonzero(table["data"][:, None] % degrees == 0)
        table = {other: column[row] for other, column in table.items()} | {name: degrees[chosen]}
        table["data"] //= table[name]
    return table


def joined(tables: Iterable[Mapping[str, NDArray[np.int32]]]) -> dict[str, NDArray[np.int32]]:
    """The rows of several tables of degrees, one after the other."""
    every = [degree_table((), (), (), 1), *tables]
    return {name: np.concatenate([table[name] for table in every]) for name in every[0]}


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
    prefill: int = 0
    """of the data ranks, the first so many run prompts alone; 0: there are no two pools"""
    prefill_tensor: int = 0
    """tensor degree of these, whose ranks come first; 0: both pools have the same degrees"""
    prefill_expert: int = 0

    @property
    def num_devices(self) -> int:
        return self._own_ranks or self.tensor * self.pipeline * self.data * self.context

    @property
    def _own_ranks(self) -> int:
        """Of both pools, where they have degrees of their own; else 0."""
        if not self.prefill_tensor:
            return 0
        return self.prefill * self.prefill_tensor + (self.data - self.prefill) * self.tensor

    @property
    def of_prompts(self) -> "Degrees":
        """Of the pool of prompts alone, where it has its own."""
        return Degrees(self.prefill_tensor, 1, self.prefill, 1, self.prefill_expert)

    @property
    def of_tokens(self) -> "Degrees":
        """Of the pool of tokens alone, where that of prompts has its own."""
        return Degrees(self.tensor, 1, self.data - self.prefill, 1, self.expert)

    @property
    def ranks_of_caches(self) -> tuple[int, int]:
        """Ranks of a replica of prompts, and of one of tokens, that hold the same part of a cache."""
        narrow = min(self.prefill_tensor, self.tensor)
        return (self.prefill_tensor // narrow, self.tensor // narrow) if narrow else (1, 1)

    def pools_problem(self) -> str:
        """Why two pools cannot have such degrees; empty where they can."""
        own, wide = (self.prefill_tensor, self.prefill_expert), max(self.prefill_tensor, self.tensor)
        if 0 in own or not 0 < self.prefill < self.data or self.pipeline * self.context > 1:
            return "prefill_tensor and prefill_expert: both, of two pools without pipeline or context ranks"
        if own == (self.tensor, self.expert):
            return "prefill_tensor and prefill_expert: both pools have the same degrees; leave them out"
        if wide % min(self.prefill_tensor, self.tensor):
            return f"prefill_tensor {self.prefill_tensor} and tensor {self.tensor}: one must divide the other"
        if self.prefill % self.prefill_expert or (self.data - self.prefill) % self.expert:
            return "expert and prefill_expert must divide the replicas of their pools"
        if self.prefill * self.prefill_tensor % wide or self.num_devices % wide:
            return f"each pool must have a multiple of the {wide} accelerators of the wider replicas"
        return ""

    def spans(self, server: int | None) -> tuple[int, int, int, int]:
        """Ranks that should share a server: the tensor group, with the context, with the experts if these come next,
        and with all up to the pipeline.

        A tensor group wider than a `server` counts with the part of it that divides one; with None it counts whole.
        """
        wide = max(self.tensor, self.prefill_tensor)
        tensor = wide if server is None or wide <= server else math.gcd(wide, server)
        if self.prefill_tensor:
            return tensor, tensor, self._experts_together(tensor), tensor
        inner = tensor * self.context
        third = AXES[self.order][2] if self.pipeline > 1 else "expert"
        stages = self._places["pipeline"][0] // (self.tensor * self.context) * inner * self.pipeline
        return tensor, inner, inner * self.expert if third == "expert" else inner, stages

    @property
    def _places(self) -> dict[str, tuple[int, int]]:
        """Of each index, how far apart ranks are that differ by one there, and how many values it has."""
        rest = self.data // self.expert
        extents = (self.tensor, self.context, self.pipeline, self.expert, rest)
        of = dict(zip(AXES[RANK_ORDERS[0]], extents, strict=True))
        found, stride = dict[str, tuple[int, int]](), 1
        for name in AXES[self.order]:
            found[name] = stride, of[name]
            stride *= of[name]
        return found

    def indices(self) -> dict[str, NDArray[np.int64]]:
        """Each index by rank, shape (ranks,)."""
        names, places = AXES[self.order][::-1], self._places
        grids = np.indices([places[name][1] for name in names]).reshape(len(names), -1)
        return dict(zip(names, grids, strict=True))

    def groups(self, dimension: Dimension) -> NDArray[np.int64]:
        """Ranks of each group along a dimension, by their place in it, shape (groups, ranks).

        Where pools have degrees of their own, groups along tensor and expert are those of tokens.
        """
        if self.prefill_tensor:
            return self._groups_of_pools(dimension)
        names, places = AXES[self.order][::-1], self._places
        axes = [names.index(name) for name in VARIES[dimension]]
        grid = np.arange(self.num_devices).reshape([places[name][1] for name in names])
        return np.moveaxis(grid, axes, range(-len(axes), 0)).reshape(-1, self.ranks(dimension))

    def ranks(self, dimension: Dimension) -> int:
        """Ranks of a group: context ranks share the data group."""
        if dimension == "data" and self.prefill_tensor:
            senders, receivers = self.ranks_of_caches
            return self.prefill * senders + (self.data - self.prefill) * receivers
        return self.data * self.context if dimension == "data" else int(getattr(self, dimension))

    def _groups_of_pools(self, dimension: Dimension) -> NDArray[np.int64]:
        """The same of pools with degrees of their own."""
        first, bands = self.prefill * self.prefill_tensor, min(self.prefill_tensor, self.tensor)
        if dimension != "data":
            return first + self.of_tokens.groups(dimension)
        ranks = np.arange(self.num_devices)
        sides = ranks[:first].reshape(self.prefill, bands, -1), ranks[first:].reshape(-1, bands, self.tensor // bands)
        return np.concatenate([np.moveaxis(side, 1, 0).reshape(bands, -1) for side in sides], axis=1)

    def _experts_together(self, tensor: int) -> int:
        """Ranks of the larger groups of experts, where both pools consist of so many each time; else `tensor`."""
        span = max(self.tensor * self.expert, self.prefill_tensor * self.prefill_expert)
        first = self.prefill * self.prefill_tensor
        return span if first % span == 0 and self.num_devices % span == 0 else tensor

    def ranks_together(self, dimension: Dimension, block: int) -> int:
        """Ranks of a group in one server where each block of so many consecutive ranks lies in one."""
        return self.together(block)[DIMENSIONS.index(dimension)]

    def first_order_like(self, order: RankOrder) -> RankOrder:
        """The first order that puts the ranks of all groups as far apart as this one."""
        if self.pipeline == 1 or self.data == 1:
            return RANK_ORDERS[0]
        if order == "tp-cp-ep-pp-dp" and self.expert in (1, self.data):
            return "tp-cp-pp-dp" if self.expert == 1 else "tp-cp-dp-pp"
        return order

    @property
    def distinct_orders(self) -> tuple[RankOrder, ...]:
        """Of the orders that put the ranks of groups apart differently, the first ones."""
        return tuple(dict.fromkeys(map(self.first_order_like, RANK_ORDERS)))

    def together(self, block: int) -> tuple[int, ...]:
        """Ranks of a group along each of DIMENSIONS in one server, where each run of `block` ranks lies in one."""
        if self.prefill_tensor:
            first, whole = self.prefill * self.prefill_tensor, block == self.num_devices
            near = self.of_tokens.together(block) if first % block == 0 else (1, 1, 1, 1, 1)
            tensor = self.tensor if whole or block % self.tensor == 0 == first % self.tensor else near[0]
            return tensor, 1, self.ranks("data") if whole else 1, 1, self.expert if whole else near[4]
        if block == self.num_devices:
            return self.tensor, self.pipeline, self.data * self.context, self.context, self.expert
        places = self._places
        held = {name: _held(block, *place) for name, place in places.items()}
        first, extent = places["expert"]
        is_one_run = places["rest"][0] == first * extent
        data = _held(block, first, self.data) if is_one_run else held["expert"] * held["rest"]
        return held["tensor"], held["pipeline"], held["context"] * data, held["context"], held["expert"]


def confined(
    m: Mappings, mapping: Ints, block: Ints, order: Ints, axes: Container[int] = range(len(DIMENSIONS))
) -> Bools:
    """Whether the groups along each of these DIMENSIONS surely lie in one server, shape (5, C).

    Rows have the number of one of the mappings, a block, and the place of their order in RANK_ORDERS each.
    """
    data = m.data.astype(np.int32)
    inner, expert = m.tensor.astype(np.int32) * m.context, m.expert.astype(np.int32)
    stages, ranks = inner * m.pipeline, m.num_devices
    of_data = np.where(data == 1, inner, ranks)
    beside_stages = np.where((data == 1) | (data == expert), inner * data, ranks)
    ends: dict[Dimension, Sequence[Ints]] = {
        "tensor": [m.tensor] * 3,
        "context": [inner] * 3,
        "pipeline": [stages, stages * expert, ranks],
        "data": [of_data, beside_stages, inner * data],
        "expert": [stages * expert, inner * expert, inner * expert],
    }
    whole, row = block == ranks[mapping], order.astype(np.intp) * len(ranks) + mapping
    found = np.zeros((len(DIMENSIONS), len(block)), np.bool_)
    for axis, each in enumerate(DIMENSIONS):
        if axis in axes:
            one, *others = ends[each]
            end = one.take(mapping) if all(other is one for other in others) else np.concatenate(ends[each]).take(row)
            found[axis] = whole | (block % end == 0)
    if m.prefill_tensor.any():
        first = (m.prefill * m.prefill_tensor.astype(np.int32))[mapping]
        found[DIMENSIONS.index("expert")] &= whole | (first % block == 0)
    return found


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
    num_rows, choices = len(next(iter(degrees.values()))), combinations(menus)
    columns = {name: np.tile(column, num_rows) for name, column in choices.items()}
    repeats = math.prod(len(menu) for menu in menus.values())
    return Mappings.of(**{name: np.repeat(column, repeats) for name, column in degrees.items()}, **columns)


def combinations(menus: Mapping[str, Sequence[int]]) -> dict[str, Ints]:
    """Each combination of the menus' numbers, a column for each menu."""
    grids = np.meshgrid(*(np.asarray(menu, CHOICES[name][0]) for name, menu in menus.items()), indexing="ij")
    return {name: grid.ravel() for name, grid in zip(menus, grids, strict=True)}
