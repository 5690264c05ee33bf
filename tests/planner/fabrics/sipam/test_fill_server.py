"""A server filled by counts, against all choices."""

from itertools import product
from random import Random

import pytest

from planner.fabrics.sipam.fill_server import Filling
from tests.planner.fabrics.sipam.packing_cases import drawn


@pytest.mark.parametrize("seed", range(20))
def test_a_server_is_filled_as_well_as_can_be(seed: int) -> None:
    rng = Random(seed)
    menus, whole = [drawn(rng).items for _ in range(4)], (rng.randint(1, 8), rng.randint(1, 12))
    gains = [[item.value - rng.random() for item in items] for items in menus]
    filling = Filling.of(menus, gains, whole)
    room, best = (rng.randint(1, whole[0]), rng.randint(0, whole[1])), 0.0
    for choice in product(*([None, *range(len(items))] for items in menus)):
        taken = [(j, number) for j, number in enumerate(choice) if number is not None]
        if all(sum(menus[j][n][axis] for j, n in taken) <= room[axis - 1] for axis in (1, 2)):
            best = max(best, sum(gains[j][n] for j, n in taken))
    found = filling.within(room)
    assert len({j for j, _ in found}) == len(found)
    assert all(sum(menus[j][n][axis] for j, n in found) <= room[axis - 1] for axis in (1, 2))
    assert sum(gains[j][n] for j, n in found) == pytest.approx(best) == filling.best[room]
