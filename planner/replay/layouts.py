"""Orders of the blocks of one shape on servers, each with the wavelengths that it needs from server to server."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from planner.circuits.demand import Shape
from planner.circuits.layouts import num_stages, orders

Floats32 = NDArray[np.float32]
Order = tuple[int, ...]
"""place of each block among the servers that the job uses"""


class Layouts:
    """All orders to try, found once for each way to divide the blocks among servers."""

    def __init__(self, num_blocks: int, stages: int, between: tuple[bytes, ...]) -> None:
        """`between` are tables of wavelengths from block to block, as `Shape.between_blocks`."""
        tables = [np.frombuffer(table, dtype=np.int64).reshape(num_blocks, num_blocks) for table in between]
        self._between = np.stack([np.zeros((num_blocks, num_blocks)), *tables]).astype(np.float32)
        self._stages = stages
        self._found: dict[tuple[int, ...], tuple[tuple[Order, ...], Floats32]] = {}

    def within(self, counts: tuple[int, ...], room: Sequence[Sequence[int]]) -> Iterator[Order]:
        """Orders of so many blocks by server, of which each pair of servers has the free wavelengths they need."""
        if len(counts) == 1:
            yield (0,) * counts[0]
            return
        if counts not in self._found:
            self._found[counts] = self._needed(counts)
        found, needed = self._found[counts]
        for number in np.flatnonzero((needed <= np.array(room)).all(axis=(1, 2))).tolist():
            yield found[number]

    def _needed(self, counts: tuple[int, ...]) -> tuple[tuple[Order, ...], Floats32]:
        """Orders, and wavelengths from server to server of each, shape (orders, servers, servers)."""
        found, on = _orders(self._stages, counts)
        needed = (on.transpose(0, 2, 1)[:, None] @ self._between @ on[:, None]).max(axis=1)
        needed[:, range(len(counts)), range(len(counts))] = 0
        return found, needed


def layouts_of(shape: Shape) -> Layouts:
    """Orders of a shape; shapes whose circuits between blocks are alike share them."""
    return _layouts(shape.num_blocks, num_stages(shape), tuple(table.tobytes() for table in shape.between_blocks))


_layouts = lru_cache(maxsize=65536)(Layouts)


@lru_cache(maxsize=4096)
def _orders(stages: int, counts: tuple[int, ...]) -> tuple[tuple[Order, ...], Floats32]:
    """Orders in which the planner tries servers, and the server of each block, shape (orders, blocks, servers)."""
    found = tuple(map(tuple, orders(list(enumerate(counts)), stages)))
    return found, np.eye(len(counts), dtype=np.float32)[np.array(found)]
