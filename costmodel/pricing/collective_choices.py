"""Blocks of given degrees of parallelism, and the plans along each dimension that go together."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import NO_PLAN, FabricBase, GroupPlan, plans_by_pool
from costmodel.fabrics.across_racks import plans_across
from costmodel.fabrics.group_plans import PlanMenu
from costmodel.parallelism.degrees import RANK_ORDERS, Degrees, RankOrder
from costmodel.parallelism.described import plans_of
from costmodel.parallelism.mappings import DIMENSIONS, Dimension, distinct_rows
from costmodel.pricing.laid_rows import (
    DATA,
    MenuAcross,
    MenuKey,
    MenuOfGroup,
    MenuOfPools,
    laid_rows,
    runs,
)
from costmodel.pricing.layouts import BlocksOf, Key, laid_degrees, layouts
from costmodel.workloads import Workload

Ints = NDArray[np.int32]
UNKNOWN = -1
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
        self._laid = laid_rows(fabric, self._layouts, self.one_rack)
        self._menus = dict[MenuKey, NumberedMenu]()
        self._kinds = dict[Hashable, int]()
        self._numbers = list[int]()
        """of the plans of all menus, one after the other"""
        self._places = np.full((2, 0), UNKNOWN, np.int64)
        """`first` and `kind` of menus by their numbers in the table of layouts; UNKNOWN of those not asked for yet"""
        self._combined = dict[tuple[tuple[int, ...], int], Ints]()

    def table(self, keys: Sequence[Key]) -> tuple[Ints, NDArray[np.int64]]:
        """Block, place in RANK_ORDERS and number of the plan along each dimension of every combination, shape (7,
        rows), those of each key one after the other, and how many each key has."""
        laid, of_key = self._laid.of(keys)
        insides, menus = laid[:, 2], laid[:, 3:]
        first, kind = self._places_of(menus)
        one, of = distinct_rows([*kind.T, insides])
        chosen = [
            self._combinations([self._menus[self._laid.menus[m]] for m in menus[row].tolist()], int(insides[row]))
            for row in one.tolist()
        ]
        length = np.array(list(map(len, chosen)), np.int64)
        number = length[of]
        at = np.repeat(np.arange(len(laid)), number)
        table = np.empty((2 + len(DIMENSIONS), len(at)), np.int32)
        table[:2] = laid[at, :2].T
        if len(at):
            places = np.concatenate(chosen)[runs((np.cumsum(length) - length)[of], number)]
            table[2:] = np.array(self._numbers, np.int32)[first[at].T + places.T]
        key = np.repeat(np.arange(len(of_key)), of_key)
        return table, np.bincount(key, weights=number, minlength=len(of_key)).astype(np.int64)

    def _places_of(self, menus: Ints) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """`first` and `kind` of menus by number, each of the same shape."""
        missing = len(self._laid.menus) - self._places.shape[1]
        self._places = np.pad(self._places, ((0, 0), (0, missing)), constant_values=UNKNOWN)
        new, met = np.unique(menus[self._places[0][menus] == UNKNOWN], return_index=True)
        for number in new[np.argsort(met)].tolist():
            menu = self._menu(self._laid.menus[number])
            self._places[:, number] = menu.first, menu.kind
        return self._places[0][menus], self._places[1][menus]

    def renumbered(self, numbers: Ints, plans: dict[GroupPlan, int]) -> Ints:
        """Numbers of plans as their numbers among others, which grow by those that are new there."""
        every, place = tuple(self.plans), np.zeros(len(self.plans), np.int32)
        for number in np.flatnonzero(np.bincount(numbers.ravel(), minlength=1)).tolist():
            place[number] = plans.setdefault(every[number], len(plans))
        return place[numbers]

    def missing(self, key: Key) -> Iterator[list[tuple[Dimension, int]]]:
        """Of each layout, in one rack where it has room, dimensions without a plan, and the ranks of their groups; a
        data group over racks has one if its part in each rack does, whatever joins racks."""
        laid, _ = self._laid.of([key])
        ranks = tuple(map(laid_degrees(key[0]).ranks, DIMENSIONS))
        for row in laid[:, 3:].tolist():
            keys = [self._laid.menus[number] for number in row]
            if key[1] > self.fabric.devices_per_rack or not isinstance(keys[DATA], MenuAcross):
                yield [
                    (d, of) for d, of, menu in zip(DIMENSIONS, ranks, keys, strict=True) if not self._is_joined(menu)
                ]

    def _is_joined(self, key: MenuKey) -> bool:
        if isinstance(key, MenuAcross):
            return bool(self._plans(DATA, key.ranks, key.together, 0))
        return bool(self._menu(key).plans)

    def _menu(self, key: MenuKey) -> NumberedMenu:
        """A menu, made when first asked for."""
        if key not in self._menus:
            menu = PlanMenu(self._plans_of(key))
            kind = self._kinds.setdefault(self.fabric.menu_key(menu), len(self._kinds))
            self._menus[key] = NumberedMenu(len(self._numbers), menu, kind)
            self._numbers += [self.plans.setdefault(plan, len(self.plans)) for plan in menu]
        return self._menus[key]

    def _plans_of(self, key: MenuKey) -> Iterable[GroupPlan]:
        match key:
            case MenuOfGroup():
                return self._plans(*key)
            case MenuOfPools():
                return self._plans_of_pools(*key)
            case MenuAcross(_, ranks, together, devices, racks):
                inner = self._plans(DATA, ranks, together, 0)
                return plans_across(self.fabric, inner, racks, devices, is_sent=self._sends[DATA])

    def _plans_of_pools(self, axis: int, degrees: Degrees, block: int) -> Sequence[GroupPlan]:
        """Those of two pools with degrees of their own, of one dimension."""
        dimension = DIMENSIONS[axis]
        found = plans_of(self.fabric, degrees, dimension, block) if self._sends[axis] else (NO_PLAN,)
        if self.collective is None or dimension not in REDUCING or dimension == "data":
            return found
        kinds = {"none", self.collective}
        return [plan for plan in found if {each.kind for each in plans_by_pool(plan)} <= kinds]

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

    def _combinations(self, menus: Sequence[NumberedMenu], inside: int) -> Ints:
        """Positions in the menus of plans that the fabric offers together, shape (rows, 5); `inside`: number of what
        lies in one server."""
        key = tuple([menu.kind for menu in menus]), inside
        if key not in self._combined:
            chosen = self.fabric.combinations([menu.plans for menu in menus], self._laid.insides[inside])
            found = chosen if isinstance(chosen, np.ndarray) else np.array([*chosen], np.int32)
            self._combined[key] = found.reshape(-1, len(DIMENSIONS))
        return self._combined[key]
