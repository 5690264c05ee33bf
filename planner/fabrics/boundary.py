"""Least wavelengths that leave any set of so many blocks of a shape."""

from collections.abc import Sequence
from math import prod
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import GroupPlan, plans_by_pool
from costmodel.parallelism.degrees import VARIES
from costmodel.parallelism.mappings import DIMENSIONS
from planner.fabrics.block_sets import least_leaving
from planner.fabrics.circuits_between import Between
from planner.fabrics.group_bounds import group_bound
from planner.fabrics.kept_circuits import while_kept

MAX_EXACT_BLOCKS = 16
"""up to so many blocks every subset of blocks is tried"""
Ints = NDArray[np.int64]


class BlockedShape(Protocol):
    """What circuits of a job depend on, its ranks in blocks; all but light is as a `Demand` has it."""

    @property
    def tensor(self) -> int: ...
    @property
    def pipeline(self) -> int: ...
    @property
    def data(self) -> int: ...
    @property
    def context(self) -> int: ...
    @property
    def expert(self) -> int: ...
    @property
    def block(self) -> int: ...
    @property
    def num_blocks(self) -> int: ...
    @property
    def plans(self) -> Sequence[GroupPlan]: ...
    @property
    def racks(self) -> int: ...
    @property
    def in_rack(self) -> Self: ...
    @property
    def has_whole_groups(self) -> bool: ...
    @property
    def between_blocks(self) -> Sequence[Between]: ...
    @property
    def boundary(self) -> Ints: ...


@while_kept
def boundary_of(shape: BlockedShape) -> Ints:
    """Least wavelengths that leave, in one configuration, a set of c of the blocks, shape (blocks + 1,)."""
    if shape.racks > 1:
        beyond = shape.num_blocks - shape.in_rack.num_blocks
        return np.concatenate([shape.in_rack.boundary, np.zeros(beyond, dtype=np.int64)])
    is_ring = sum(plan.ranks > 1 for plan in shape.plans) == 1 and any(p.kind == "ring" for p in shape.plans)
    if shape.has_whole_groups and (shape.num_blocks > MAX_EXACT_BLOCKS or is_ring):
        table = _bound(shape)
    elif shape.num_blocks > MAX_EXACT_BLOCKS:
        table = np.zeros(shape.num_blocks + 1, dtype=np.int64)
    else:
        table = least_leaving(shape.num_blocks, shape.between_blocks)
    table.setflags(write=False)
    return table


def _bound(shape: BlockedShape) -> Ints:
    """Lower bound for many blocks: whole tensor groups joined along other dimensions, or the ranks of the only one."""
    n = shape.num_blocks
    parallel = shape.tensor if shape.block == shape.tensor else 1
    numbers = [0] if shape.block < shape.tensor else range(1, len(shape.plans))
    lit = [number for number in numbers if any(p.configurations() for p in plans_by_pool(shape.plans[number]))]
    tables = [parallel * group_bound(shape.plans[number]) for number in lit]
    table = np.zeros(n + 1, dtype=np.int64)
    if len(tables) == 1 and len(tables[0]) == n + 1:
        return np.asarray(tables[0])
    if tables and _are_joined(shape, lit):
        # Connected grid: some group along some dimension is split, whatever the set of blocks.
        table[1:n] = min(int(group[1:-1].min()) for group in tables)
    return table


def _are_joined(shape: BlockedShape, dimensions: list[int]) -> bool:
    """Whether groups along these dimensions join all blocks: they differ in every index that has several values."""
    extents = {"pipeline": shape.pipeline, "context": shape.context, "expert": shape.expert}
    extents["rest"] = shape.data // shape.expert
    varied = {index for number in dimensions for index in VARIES[DIMENSIONS[number]]}
    if shape.block < shape.tensor:
        return prod(extents.values()) == 1
    return all(extent == 1 or index in varied for index, extent in extents.items())
