"""What one accelerator executes and sends in one step of a job, for many mappings at once.

Axes: C mappings, O operators, M messages.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from costmodel.hardware import Precision

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Dimension = Literal["tensor", "pipeline", "data"]

_COLUMNS = ("num_devices", "tensor", "pipeline", "data", "micro_batch")


@dataclass(frozen=True)
class Mappings:
    """How a job is divided over accelerators, one row per choice; columns of shape (C,), int64."""

    num_devices: Ints
    tensor: Ints
    pipeline: Ints
    data: Ints
    micro_batch: Ints

    def __post_init__(self) -> None:
        if np.any(self.tensor * self.pipeline * self.data != self.num_devices):
            raise ValueError("tensor * pipeline * data must equal num_devices")

    def __len__(self) -> int:
        return len(self.num_devices)

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[int, int, int, int]]) -> Self:
        """Mappings of rows (tensor, pipeline, data, micro_batch)."""
        table = np.array([*rows], dtype=np.int64).reshape(-1, 4)
        tensor, pipeline, data, micro_batch = (table[:, i].copy() for i in range(4))
        return cls(tensor * pipeline * data, tensor, pipeline, data, micro_batch)

    @classmethod
    def concatenate(cls, parts: Sequence["Mappings"]) -> Self:
        """The rows of all parts, one after the other."""
        return cls(*(np.concatenate([getattr(part, column) for part in parts]) for column in _COLUMNS))

    def take(self, rows: Ints | Bools) -> Self:
        """The rows of these numbers, or those where a mask is true."""
        return type(self)(*(getattr(self, column)[rows] for column in _COLUMNS))


@dataclass(frozen=True)
class Operator:
    """One row of operators; each column broadcasts to (C,)."""

    name: str
    flops: Floats | float
    memory_bytes: Floats | float
    count: Floats | float
    in_bubble: bool = True


@dataclass(frozen=True)
class Message:
    """One row of messages; each column broadcasts to (C,)."""

    name: str
    dimension: Dimension
    message_bytes: Floats | float
    count: Floats | float
    in_bubble: bool = True


@dataclass(frozen=True)
class OpGraph:
    """What ONE accelerator (the busiest stage's) executes in one step and the messages it takes part in.

    A step takes the sum of count x time over rows, times `bubble` on the rows marked in_bubble.
    """

    operators: tuple[str, ...]
    """(O,) names"""
    flops: Floats
    """(O, C) matrix operations per execution"""
    memory_bytes: Floats
    """(O, C) traffic of the local memory per execution"""
    count: Floats
    """(O, C) executions per step"""
    messages: tuple[str, ...]
    """(M,) names"""
    dimensions: tuple[Dimension, ...]
    """(M,) the group that exchanges the message"""
    message_bytes: Floats
    """(M, C) all-reduce: size of the buffer; pipeline: bytes sent to the next stage"""
    message_count: Floats
    """(M, C) per step; 0 where the dimension has degree 1"""
    bubble: Floats
    """(C,) >= 1: factor on all per-micro-batch time, (m + p - 1) / m of 1F1B with m micro-batches"""
    in_bubble: Bools
    """(O,) whether the factor multiplies the operator"""
    message_in_bubble: Bools
    """(M,) whether the factor multiplies the message"""
    footprint_bytes: Floats
    """(C,) peak memory of the busiest accelerator"""
    work: Floats
    """(C,) units of work the whole job completes per step"""
    precision: Precision
    """of the matrix operators"""

    @classmethod
    def from_rows(
        cls,
        operators: Sequence[Operator],
        messages: Sequence[Message],
        *,
        bubble: Floats,
        footprint_bytes: Floats,
        work: float,
        precision: Precision,
    ) -> Self:
        """Stack rows; bubble and footprint_bytes have shape (C,), work holds for every mapping."""

        def stack(columns: Iterable[Floats | float]) -> Floats:
            return np.stack([np.broadcast_to(np.asarray(c, np.float64), bubble.shape) for c in columns])

        return cls(
            operators=tuple(o.name for o in operators),
            flops=stack(o.flops for o in operators),
            memory_bytes=stack(o.memory_bytes for o in operators),
            count=stack(o.count for o in operators),
            messages=tuple(m.name for m in messages),
            dimensions=tuple(m.dimension for m in messages),
            message_bytes=stack(m.message_bytes for m in messages),
            message_count=stack(m.count for m in messages),
            bubble=bubble,
            in_bubble=np.array([o.in_bubble for o in operators], dtype=np.bool_),
            message_in_bubble=np.array([m.in_bubble for m in messages], dtype=np.bool_),
            footprint_bytes=footprint_bytes,
            work=np.full(bubble.shape, work),
            precision=precision,
        )
