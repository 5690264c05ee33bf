"""Rows are compared as their demands ask: found by columns, and here demand by demand, pair by pair."""

from collections.abc import Sequence

import numpy as np
import pytest

from costmodel.fabrics import GroupPlan, plans_by_pool, racks_of
from planner.candidates.expand import expand
from planner.fabrics import plugin_of
from planner.fabrics.demand import Demand
from planner.fabrics.problem import JobOptions
from planner.model.instance import Instance
from tests.paths import ROOT

INSTANCES = ["lumorph/rack64", "lumorph/rack64_degraded", "serving/two_pools", "datacenter/racks4"]
MOST_ROWS = 150
"""of a job, dealt out over all that are listed"""


def circuits_of(plan: GroupPlan) -> tuple[object, tuple[int, ...]] | None:
    """All that two plans with the same circuits have in common, and their widths; None without circuits."""
    pools = plans_by_pool(plan)
    if not any(each.configurations() for each in pools):
        return None
    alike = tuple((each.kind, each.ranks, each.radices, each.held, racks_of(each)) for each in pools)
    return alike, tuple(width for each in pools for width in each.wavelengths)


def asked(demand: Demand, *, slots_matter: bool) -> tuple[object, tuple[int, ...]]:
    """What is alike of rows that are compared, and what is to be less."""
    stays = [demand.block % demand.tensor == 0, *4 * [demand.block == demand.num_ranks]]
    found = [
        circuits_of(plan) if slots_matter or not inside else None
        for plan, inside in zip(demand.plans, stays, strict=False)
    ]
    lit = [each for each in found if each is not None]
    key = demand.num_ranks, demand.block, demand.racks, demand.degrees if lit else None, *(alike for alike, _ in lit)
    return key, (demand.links, *(width for _, widths in lit for width in widths))


def replaced(options: JobOptions, each: Sequence[tuple[object, tuple[int, ...]]], row: int) -> bool:
    """Whether another row asks for no more, is worth no less and takes no more energy, or is alike and comes first."""

    def is_no_worse(one: int, other: int) -> bool:
        (key, amounts), (wanted, most) = each[one], each[other]
        return (
            key == wanted
            and options.value[one] >= options.value[other]
            and options.energy[one] <= options.energy[other]
            and all(a <= b for a, b in zip(amounts, most, strict=True))
        )

    others = (other for other in range(len(options)) if other != row)
    return any(is_no_worse(other, row) and (other < row or not is_no_worse(row, other)) for other in others)


@pytest.mark.parametrize("name", INSTANCES)
def test_rows_that_stay(name: str) -> None:
    instance = Instance.load(ROOT / "instances" / f"{name}.yaml")
    rules = plugin_of(instance.cluster.fabric).dominance
    slots_matter = rules.depends_on_slots(instance.cluster)
    num_dropped = 0
    for every in expand(instance, prune=False).options[:2]:
        options = every.take(np.arange(0, len(every), max(len(every) // MOST_ROWS, 1)))
        each = [asked(demand, slots_matter=slots_matter) for demand in options.shapes]
        stay = [row for row in range(len(options)) if not replaced(options, each, row)]
        assert rules.kept_rows(options, instance).tolist() == stay
        num_dropped += len(options) - len(stay)
    assert num_dropped
