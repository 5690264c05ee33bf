"""Demands of the rows of a job's candidates, made when first asked for and shared by all that ask for the same."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Protocol, overload

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase
from costmodel.pricing.candidates import Candidates, group_degrees
from planner.fabrics.demand import Demand, shape_of

Ints = NDArray[np.int64]


class RowDemands(Sequence[Demand]):
    """Demand of each of C rows; rows that ask for the same circuits share the object, as do rows taken from these."""

    def __init__(self, made: "_Kinds", rows: Ints) -> None:
        self._made, self._rows = made, rows
        self._known: dict[int, Demand] = {}
        """those asked for, by row"""

    @classmethod
    def of(cls, candidates: Candidates, fabric: FabricBase, *, is_even: bool = False) -> "RowDemands":
        """RowDemands of all rows; `is_even` where the job asks for as many ranks on each of its servers."""
        return cls(_Made(candidates, fabric, is_even), np.arange(len(candidates)))

    @classmethod
    def alone(cls, demand: Demand) -> "RowDemands":
        """One row with a given demand."""
        return cls(_Given(demand), np.zeros(1, np.int64))

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, row: int) -> Demand: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[Demand]: ...
    def __getitem__(self, row: int | slice) -> Demand | Sequence[Demand]:
        if isinstance(row, slice):
            return RowDemands(self._made, self._rows[row])
        if row not in self._known:
            self._known[row] = self._made.demand(int(self._made.kinds[1][self._rows[row]]))
        return self._known[row]

    def __iter__(self) -> Iterator[Demand]:
        return map(self._made.demand, self._made.kinds[1][self._rows].tolist())

    def take(self, rows: Ints) -> "RowDemands":
        """Of the given rows, in this order."""
        return RowDemands(self._made, self._rows[rows])

    @cached_property
    def distinct(self) -> tuple[tuple[Demand, ...], Ints]:
        """Every demand once, and which of them each row has, shape (C,)."""
        kinds, of = np.unique(self._made.kinds[1][self._rows], return_inverse=True)
        return tuple(map(self._made.demand, kinds.tolist())), of


class _Kinds(Protocol):
    """Demands by kind."""

    @property
    def kinds(self) -> tuple[Ints, Ints]:
        """First row of each kind, and kind of each row, shape (C,)."""

    def demand(self, kind: int) -> Demand: ...


class _Given:
    """A demand that is there already."""

    def __init__(self, demand: Demand) -> None:
        self._demand = demand

    @property
    def kinds(self) -> tuple[Ints, Ints]:
        return np.zeros(1, np.int64), np.zeros(1, np.int64)

    def demand(self, kind: int) -> Demand:
        return self._demand


class _Made:
    """RowDemands by kind: rows of one kind have equal degrees, blocks, plans and splits."""

    def __init__(self, candidates: Candidates, fabric: FabricBase, is_even: bool) -> None:
        self._candidates, self._fabric, self._is_even = candidates, fabric, is_even
        self._known: dict[int, Demand] = {}

    def demand(self, kind: int) -> Demand:
        if kind not in self._known:
            row = int(self.kinds[0][kind])
            self._known[kind] = shape_of(self._candidates, row, self._fabric, is_even=self._is_even)
        return self._known[kind]

    @cached_property
    def kinds(self) -> tuple[Ints, Ints]:
        """First row of each kind, and kind of each row, shape (C,)."""
        c, first = self._candidates, self._candidates.in_first_phase()
        columns = [*group_degrees(c.mappings)[[0, 1, 2, 3, 6]][:, c.mapping], c.block, *c.plan, c.split]
        if first is not c:
            columns += [*first.plan, first.split]
        return _distinct(columns, len(c))


def _distinct(columns: Sequence[NDArray[np.integer]], num_rows: int) -> tuple[Ints, Ints]:
    """First row of each distinct combination of columns, and the combination of each row."""
    table = np.ascontiguousarray(np.stack(columns).T.astype(np.int32))
    if not num_rows:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    _, first, of = np.unique(
        table.view([("", np.int32)] * len(columns)).ravel(), return_index=True, return_inverse=True
    )
    return first, of
