"""Blocks of given degrees of parallelism, and the plans along each dimension that go together."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import NO_PLAN, FabricBase, GroupPlan, plans_by_pool
from costmodel.fabrics.across_racks import plans_across, rack_counts
from costmodel.fabrics.group_plans import PlanMenu
from costmodel.parallelism.degrees import RANK_ORDERS, Degrees, RankOrder
from costmodel.parallelism.described import plans_of
from costmodel.parallelism.mappings import DIMENSIONS, Dimension
from costmodel.pricing.layouts import BlocksOf, Key, LaidDegrees, RankLayout, laid_degrees, layouts
from costmodel.workloads import Workload

Ints = NDArray[np.int32]
DATA = DIMENSIONS.index("data")
REDUCING = ("tensor", "data", "context")
"""dimensions along which messages are all-reduced"""


def plan_choices(
    workload: Workload, fabric: FabricBase, blocks: BlocksOf, collective: str | None, one_rack: bool
) -> "PlanChoices":
    """Choices found once for all workloads that send along the same dimensions."""
    sends = *map(workload.sends, DIMENSIONS), *map(workload.sends_halves, DIMENSIONS), workload.tensor_leaves_servers
    text = f"{type(fabric).__name__} {fabric.model_dump_json()}"
    return _choices(_Question(text, sends, workload.rank_orders, blocks, collective, one_rack, (workload, fabric)))


@dataclass(frozen=True)
class _Question:
    """All that choices depend on; the objects come along."""

    text: str
    sends: tuple[bool, ...]
    orders: tuple[RankOrder, ...]
    blocks: BlocksOf
    collective: str | None
    one_rack: bool
    parts: tuple[Workload, FabricBase] = field(compare=False)


@lru_cache(maxsize=64)
def _choices(question: _Question) -> "PlanChoices":
    return PlanChoices(*question.parts, question.blocks, question.collective, question.one_rack)


class NumberedMenu(NamedTuple):
    """Plans along one dimension, to choose one of."""

    first: int
    """place of the first of them among the numbers of all menus"""
    plans: PlanMenu
    kind: int
    """equal where fabrics combine menus alike"""


class LayoutRows(NamedTuple):
    """All layouts of some degrees, and the plans that go together in each."""

    laid: list[tuple[int, ...]]
    """block, place in RANK_ORDERS, and the first place of the menu along each dimension"""
    places: list[Ints]
    """of each layout positions in its menus, shape (rows, 5)"""


@dataclass
class PlanChoices:
    """Blocks and plans that one workload has on one fabric; what many degrees of parallelism share is found once."""

    workload: Workload
    fabric: FabricBase
    blocks: BlocksOf
    collective: str | None
    one_rack: bool = False
    """whether no job may span racks, joined or not"""

    def __post_init__(self) -> None:
        workload, fabric = self.workload, self.fabric
        self.plans = dict[GroupPlan, int]()
        """with their numbers, which grow as plans are met"""
        self._sends = [workload.sends(dimension) for dimension in DIMENSIONS]
        self._sends_halves = [workload.sends_halves(dimension) for dimension in DIMENSIONS]
        orders = [order for order in RANK_ORDERS if order in fabric.rank_orders]
        allowed = [order for order in orders if order in workload.rank_orders] or orders
        server = fabric.devices_per_server if workload.tensor_leaves_servers else None
        self._layouts = layouts(fabric, self.blocks, tuple(allowed), server)
        self._menus = dict[tuple[object, ...], NumberedMenu]()
        self._kinds = dict[Hashable, int]()
        self._numbers = list[int]()
        """of the plans of all menus, one after the other"""
        self._combined = dict[tuple[tuple[int, ...], tuple[bool, ...]], Ints]()
        self._rows = dict[Key, LayoutRows]()

    def table(self, keys: Iterable[Key]) -> tuple[Ints, NDArray[np.int64]]:
        """Block, place in RANK_ORDERS and number of the plan along each dimension of every combination, shape (7,
        rows), those of each key one after the other, and how many each key has."""
        found = [self._rows_of_all(key) for key in keys]
        laid = [each for rows in found for each in rows.laid]
        places = [each for rows in found for each in rows.places]
        of = np.repeat(np.arange(len(laid)), [len(each) for each in places])
        table = np.array(laid, np.int32).reshape(-1, 2 + len(DIMENSIONS))[of].T
        if len(of):
            table[2:] = np.array(self._numbers, np.int32)[table[2:] + np.concatenate(places).T]
        return table, np.array([sum(map(len, rows.places)) for rows in found], np.int64)

    def renumbered(self, numbers: Ints, plans: dict[GroupPlan, int]) -> Ints:
        """Numbers of plans as their numbers among others, which grow by those that are new there."""
        every, place = tuple(self.plans), np.zeros(len(self.plans), np.int32)
        for number in np.flatnonzero(np.bincount(numbers.ravel(), minlength=1)).tolist():
            place[number] = plans.setdefault(every[number], len(plans))
        return place[numbers]

    def missing(self, key: Key) -> Iterator[list[tuple[Dimension, int]]]:
        """Of each layout, dimensions without a plan, and the ranks of their groups."""
        laid = self._layouts(key)
        for layout in laid.layouts:
            menus = self._menus_of(laid, layout)
            yield [(d, of) for d, of, menu in zip(DIMENSIONS, laid.ranks, menus, strict=True) if not menu.plans]

    def _rows_of_all(self, key: Key) -> LayoutRows:
        """All rows of a key, found once for all splits that leave the same to the network."""
        if key not in self._rows:
            degrees, num_devices = key
            found = LayoutRows([], [])
            if self.fabric.upper_layer is None or num_devices <= self.fabric.devices_per_rack:
                self._add(found, key, 1)
            usual = laid_degrees(degrees)
            replicas = 1 if self.one_rack or usual.prefill else usual.data // usual.expert
            for racks in rack_counts(self.fabric, replicas, num_devices):
                part = *degrees[:2], degrees[2] // racks, *degrees[3:]
                self._add(found, (part, num_devices // racks), racks)
            self._rows[key] = found
        return self._rows[key]

    def _add(self, rows: LayoutRows, key: Key, racks: int) -> None:
        """The rows of a job with these degrees, and so many devices, in each of so many racks."""
        laid = self._layouts(key)
        for layout in laid.layouts:
            menus = self._menus_of(laid, layout)
            if racks > 1:
                menus[DATA] = self._menu_across(laid.ranks[DATA], layout.together[DATA], key[1], racks)
            if len(places := self._combinations(menus, layout.inside)):
                rows.laid.append((layout.block, layout.order, *[menu.first for menu in menus]))
                rows.places.append(places)

    def _menus_of(self, laid: LaidDegrees, layout: RankLayout) -> list[NumberedMenu]:
        """The menu along each dimension."""
        degrees, axes = laid.degrees, range(len(DIMENSIONS))
        if degrees.prefill_tensor:
            return [self._menu_of_pools(axis, degrees, layout.block) for axis in axes]
        return [self._menu(axis, laid.ranks[axis], layout.together[axis], degrees.prefill) for axis in axes]

    def _kept(self, key: tuple[object, ...], plans: Iterable[GroupPlan]) -> NumberedMenu:
        """A menu that is met for the first time."""
        menu = PlanMenu(plans)
        kind = self._kinds.setdefault(self.fabric.menu_key(menu), len(self._kinds))
        found = self._menus[key] = NumberedMenu(len(self._numbers), menu, kind)
        self._numbers += [self.plans.setdefault(plan, len(self.plans)) for plan in found.plans]
        return found

    def _menu_of_pools(self, axis: int, degrees: Degrees, block: int) -> NumberedMenu:
        """The same of two pools with degrees of their own, of one dimension."""
        key = axis, degrees, block
        if key in self._menus:
            return self._menus[key]
        dimension = DIMENSIONS[axis]
        found = plans_of(self.fabric, degrees, dimension, block) if self._sends[axis] else (NO_PLAN,)
        if self.collective is not None and dimension in REDUCING and dimension != "data":
            kinds = {"none", self.collective}
            found = [plan for plan in found if {each.kind for each in plans_by_pool(plan)} <= kinds]
        return self._kept(key, found)

    def _menu(self, axis: int, ranks: int, together: int, prefill: int) -> NumberedMenu:
        """That of a group of which so many ranks share a server, and so many run prompts alone."""
        key = axis, ranks, together, prefill
        return self._menus[key] if key in self._menus else self._kept(key, self._plans(*key))

    def _menu_across(self, ranks: int, together: int, devices: int, racks: int) -> NumberedMenu:
        """That of a data group: its ranks in each rack, those that share a server, the job's devices in each rack, and
        racks."""
        key = ranks, together, devices, racks, "racks"
        if key in self._menus:
            return self._menus[key]
        inner = self._plans(DATA, ranks, together, 0)
        return self._kept(key, plans_across(self.fabric, inner, racks, devices, is_sent=self._sends[DATA]))

    def _plans(self, axis: int, ranks: int, together: int, prefill: int) -> Sequence[GroupPlan]:
        """A dimension that sends nothing needs no plan."""
        dimension = DIMENSIONS[axis]
        if not self._sends[axis]:
            return self.fabric.plans(dimension, 1, one_server=True)
        if prefill and dimension == "data":
            return self.fabric.transfers(prefill, ranks - prefill, one_server=together == ranks)
        found = self.fabric.plans(dimension, ranks, one_server=together == ranks, per_server=together)
        if self._sends_halves[axis]:
            found = [plan for plan in found if plan.kind != "tree"]
        if self.collective is None or dimension not in REDUCING:
            return found
        return [plan for plan in found if plan.kind in ("none", self.collective)]

    def _combinations(self, menus: Sequence[NumberedMenu], inside: tuple[bool, ...]) -> Ints:
        """Positions in the menus of plans that the fabric offers together, shape (rows, 5)."""
        key = tuple([menu.kind for menu in menus]), inside
        if key not in self._combined:
            chosen = self.fabric.combinations([menu.plans for menu in menus], inside)
            found = chosen if isinstance(chosen, np.ndarray) else np.array([*chosen], np.int32)
            self._combined[key] = found.reshape(-1, len(DIMENSIONS))
        return self._combined[key]
