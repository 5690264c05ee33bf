"""Rows that no server holds are dropped."""

import numpy as np
import pytest

from costmodel.fabrics import MemoryNodeRings
from planner.candidates.expand import expand
from planner.fabrics.memory_ring.dominance import most_ranks
from tests.planner.fabrics.memory_ring.ring_cases import instance, job


@pytest.mark.parametrize(("each_side", "most"), [(0, 4), (2, 4), (3, 2), (4, 2), (5, 0)])
def test_most_ranks_of_a_server(each_side: int, most: int) -> None:
    fabric = instance(job("a", 1)).cluster.fabric
    assert isinstance(fabric, MemoryNodeRings)
    assert most_ranks(fabric, each_side) == most


def test_four_ranks_of_one_block_take_half_a_node_each_at_most() -> None:
    (options,) = expand(instance(job("a", 4))).options
    blocks = [options.shapes[row].block for row in range(len(options))]
    sides = np.array([options.shapes[row].held_units // 2 for row in range(len(options))])
    assert all(side <= 2 for block, side in zip(blocks, sides, strict=True) if block == 4)
    assert 2 in sides
