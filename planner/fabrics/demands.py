"""Demands of the rows of a job's candidates, made when first asked for and shared by all that ask for the same."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Protocol, overload

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.divided_mappings import group_degrees
from costmodel.pricing.servers_by_rack import ServersByRack
from planner.fabrics.demand import Demand, shape_of
from planner.model.job import JobConstraints

Ints = NDArray[np.int64]
ANYWHERE = JobConstraints()


class RowDemands(Sequence[Demand]):
    """Demand of each of C rows; rows that ask for the same circuits share the object, as do rows taken from these."""

    def __init__(self, made: "_Kinds", rows: Ints) -> None:
        self._made, self._rows = made, rows
        self._known: dict[int, Demand] = {}
        """those asked for, by row"""

    @classmethod
    def of(cls, candidates: Candidates, fabric: FabricBase, asked: JobConstraints = ANYWHERE) -> "RowDemands":
        """RowDemands of all rows of a job that may ask for as many ranks on each server, and for servers by rack."""
        is_even = asked.per_server is not None
        return cls(_Made(candidates, fabric, is_even, asked.servers_by_rack), np.arange(len(candidates)))

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
            self._known[row] = self._made.demand(int(self._rows[row]))
        return self._known[row]

    def __iter__(self) -> Iterator[Demand]:
        demands, of = self.distinct
        return (demands[kind] for kind in of.tolist())

    def take(self, rows: Ints) -> "RowDemands":
        """Of the given rows, in this order."""
        return RowDemands(self._made, self._rows[rows])

    @cached_property
    def in_rack(self) -> "RowDemands":
        """What each row asks for in each of its racks."""
        return RowDemands(_InRack(self._made), self._rows)

    @cached_property
    def distinct(self) -> tuple[tuple[Demand, ...], Ints]:
        """Every demand once, and which of them each row has, shape (C,)."""
        first, of = self._made.kinds(self._rows)
        return tuple(map(self._made.demand, self._rows[first].tolist())), of


class _Kinds(Protocol):
    """Demands of rows, one of each kind."""

    def kinds(self, rows: Ints) -> tuple[Ints, Ints]:
        """Place of the first of some rows of each kind, and kind of each of them."""

    def demand(self, row: int) -> Demand: ...


class _Given:
    """A demand that is there already."""

    def __init__(self, demand: Demand) -> None:
        self._demand = demand

    def kinds(self, rows: Ints) -> tuple[Ints, Ints]:
        return np.zeros(1, np.int64), np.zeros(len(rows), np.int64)

    def demand(self, row: int) -> Demand:
        return self._demand


class _InRack:
    """Demands of other rows in each of their racks; equal ones are one object."""

    def __init__(self, made: _Kinds) -> None:
        self._made = made
        self._known: dict[Demand, Demand] = {}

    def kinds(self, rows: Ints) -> tuple[Ints, Ints]:
        return self._made.kinds(rows)

    def demand(self, row: int) -> Demand:
        found = self._made.demand(row).in_rack
        return self._known.setdefault(found, found)


class _Made:
    """RowDemands by kind: rows of one kind have equal degrees, blocks, plans and splits."""

    def __init__(
        self, candidates: Candidates, fabric: FabricBase, is_even: bool, servers_by_rack: ServersByRack | None
    ) -> None:
        self._candidates, self._fabric = candidates, fabric
        self._is_even, self._servers_by_rack = is_even, servers_by_rack
        self._known: dict[bytes, Demand] = {}

    def demand(self, row: int) -> Demand:
        key = self._table[row].tobytes()
        if key not in self._known:
            self._known[key] = shape_of(
                self._candidates, row, self._fabric, is_even=self._is_even, servers_by_rack=self._servers_by_rack
            )
        return self._known[key]

    def kinds(self, rows: Ints) -> tuple[Ints, Ints]:
        if not len(rows):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        table = self._table[rows]
        kinds = table.view([("", np.int32)] * table.shape[1]).ravel()
        _, first, of = np.unique(kinds, return_index=True, return_inverse=True)
        return first, of

    @cached_property
    def _table(self) -> NDArray[np.int32]:
        """A line for each row, equal for rows of one kind."""
        c, first = self._candidates, self._candidates.in_first_phase()
        columns = [*group_degrees(c.mappings)[[0, 1, 2, 3, 6]][:, c.mapping], c.block, *c.plan, c.split]
        columns += [] if first is c else [*first.plan, first.split]
        return np.stack(columns, axis=1, dtype=np.int32, casting="unsafe")
