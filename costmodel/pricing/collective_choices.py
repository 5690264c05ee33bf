"""Blocks of given degrees of parallelism, and the plans along each dimension that go together."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import NO_PLAN, FabricBase, GroupPlan, plans_by_pool
from costmodel.fabrics.across_racks import plans_across, rack_counts
from costmodel.parallelism.degrees import RANK_ORDERS, Degrees, RankOrder
from costmodel.parallelism.described import plans_of
from costmodel.parallelism.mappings import DIMENSIONS, Dimension
from costmodel.workloads import Workload

BlocksOf = Callable[[FabricBase, Sequence[int], int], Sequence[int]]
"""blocks to list, given the sizes of the groups that should not be torn apart, and the number of devices"""
Numbers = tuple[int, ...]
DATA = DIMENSIONS.index("data")
REDUCING = ("tensor", "data", "context")
"""dimensions along which messages are all-reduced"""


@dataclass(frozen=True)
class ListedBlocks:
    """Blocks that suit what a user asks of places, as in `enumerate_candidates`."""

    one_server: bool
    per_server: int | None

    def __call__(self, fabric: FabricBase, spans: Sequence[int], num_devices: int) -> Sequence[int]:
        if self.one_server:
            found: Sequence[int] = (num_devices,) if num_devices <= fabric.devices_per_server else ()
        else:
            found = fabric.blocks(spans, num_devices)
        return found if self.per_server is None else fabric.even_blocks(found, num_devices, self.per_server)


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
        self._server = fabric.devices_per_server if workload.tensor_leaves_servers else None
        self._sends = [workload.sends(dimension) for dimension in DIMENSIONS]
        self._sends_halves = [workload.sends_halves(dimension) for dimension in DIMENSIONS]
        self._orders = [order for order in RANK_ORDERS if order in fabric.rank_orders]
        self._allowed = [order for order in self._orders if order in workload.rank_orders] or self._orders
        self._listed = dict[tuple[int, int, int, int], Numbers]()
        self._listed_of_pools = dict[tuple[int, Degrees, int], Numbers]()
        self._across = dict[tuple[int, int, int, int], Numbers]()
        self._combined = dict[tuple[tuple[Numbers, ...], tuple[bool, ...]], list[Numbers]]()
        self._rows = dict[tuple[Numbers, int], NDArray[np.int32]]()

    def all_rows(self, degrees: Sequence[int], num_devices: int) -> NDArray[np.int32]:
        """`rows`, shape (7, rows), found once for all splits that leave the same to the network."""
        key = tuple(degrees), num_devices
        if key not in self._rows:
            self._rows[key] = np.array(list(self.rows(*key)), np.int32).reshape(-1, 2 + len(DIMENSIONS)).T
        return self._rows[key]

    def renumbered(self, numbers: NDArray[np.int32], plans: dict[GroupPlan, int]) -> NDArray[np.int32]:
        """Numbers of plans as their numbers among others, which grow by those that are new there."""
        every, place = tuple(self.plans), np.zeros(len(self.plans), np.int32)
        for number in np.flatnonzero(np.bincount(numbers.ravel(), minlength=1)).tolist():
            place[number] = plans.setdefault(every[number], len(plans))
        return place[numbers]

    def rows(self, degrees: Sequence[int], num_devices: int) -> Iterator[Numbers]:
        """Block, place in RANK_ORDERS and number of the plan along each dimension, of every combination.

        `degrees` are as `group_degrees` has them, here and in `missing`.
        """
        if self.fabric.upper_layer is None or num_devices <= self.fabric.devices_per_rack:
            yield from self._rows_of(degrees, num_devices, 1)
        usual = _laid(degrees)
        replicas = 1 if self.one_rack or usual.prefill else usual.data // usual.expert
        for racks in rack_counts(self.fabric, replicas, num_devices):
            part = *degrees[:2], degrees[2] // racks, *degrees[3:]
            yield from self._rows_of(part, num_devices // racks, racks)

    def _rows_of(self, degrees: Sequence[int], num_devices: int, racks: int) -> Iterator[Numbers]:
        """The same of a job with these degrees, and so many devices, in each of so many racks."""
        for block, order, ranks, together in self._layouts(degrees, num_devices):
            menus = [*self._menus(degrees, ranks, together, block)]
            inside = [near == of for near, of in zip(together, ranks, strict=True)]
            if racks > 1:
                menus[DATA] = self._numbers_across(ranks[DATA], together[DATA], num_devices, racks)
            laid = block, RANK_ORDERS.index(order)
            yield from (laid + chosen for chosen in self._combinations(tuple(menus), tuple(inside)))

    def missing(self, degrees: Sequence[int], num_devices: int) -> Iterator[list[tuple[Dimension, int]]]:
        """Of each layout, dimensions without a plan, and the ranks of their groups."""
        for block, _, ranks, together in self._layouts(degrees, num_devices):
            menus = self._menus(degrees, ranks, together, block)
            yield [(d, of) for d, of, menu in zip(DIMENSIONS, ranks, menus, strict=True) if not menu]

    def _menus(
        self, degrees: Sequence[int], ranks: Sequence[int], together: Numbers, block: int
    ) -> tuple[Numbers, ...]:
        """Numbers of the plans along each dimension."""
        if (laid := _laid(degrees)).prefill_tensor:
            return tuple(map(self._numbers_of_pools, range(len(DIMENSIONS)), repeat(laid), repeat(block)))
        return tuple(map(self._numbers, range(len(DIMENSIONS)), ranks, together, repeat(laid.prefill)))

    def _numbers_of_pools(self, axis: int, degrees: Degrees, block: int) -> Numbers:
        """The same of two pools with degrees of their own, of one dimension."""
        key = axis, degrees, block
        if key not in self._listed_of_pools:
            dimension = DIMENSIONS[axis]
            found = plans_of(self.fabric, degrees, dimension, block) if self._sends[axis] else (NO_PLAN,)
            if self.collective is not None and dimension in REDUCING and dimension != "data":
                kinds = {"none", self.collective}
                found = [plan for plan in found if {each.kind for each in plans_by_pool(plan)} <= kinds]
            self._listed_of_pools[key] = tuple(self.plans.setdefault(plan, len(self.plans)) for plan in found)
        return self._listed_of_pools[key]

    def _layouts(
        self, degrees: Sequence[int], num_devices: int
    ) -> Iterator[tuple[int, RankOrder, Sequence[int], Numbers]]:
        """Blocks under each order, ranks of the groups, and how many of them then share a server: once where alike."""
        seen = set[tuple[int, Numbers]]()
        usual = _laid(degrees)
        ranks = [usual.ranks(dimension) for dimension in DIMENSIONS]
        for order in dict.fromkeys(map(usual.first_order_like, self._allowed)):
            laid = usual if order == usual.order else replace(usual, order=order)
            for block in self.blocks(self.fabric, laid.spans(self._server), num_devices):
                together = laid.together(block)
                if (block, together) not in seen:
                    seen.add((block, together))
                    yield block, order, ranks, together

    def _numbers(self, axis: int, ranks: int, together: int, prefill: int) -> Numbers:
        """Numbers of the plans of a group of which so many ranks share a server, and so many run prompts alone."""
        key = axis, ranks, together, prefill
        if key not in self._listed:
            self._listed[key] = tuple(self.plans.setdefault(plan, len(self.plans)) for plan in self._plans(*key))
        return self._listed[key]

    def _numbers_across(self, ranks: int, together: int, devices: int, racks: int) -> Numbers:
        """Numbers of the plans of a data group: its ranks in each rack, those that share a server, the job's devices in
        each rack, and racks."""
        key = ranks, together, devices, racks
        if key not in self._across:
            inner = self._plans(DATA, ranks, together, 0)
            found = plans_across(self.fabric, inner, racks, devices, is_sent=self._sends[DATA])
            self._across[key] = tuple(self.plans.setdefault(plan, len(self.plans)) for plan in found)
        return self._across[key]

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

    def _combinations(self, menus: tuple[Numbers, ...], inside: tuple[bool, ...]) -> list[Numbers]:
        """Numbers of plans, one of each menu, that the fabric offers together."""
        key = menus, inside
        if key not in self._combined:
            numbered = tuple(self.plans)
            plans = [[numbered[number] for number in menu] for menu in menus]
            chosen = self.fabric.combinations(plans, inside)
            self._combined[key] = [tuple(m[p] for m, p in zip(menus, places, strict=True)) for places in chosen]
        return self._combined[key]


def _laid(degrees: Sequence[int]) -> Degrees:
    """Degrees of a row of `group_degrees`."""
    tensor, pipeline, shards, context, expert, prefill, own_tensor, own_expert = degrees
    return Degrees(
        tensor, pipeline, shards // context, context, expert, RANK_ORDERS[0], prefill, own_tensor, own_expert
    )
