"""How a job is divided over accelerators: degrees of parallelism and what is recomputed, sharded, offloaded."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]
Dimension = Literal["tensor", "pipeline", "data", "context", "expert"]
DIMENSIONS: tuple[Dimension, ...] = ("tensor", "pipeline", "data", "context", "expert")
"""what groups of ranks may exchange messages along"""

Recompute = Literal["none", "selective", "full"]
RECOMPUTE: tuple[Recompute, ...] = ("none", "selective", "full")
"""code of each choice in `Mappings.recompute`"""
Offload = Literal["weights", "activations", "optimizer"]
OFFLOAD: tuple[Offload, ...] = ("weights", "activations", "optimizer")
"""bit of each choice in `Mappings.offload`"""
Served = Literal["weights", "cache", "tables"]
SERVED: tuple[Served, ...] = ("weights", "cache", "tables")
"""what may be in the second tier in part: eighths of each, in bits of `Mappings.offload` after those of OFFLOAD"""
EIGHTHS = 8
Schedule = Literal["1f1b", "zero_bubble", "dual_pipe"]
SCHEDULES: tuple[Schedule, ...] = ("1f1b", "zero_bubble", "dual_pipe")
"""code of each choice in `Mappings.schedule`"""

CHOICES: dict[str, tuple[type[np.integer[Any]], int]] = {
    "tensor": (np.int16, 1),
    "pipeline": (np.int16, 1),
    "data": (np.int32, 1),
    "micro_batch": (np.int32, 1),
    "context": (np.int16, 1),
    "expert": (np.int16, 1),
    "interleave": (np.int16, 1),
    "recompute": (np.int8, 0),
    "zero": (np.int8, 1),
    "sequence_parallel": (np.int8, 0),
    "offload": (np.int16, 0),
    "schedule": (np.int8, 0),
    "prefill": (np.int16, 0),
    "prefill_tensor": (np.int16, 0),
    "prefill_expert": (np.int16, 0),
}
"""columns that a mapping consists of: type and default; small types, since there may be 10^7 rows"""

DENSE, LEAST_TABLE = 4, 1 << 10
"""tables of all numbers that could be met are quicker than sorting where they have so many entries a row at most"""


@dataclass(frozen=True)
class Mappings:
    """One row per choice, columns of shape (M,).

    rank = ((data index x pipeline + stage) x context + context index) x tensor + tensor index; the expert
    groups are parts of the data groups. Where a pool of prompts has degrees of its own, its ranks come first.
    """

    num_devices: Ints
    tensor: Ints
    pipeline: Ints
    data: Ints
    micro_batch: Ints
    """sequences of a micro-batch (of one replica's batch in inference)"""
    context: Ints
    """ranks among which each sequence is divided"""
    expert: Ints
    """ranks of a data group among which the experts are divided"""
    interleave: Ints
    """chunks of layers per stage"""
    recompute: Ints
    """index into RECOMPUTE"""
    zero: Ints
    """ZeRO stage: 0 nothing, 1 optimizer state, 2 gradients too, 3 parameters too are divided over data ranks"""
    sequence_parallel: Ints
    """1 where norms and residuals are divided over the tensor ranks"""
    offload: Ints
    """sum of the bits of OFFLOAD that live in the second memory tier, or of eighths of SERVED that do"""
    schedule: Ints
    """index into SCHEDULES: the order of passes in a pipeline"""
    prefill: Ints
    """of the data ranks, the first so many run prompts alone, and the others tokens alone; 0 where each runs both"""
    prefill_tensor: Ints
    """tensor degree of those that run prompts, where they have degrees of their own; else 0"""
    prefill_expert: Ints
    """expert degree of those that run prompts, where they have degrees of their own; else 0"""
    job: Ints
    """whose mapping it is, where several jobs are listed together; else 0"""

    @classmethod
    def of(cls, **columns: Any) -> Self:
        """Mappings of some columns (scalars or (M,)); the others have their defaults."""
        unknown = columns.keys() - CHOICES.keys()
        if unknown:
            raise ValueError(f"unknown columns {', '.join(sorted(unknown))}; known: {', '.join(CHOICES)}")
        rows = np.broadcast_shapes(*(np.shape(column) for column in columns.values())) or (1,)
        full: dict[str, Ints] = {}
        for name, (dtype, default) in CHOICES.items():
            full[name] = np.empty(rows, dtype)
            full[name][:] = columns.get(name, default)
        return cls(num_devices=_num_devices(full), job=np.zeros(rows, np.int32), **full)

    @classmethod
    def none(cls) -> Self:
        return cls.of(tensor=np.ones(0, np.int16))

    def __len__(self) -> int:
        return len(self.num_devices)

    @classmethod
    def concatenate(cls, parts: Sequence["Mappings"]) -> Self:
        """The rows of all parts, one after the other."""
        if not parts:
            return cls.none()
        return cls(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(cls)))

    def take(self, rows: Ints | Bools | slice) -> Self:
        """The rows of these numbers, or those where a mask is true."""
        if isinstance(rows, slice):
            return type(self)(*[column[rows] for column in vars(self).values()])
        numbers = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return type(self)(*[column.take(numbers) for column in vars(self).values()])

    def of_prompts(self) -> Self:
        """Itself, or with the degrees of replicas that run prompts where some have their own."""
        has_own = self.prefill_tensor > 0
        if not has_own.any():
            return self
        tensor = np.where(has_own, self.prefill_tensor, self.tensor)
        expert = np.where(has_own, self.prefill_expert, self.expert)
        return replace(self, tensor=tensor, expert=expert, prefill_tensor=np.zeros_like(self.prefill_tensor))

    def choice(self, row: int) -> dict[str, int]:
        """Number of each column of CHOICES in one row."""
        return {name: int(getattr(self, name)[row]) for name in CHOICES}

    def where(self, choice: Mapping[str, int]) -> Bools:
        """Mask (M,) of the rows that are exactly this choice."""
        same = np.ones(len(self), dtype=np.bool_)
        for name, number in choice.items():
            same &= getattr(self, name) == number
        return same

    def has_offload(self, name: Offload) -> Bools:
        return np.asarray((self.offload >> OFFLOAD.index(name)) & 1, dtype=np.bool_)

    def share_in_tier(self, name: Served) -> Floats:
        return share_in_tier(self.offload, name)

    def has_recompute(self, name: Recompute) -> Bools:
        return np.asarray(self.recompute == RECOMPUTE.index(name))

    def has_schedule(self, name: Schedule) -> Bools:
        """Which pipelines run so; a mapping without one has no order of passes to choose."""
        return np.asarray((self.schedule == SCHEDULES.index(name)) & (self.pipeline > 1))


