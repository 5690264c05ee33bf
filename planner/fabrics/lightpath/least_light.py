"""Least wavelengths that leave any of the ranks of a job, wherever they lie: ranks one by one, not in blocks."""

from dataclasses import replace

from costmodel.fabrics import GroupPlan, plans_by_pool
from planner.fabrics.block_sets import least_leaving
from planner.fabrics.boundary import MAX_EXACT_BLOCKS
from planner.fabrics.circuits_between import Between
from planner.fabrics.demand import Demand
from planner.fabrics.group_bounds import group_bound
from planner.fabrics.kept_circuits import while_kept

Least = tuple[int, ...]


def leaving_ranks(demand: Demand) -> Least:
    """Least wavelengths that leave k ranks in one configuration, for k = 0..n; exact up to MAX_EXACT_BLOCKS ranks, else
    no more than that. As many enter."""
    ranks, block = demand.num_ranks, demand.block
    if block == 1:
        return tuple(demand.boundary.tolist())
    if ranks <= MAX_EXACT_BLOCKS:
        return tuple(least_leaving(ranks, replace(demand, block=1).between_blocks).tolist())
    if block != demand.tensor or demand.prefill_tensor:
        return (0,) * (ranks + 1)
    split = _least_split(demand)
    twice = split * (2 if len(demand.plans[0].configurations()) == 1 else 1)
    return tuple(
        split if count % block else min(twice, int(demand.boundary[count // block])) for count in range(ranks + 1)
    )


def leaving_in_block(demand: Demand) -> Least:
    """Least wavelengths from k ranks of a block to its others in one configuration, for k = 0..ranks of the block; 0
    where that is not known. Blocks lie in one server each."""
    if 1 < demand.block == demand.tensor <= MAX_EXACT_BLOCKS and not demand.prefill_tensor:
        return _leaving_group(demand.plans[0])
    return (0,) * (demand.block + 1)


@while_kept
def _leaving_group(plan: GroupPlan) -> Least:
    """Of one group alone, every set of its ranks is tried."""
    between = dict.fromkeys(Between.of(circuits, 1, plan.ranks) for circuits in plan.configurations())
    return tuple(least_leaving(plan.ranks, tuple(between)).tolist())


def _least_split(demand: Demand) -> int:
    """Least that leaves ranks of which some are part of a tensor group and not all of it. Of whole multiples of a group
    no fewer than two are such parts, which send at once where there is one configuration."""
    plan = demand.plans[0]
    if len(plans_by_pool(plan)) > 1 or not plan.configurations():
        return 0
    return int(group_bound(plan)[1:-1].min(initial=group_bound(plan).max()))
