"""Circuits that leave consecutive blocks, against a count of every run of blocks."""

from collections import Counter

import pytest

from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan
from costmodel.fabrics.group_plans import LinkPlan
from costmodel.parallelism.degrees import Degrees
from costmodel.parallelism.mappings import DIMENSIONS
from planner.fabrics.sipam.crossing import Groups, most_crossing


def _by_counting(groups: Groups) -> int:
    degrees, most = Degrees(*groups.ranks), 0
    blocks = degrees.groups(DIMENSIONS[groups.axis]) // groups.block
    number = degrees.num_devices // groups.block
    for circuits, offsets in zip(groups.plan.configurations(), groups.plan.offsets(), strict=True):
        for colour in set(offsets):
            ends = [
                (group[source], group[destination])
                for group in blocks.tolist()
                for (source, destination, _), own in zip(circuits, offsets, strict=True)
                if own == colour
            ]
            for first in range(number):
                for last in range(first + 1, number + 1):
                    run = range(first, last)
                    if len(run) < number:
                        ways = Counter((source in run, destination in run) for source, destination in ends)
                        most = max(most, ways[True, False], ways[False, True])
    return most


def test_most_circuits_that_leave_a_run_of_blocks() -> None:
    limits = Limits(4, 4, 1e-6, 0.0, 1e11)
    asked = [
        Groups((tensor, 1, data, 1, 1), block, plan, 2)
        for tensor, data, block in ((1, 6, 1), (2, 6, 2), (1, 6, 3), (2, 6, 4))
        for plan in (
            CollectivePlan("all_reduce", "ring", data, limits, (), (1,), (2,)),
            CollectivePlan("all_reduce", "ring", data, limits, (), (1,), (4,)),
            CollectivePlan("all_reduce", "exchange", data, limits, (2, 3), (2,), (1, 1)),
            CollectivePlan("all_reduce", "radix", data, limits, (2, 3), (1,), (1, 1)),
        )
    ]
    asked += [Groups((2, 4, 3, 1, 1), block, LinkPlan("line", 4, 1e-6, 1e-11, 1.0, (1,)), 1) for block in (2, 4, 12)]
    expected = [_by_counting(groups) for groups in asked]
    assert any(expected)
    assert most_crossing(asked) == expected
    assert most_crossing(asked[::-1]) == expected[::-1], "what was found before is remembered"


@pytest.mark.parametrize("block", [1, 2])
def test_nothing_leaves_all_blocks_together(block: int) -> None:
    whole = Groups((1, 1, block, 1, 1), block, LinkPlan("line", block, 1e-6, 1e-11, 1.0, (1,)), 2)
    assert most_crossing([whole]) == [0]
