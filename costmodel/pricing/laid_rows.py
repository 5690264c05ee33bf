"""Layouts of many degrees as one table, and the menu of plans that each dimension of them chooses from."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase
from costmodel.fabrics.across_racks import rack_counts
from costmodel.parallelism.degrees import Degrees
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.layouts import Key, LaidDegrees, RankLayout, laid_degrees

Ints = NDArray[np.int32]
Item = TypeVar("Item")
LayoutsOf = Callable[[Key], LaidDegrees]
AXES = range(len(DIMENSIONS))
DATA = DIMENSIONS.index("data")


class MenuOfGroup(NamedTuple):
    """Of a group of which so many ranks share a server, and so many run prompts alone."""

    axis: int
    ranks: int
    together: int
    prefill: int


class MenuOfPools(NamedTuple):
    """Of two pools with degrees of their own."""

    axis: int
    degrees: Degrees
    block: int


class MenuAcross(NamedTuple):
    """Of a data group over racks: its ranks in each rack, those that share a server, the job's devices in each rack."""

    axis: int
    ranks: int
    together: int
    devices: int
    racks: int


MenuKey = MenuOfGroup | MenuOfPools | MenuAcross
"""All that the plans along one dimension depend on beside the fabric and what is sent; unlike kinds are never equal."""


def _menu_keys(laid: LaidDegrees, layout: RankLayout) -> list[MenuKey]:
    """The menu along each of DIMENSIONS."""
    degrees = laid.degrees
    if degrees.prefill_tensor:
        return [MenuOfPools(axis, degrees, layout.block) for axis in AXES]
    return [MenuOfGroup(axis, laid.ranks[axis], layout.together[axis], degrees.prefill) for axis in AXES]


def laid_rows(fabric: FabricBase, layouts: LayoutsOf, one_rack: bool) -> "LaidRows":
    """Found once for all fabrics with the same servers and racks; `one_rack`: whether no job may span racks."""
    return _laid_rows(_Question(fabric.layout_key, layouts, one_rack, fabric))


@dataclass(frozen=True)
class _Question:
    """All that rows depend on; the fabric comes along."""

    text: str
    layouts: LayoutsOf
    one_rack: bool
    fabric: FabricBase = field(compare=False)


@lru_cache(maxsize=64)
def _laid_rows(question: _Question) -> "LaidRows":
    return LaidRows(question.fabric, question.layouts, question.one_rack)


class LaidRows:
    """Layouts of all keys that were asked for, in one rack or over several; those of a key stand together."""

    def __init__(self, fabric: FabricBase, layouts: LayoutsOf, one_rack: bool) -> None:
        self._fabric, self._layouts, self._one_rack = fabric, layouts, one_rack
        self.menus = list[MenuKey]()
        """by number"""
        self.insides = list[tuple[bool, ...]]()
        """by number: whether a group along each dimension lies in one server"""
        self._menu_numbers, self._inside_numbers = dict[MenuKey, int](), dict[tuple[bool, ...], int]()
        self._keys = dict[Key, int]()
        self._starts, self._rows = [0], list[tuple[int, ...]]()
        self._table = np.zeros((0, 3 + len(DIMENSIONS)), np.int32)

    def of(self, keys: Sequence[Key]) -> tuple[Ints, NDArray[np.int64]]:
        """Block, place in RANK_ORDERS, number among `insides` and numbers among `menus` of every layout, shape
        (layouts, 8), those of each key one after the other, and how many each key has."""
        asked = np.array([self._number(key) for key in keys], np.intp)
        if len(self._table) < len(self._rows):
            self._table = np.array(self._rows, np.int32)
        starts = np.array(self._starts, np.int64)
        first, number = starts[asked], starts[asked + 1] - starts[asked]
        return self._table[runs(first, number)], number

    def _number(self, key: Key) -> int:
        """Place of a key among those whose rows are there."""
        if key not in self._keys:
            self._keys[key] = len(self._keys)
            self._rows += self._each(key)
            self._starts.append(len(self._rows))
        return self._keys[key]

    def _each(self, key: Key) -> Iterator[tuple[int, ...]]:
        """Rows in one rack, then in equal parts over each number of racks."""
        (degrees, num_devices), fabric = key, self._fabric
        if fabric.upper_layer is None or num_devices <= fabric.devices_per_rack:
            yield from self._in_each_of(key, 1)
        usual = laid_degrees(degrees)
        replicas = 1 if self._one_rack or usual.prefill else usual.data // usual.expert
        for racks in rack_counts(fabric, replicas, num_devices):
            part = *degrees[:2], degrees[2] // racks, *degrees[3:]
            yield from self._in_each_of((part, num_devices // racks), racks)

    def _in_each_of(self, key: Key, racks: int) -> Iterator[tuple[int, ...]]:
        """Rows of a job with these degrees, and so many devices, in each of so many racks."""
        laid = self._layouts(key)
        for layout in laid.layouts:
            menus = _menu_keys(laid, layout)
            if racks > 1:
                menus[DATA] = MenuAcross(DATA, laid.ranks[DATA], layout.together[DATA], key[1], racks)
            inside = _numbered(layout.inside, self._inside_numbers, self.insides)
            numbers = [_numbered(menu, self._menu_numbers, self.menus) for menu in menus]
            yield layout.block, layout.order, inside, *numbers


def runs(first: NDArray[np.int64], number: NDArray[np.int64]) -> NDArray[np.int64]:
    """So many whole numbers in a row from each first one, one run after the other."""
    ends = np.cumsum(number)
    return np.repeat(first - (ends - number), number) + np.arange(ends[-1] if len(ends) else 0)


def _numbered(item: Item, numbers: dict[Item, int], items: list[Item]) -> int:
    """Number of an item among those met before, which it joins."""
    if item not in numbers:
        numbers[item] = len(items)
        items.append(item)
    return numbers[item]
