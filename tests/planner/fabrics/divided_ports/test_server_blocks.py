"""What a server holds at most: against every number of blocks of every kind."""

from itertools import product
from random import Random

import numpy as np
import pytest

from planner.candidates.expand import expand
from planner.fabrics.divided_ports.server_blocks import ServerBlocks, servers_by_room
from tests.planner.fabrics.divided_ports.clusters import instance, job


def most_by_enumeration(kinds: list[tuple[int, int, int]], prices: list[int], room: tuple[int, ...]) -> int:
    best = 0
    for counts in product(*(range(room[0] // kind[0] + 1) for kind in kinds)):
        held = [sum(n * kind[axis] for n, kind in zip(counts, kinds, strict=True)) for axis in range(3)]
        if all(takes <= there for takes, there in zip(held, room, strict=True)):
            best = max(best, sum(n * price for n, price in zip(counts, prices, strict=True)))
    return best


@pytest.mark.parametrize("seed", range(30))
def test_most_is_that_of_enumeration_and_attained(seed: int) -> None:
    draw = Random(seed)
    kinds = [(draw.randint(1, 3), draw.randint(0, 4), draw.randint(0, 4)) for _ in range(4)]
    prices = [draw.randint(0, 9) for _ in kinds]
    blocks = ServerBlocks(np.array(kinds), (5, 6, 6))
    table = blocks.most(np.array(prices))
    for room in ((5, 6, 6), (4, 2, 6), (1, 6, 0)):
        most = most_by_enumeration(kinds, prices, room)
        assert table[room] == most
        filled = blocks.filled(np.array(prices), table, room)
        assert filled @ np.array(prices) == most
        assert (filled @ np.array(kinds) <= room).all()


def test_servers_that_have_as_much_are_together() -> None:
    problem = expand(instance(job("a", 2), health={"failed_tiles": ["s1.g0"]}))
    modules, ports, _ = problem.cluster.fabric.shared  # type: ignore[attr-defined]
    assert servers_by_room(problem) == {(4, modules, ports): [0], (3, modules, ports): [1]}