def share_in_tier(offload: Ints, name: Served) -> Floats:
    """Of what a workload keeps, the share that is in its second tier, by `Mappings.offload`."""
    return np.asarray((offload >> first_bit(name) & 15) / EIGHTHS, np.float64)


def first_bit(name: Served) -> int:
    """Of the eighths of something in `Mappings.offload`, four bits each."""
    return len(OFFLOAD) + 4 * SERVED.index(name)


def distinct_rows(columns: Sequence[NDArray[Any]]) -> tuple[Ints, Ints]:
    """First row of each distinct combination of integer columns of shape (M,), and the combination of each row.

    Numbers are 0 or more and below 2^31; the product of how many the columns have must stay below 2^62.
    """
    most = max(DENSE * len(columns[0]), LEAST_TABLE)
    columns = [column for column in columns if column.any()] or columns[:1]
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    if math.prod(sizes) > most:
        ranked = [_ranks(column, size, most) for column, size in zip(columns, sizes, strict=True)]
        columns, sizes = [rank for rank, _ in ranked], [number for _, number in ranked]
    key, scale = columns[0].astype(np.intp), sizes[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        key += np.multiply(column, scale, dtype=np.intp)
        scale *= size
    if scale > most:
        _, first, of = np.unique(key, return_index=True, return_inverse=True)
        return first, of
    first = np.full(scale, len(key))
    first[key[::-1]] = np.arange(len(key))[::-1]
    is_met = first < len(key)
    return first[is_met], (np.cumsum(is_met) - 1)[key]


def grouped(columns: Sequence[NDArray[Any]]) -> tuple[Ints, Ints, Ints]:
    """Combination of each row of integer columns of shape (M,), as `distinct_rows` has them; the rows, those of one
    combination after those of the other, each ascending; and where those of each combination begin."""
    of = distinct_rows(columns)[1]
    order = np.argsort(of.astype(np.min_scalar_type(int(of.max(initial=0)))), kind="stable")
    return of, order, np.flatnonzero(np.diff(of[order], prepend=-1))


def first_of_each(starts: Ints, *keys: Floats) -> Ints:
    """Of each run of rows, (R,), that begins at one of `starts`, the row with the least first key; of equal ones that
    with the least second key, and so on, then the first."""
    if not len(starts):
        return np.zeros(0, np.int64)
    rows: slice | Ints = slice(None)
    for key in keys:
        own = key[rows]
        is_least = own == np.repeat(np.minimum.reduceat(own, starts), np.diff(starts, append=len(own)))
        found = np.flatnonzero(is_least)
        starts = np.searchsorted(found, starts)
        rows = found if isinstance(rows, slice) else rows[found]
    return np.asarray(np.arange(len(keys[0]))[rows][starts])


def _ranks(column: Ints, size: int, most: int) -> tuple[Ints, int]:
    """Place of each number among the distinct ones of a column, and how many these are."""
    if size > most:
        distinct, rank = np.unique(column, return_inverse=True)
        return rank, len(distinct)
    is_met = np.bincount(column, minlength=1) > 0
    return (np.cumsum(is_met) - 1)[column], int(is_met.sum())


def _num_devices(columns: dict[str, Ints]) -> Ints:
    degrees = (columns[name].astype(np.int32) for name in ("tensor", "pipeline", "data", "context"))
    product = np.ones(1, np.int32)
    for degree in degrees:
        product = product * degree
    if not (own := columns["prefill_tensor"].astype(np.int32)).any():
        return product
    return product + np.where(own > 0, columns["prefill"] * (own - columns["tensor"]), 0)
