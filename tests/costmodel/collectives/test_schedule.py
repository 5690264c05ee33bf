"""Schedules: proved, simulated, and every corruption found."""

import pytest

from costmodel.collectives.best import best
from costmodel.collectives.family import ALGORITHMS, Family
from costmodel.collectives.ladder import Algorithm, Collective, Order
from tests.costmodel.collectives.cases import limits
from tests.costmodel.collectives.schedule_cases import KINDS, holds


@pytest.mark.slow
@pytest.mark.parametrize(("collective", "algorithm"), KINDS)
@pytest.mark.parametrize("overlap", [False, True])
def test_best_plans_are_right_and_take_their_time(collective: Collective, algorithm: Algorithm, overlap: bool) -> None:
    for ranks in (1, 2, 3, 5, 8, 12, 17, 24):
        for max_peers, wavelengths in ((1, 16), (2, 5), (3, 16), (16, 16)):
            for message_bytes in (1e2, 1e7):
                orders: tuple[Order, ...]
                for orders in (("fixed",), ("fixed", "alternating")):
                    family = Family((algorithm,), orders, overlap=overlap)
                    found = best(collective, ranks, message_bytes, limits(max_peers, wavelengths), family)
                    holds(found.plan, message_bytes, overlap)


@pytest.mark.slow
@pytest.mark.parametrize("collective", sorted(ALGORITHMS))
@pytest.mark.parametrize("ranks", [96, 97, 256])
def test_larger_groups(collective: Collective, ranks: int) -> None:
    for message_bytes in (1e3, 1e6, 3e8):
        holds(best(collective, ranks, message_bytes, limits(8)).plan, message_bytes)
