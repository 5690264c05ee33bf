"""Candidates that can still matter: those that no other one replaces in every placement."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import GroupPlan, plans_by_pool, racks_of
from planner.fabrics.demand import Demand
from planner.fabrics.problem import JobOptions
from planner.model.cluster import Cluster
from planner.model.instance import Instance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Asked = tuple[object, tuple[int, ...]]
"""demands with equal keys are compared; of these amounts, as many for each of them, less is better"""
LitPlans = Mapping[int, tuple[int, tuple[int, ...]]]
CHUNK = 512
"""rows compared at once with those before them"""


class Dominance:
    """Drops rows that another one replaces; what a placement depends on is the fabric's to say."""

    holds_in_step_two: ClassVar[bool] = True
    """whether a row that replaces another one does so in step 2 as well"""

    def kept_rows(self, options: JobOptions, instance: Instance) -> Ints:
        """All rows but those that another row replaces in every placement at no loss in any objective, ascending.

        Row k' replaces k if it asks for no more (`asked`), has no less value and no more energy. A resident's current
        row always stays.
        """
        asked, of = self.asked(options, instance.cluster)
        numbers: dict[object, int] = {}
        group = np.array([numbers.setdefault(key, len(numbers)) for key, _ in asked], np.int64)[of]
        total = np.array([sum(amounts) for _, amounts in asked], np.float64)[of]
        order = np.lexsort((total, options.energy, -options.value, group))
        is_replaced = np.zeros(len(options), dtype=np.bool_)
        for rows in np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(order) else ():
            amounts = np.array([asked[kind][1] for kind in of[rows].tolist()])
            is_replaced[rows] = _after_a_better(options.energy[rows], amounts)
        if options.current is not None:
            is_replaced[options.current] = False
        return np.flatnonzero(~is_replaced)

    def comparison(self, options: JobOptions, instance: Instance) -> Callable[[Ints], Ints]:
        """`kept_rows` of all rows of some sizes, given these in ascending order: what sizes share is found once. Here
        rows of one size alone are compared."""
        is_kept = np.zeros(len(options), np.bool_)
        is_kept[self.kept_rows(options, instance)] = True
        return lambda rows: rows[is_kept[rows]]

    def asked(self, options: JobOptions, cluster: Cluster) -> tuple[list[Asked], Ints]:
        """What rows ask for, each once, and which of it each row does, shape (C,)."""
        demands, of = options.shapes.distinct
        return [*map(self.asking(options, cluster), demands)], of

    def asking(self, options: JobOptions, cluster: Cluster) -> Callable[[Demand], Asked]:
        """Amounts that a demand asks for: ranks and blocks, and where circuits may leave a block these, with widths."""
        lit, matters = plans_with_circuits(options.candidates.plans), self.depends_on_slots(cluster)

        def asked(demand: Demand) -> Asked:
            confined = (demand.block % demand.tensor == 0, *4 * (demand.block == demand.num_ranks,))
            plans = [
                lit[id(plan)]
                for plan, is_confined in zip(demand.plans, confined, strict=False)
                if id(plan) in lit and (matters or not is_confined)
            ]
            degrees = demand.degrees if plans else ()
            key = demand.num_ranks, demand.block, demand.racks, degrees, *(number for number, _ in plans)
            return key, (demand.links, *sum((widths for _, widths in plans), ()))

        return asked

    def depends_on_slots(self, cluster: Cluster) -> bool:
        """True if circuits inside a server matter: slots or failed lasers do."""
        return False


def plans_with_circuits(plans: Sequence[GroupPlan]) -> LitPlans:
    """By identity of a plan: a number that plans with the same circuits but for their widths share, and the widths."""
    numbers: dict[object, int] = {}
    lit = [plan for plan in plans if any(each.configurations() for each in plans_by_pool(plan))]
    pools = list(map(plans_by_pool, lit))
    alike = (tuple((p.kind, p.ranks, p.radices, p.held, racks_of(p)) for p in each) for each in pools)
    widths = (tuple(width for p in each for width in p.wavelengths) for each in pools)
    keys = (numbers.setdefault(key, len(numbers)) for key in alike)
    return {id(plan): (key, each) for plan, key, each in zip(lit, keys, widths, strict=True)}


def _after_a_better(energy: Floats, widths: NDArray[np.int64]) -> NDArray[np.bool_]:
    """True if some row before each one has no more energy and is nowhere wider, shape (R,); `widths` is (R, W)."""
    after = np.zeros(len(energy), dtype=np.bool_)
    for first in range(1, len(energy), CHUNK):
        last = min(first + CHUNK, len(energy))
        better = energy[:last] <= energy[first:last, None]
        for column in widths.T:
            better &= column[:last] <= column[first:last, None]
        after[first:last] = np.tril(better, first - 1).any(axis=1)
    return after
