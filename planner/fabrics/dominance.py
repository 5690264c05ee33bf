"""Candidates that can still matter: those that no other one replaces in every placement."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import GroupPlan, plans_by_pool, racks_of
from costmodel.parallelism.mappings import DIMENSIONS, distinct_rows
from costmodel.pricing.candidates import Candidates
from planner.fabrics.demand import Demand
from planner.fabrics.problem import JobOptions
from planner.model.cluster import Cluster
from planner.model.instance import Instance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
LitPlans = Mapping[int, tuple[int, tuple[int, ...]]]


class AskedOfRows(NamedTuple):
    """What C rows ask for."""

    kind: Ints
    """rows of one kind are compared, shape (C,)"""
    amounts: Ints
    """of these less is better, shape (amounts, C)"""

    @classmethod
    def of_demands(cls, options: JobOptions, ask: Callable[[Demand], tuple[object, tuple[int, ...]]]) -> Self:
        """By the demand of each row: a key, which equal kinds have, and amounts."""
        demands, of = options.shapes.distinct
        found, numbers = list(map(ask, demands)), dict[object, int]()
        kinds = [numbers.setdefault(key, len(numbers)) for key, _ in found]
        amounts = np.array([each for _, each in found], np.int64)
        return cls(np.array(kinds, np.int64)[of], amounts[of].T)

    def beside(self, options: JobOptions, amounts_of: Callable[[Demand], tuple[int, ...]]) -> Self:
        """And amounts that depend on the demand of each row."""
        more = type(self).of_demands(options, lambda demand: (None, amounts_of(demand)))
        return self._replace(amounts=np.concatenate([self.amounts, more.amounts]))


class Dominance:
    """Drops rows that another one replaces; what a placement depends on is the fabric's to say."""

    holds_in_step_two: ClassVar[bool] = True
    """whether a row that replaces another one does so in step 2 as well"""

    def kept_rows(self, options: JobOptions, instance: Instance) -> Ints:
        """All rows but those that another row replaces in every placement at no loss in any objective, ascending.

        Row k' replaces k if it asks for no more (`asked`), has no less value and no more energy. A resident's current
        row always stays.
        """
        if not len(options):
            return np.zeros(0, np.int64)
        kind, amounts = self.asked(options, instance.cluster)
        order = np.lexsort((amounts.sum(axis=0), options.energy, -options.value, kind))
        energy = np.unique(options.energy, return_inverse=True)[1]
        columns = [column for column in (energy, *amounts) if (column != column[0]).any()]
        is_kept = np.zeros(len(options), np.bool_)
        is_kept[order[_kept(kind[order], np.array(columns, np.int64).reshape(-1, len(options))[:, order])]] = True
        if options.current is not None:
            is_kept[options.current] = True
        return np.flatnonzero(is_kept)

    def comparison(self, options: JobOptions, instance: Instance) -> Callable[[Ints], Ints]:
        """`kept_rows` of all rows of some sizes, given these in ascending order: what sizes share is found once. Here
        rows of one size alone are compared."""
        is_kept = np.zeros(len(options), np.bool_)
        is_kept[self.kept_rows(options, instance)] = True
        return lambda rows: rows[is_kept[rows]]

    def asked(self, options: JobOptions, cluster: Cluster) -> AskedOfRows:
        """Of rows with equal ranks and blocks, and where circuits may leave a block with these alike: their widths."""
        c = options.candidates
        lit, of_plan = plans_with_circuits(c.plans), np.zeros(len(c.plans), np.int64)
        widths = np.zeros((len(c.plans), max((len(each) for _, each in lit.values()), default=0)), np.int64)
        for place, plan in enumerate(c.plans):
            if id(plan) in lit:
                of_plan[place], own = lit[id(plan)]
                widths[place, : len(own)] = own
        is_lit = of_plan[c.plan] > 0
        matters = is_lit if self.depends_on_slots(cluster) else is_lit & ~_confined(c)
        degrees = np.where(matters.any(axis=0), _degrees(c, np.asarray(is_lit[3:].any(axis=0))), 0)
        plans = np.where(matters, of_plan[c.plan], 0)
        alike = (distinct_rows([*columns])[1] for columns in (degrees, plans))
        kind = distinct_rows([c.num_devices, c.block, c.racks, *alike])[1].astype(np.int64)
        held = [np.where(matters[axis], each, 0) for axis in range(len(DIMENSIONS)) for each in widths[c.plan[axis]].T]
        return AskedOfRows(kind, np.array([c.links, *(column for column in held if column.any())], np.int64))

    def depends_on_slots(self, cluster: Cluster) -> bool:
        """True if circuits inside a server matter: slots or failed lasers do."""
        return False


def _confined(c: Candidates) -> Bools:
    """Whether groups along each dimension surely lie in one block, shape (5, C)."""
    is_whole = c.block == c.num_devices
    return np.stack([c.block % c.mappings.tensor[c.mapping] == 0, *4 * [is_whole]])


def _degrees(c: Candidates, has_more: Bools) -> Ints:
    """Degrees as demands have them, shape (8, C); `has_more`: rows with circuits along context or expert."""
    m = c.mappings
    columns = m.tensor, m.pipeline, m.data, m.context, m.expert, m.prefill, m.prefill_tensor, m.prefill_expert
    found = np.stack([column[c.mapping] for column in columns]).astype(np.int64)
    found[[4, 7]] = np.where(has_more, found[[4, 7]], 1)
    found[5:] = np.where(found[6] > 0, found[5:], 0)
    return found


def plans_with_circuits(plans: Sequence[GroupPlan]) -> LitPlans:
    """By identity of a plan: a number from 1 that plans with the same circuits but for their widths share, and the
    widths."""
    numbers: dict[object, int] = {}
    lit = [plan for plan in plans if any(each.configurations() for each in plans_by_pool(plan))]
    pools = list(map(plans_by_pool, lit))
    alike = (tuple((p.kind, p.ranks, p.radices, p.held, racks_of(p)) for p in each) for each in pools)
    widths = (tuple(width for p in each for width in p.wavelengths) for each in pools)
    keys = (numbers.setdefault(key, len(numbers) + 1) for key in alike)
    return {id(plan): (key, each) for plan, key, each in zip(lit, keys, widths, strict=True)}


def _kept(kind: Ints, amounts: Ints) -> Ints:
    """Rows of which no row before, of the same kind, asks for no more of anything, ascending; `kind`, shape (R,), is
    ascending, `amounts` has shape (W, R).

    The first row of each kind stays and drops those that it replaces, then so do the first ones of what is left: a row
    that is dropped replaces nothing that those that dropped it do not.
    """
    found, left = [np.zeros(0, np.int64)], np.arange(len(kind))
    while len(left):
        is_first = np.concatenate([[True], kind[1:] != kind[:-1]])
        found.append(left[is_first])
        firsts = amounts[:, is_first][:, np.cumsum(is_first) - 1]
        stays = (amounts < firsts).any(axis=0)
        left, kind, amounts = left[stays], kind[stays], amounts[:, stays]
    return np.sort(np.concatenate(found))
