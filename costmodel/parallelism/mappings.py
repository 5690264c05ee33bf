"""How a job is divided over accelerators: degrees of parallelism and what is recomputed, sharded, offloaded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
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
    "offload": (np.int8, 0),
}
"""columns that a mapping consists of: type and default; small types, since there may be 10^7 rows"""


@dataclass(frozen=True)
class Mappings:
    """One row per choice, columns of shape (M,).

    rank = ((data index x pipeline + stage) x context + context index) x tensor + tensor index; the expert
    groups are parts of the data groups.
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
    """sum of the bits of OFFLOAD that live in the second memory tier"""

    @classmethod
    def of(cls, **columns: Any) -> Self:
        """Mappings of some columns (scalars or (M,)); the others have their defaults."""
        unknown = columns.keys() - CHOICES.keys()
        if unknown:
            raise ValueError(f"unknown columns {', '.join(sorted(unknown))}; known: {', '.join(CHOICES)}")
        rows = np.broadcast_shapes(*(np.shape(column) for column in columns.values())) or (1,)
        full = {
            name: np.array(np.broadcast_to(np.asarray(columns.get(name, default)), rows), dtype)
            for name, (dtype, default) in CHOICES.items()
        }
        return cls(num_devices=_num_devices(full), **full)

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
        return type(self)(*(getattr(self, f.name)[rows] for f in fields(self)))

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

    def has_recompute(self, name: Recompute) -> Bools:
        return np.asarray(self.recompute == RECOMPUTE.index(name))


def distinct_rows(columns: Sequence[NDArray[Any]]) -> tuple[Ints, Ints]:
    """First row of each distinct combination of integer columns of shape (M,), and the combination of each row.

    The product of the columns' largest numbers must stay below 2^62.
    """
    key, scale = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        key += column.astype(np.int64) * scale
        scale *= int(column.max(initial=0)) + 1
    _, first, of = np.unique(key, return_index=True, return_inverse=True)
    return first, of


def _num_devices(columns: dict[str, Ints]) -> Ints:
    degrees = (columns[name].astype(np.int32) for name in ("tensor", "pipeline", "data", "context"))
    product = np.ones(1, np.int32)
    for degree in degrees:
        product = product * degree
    return product
