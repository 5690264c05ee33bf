"""Rounds of an exchange reduce every chunk exactly once."""

from dataclasses import replace
from functools import partial

import pytest

from costmodel.collectives.ladder import Order
from costmodel.fabrics import PlanKind
from costmodel.parallelism.configuration import Collective
from planner.checks.required import is_sound
from planner.checks.schedule import ends_reduced, reduces_once, schedule_of


@pytest.mark.parametrize("kind", ["radix", "exchange"])
@pytest.mark.parametrize(
    ("ranks", "radices"),
    [(5, (3, 2)), (5, (2, 3)), (7, (3, 3)), (11, (4, 3)), (13, (2, 4, 2)), (23, (5, 5)), (6, (2, 2, 2))],
)
def test_radices_beyond_the_ranks(kind: PlanKind, ranks: int, radices: tuple[int, ...]) -> None:
    order: Order = "alternating" if kind == "exchange" else "fixed"
    digits = (1,) * len(radices)
    collective = Collective(kind=kind, radices=radices, held=digits, wavelengths=digits, order=order)
    assert is_sound(collective, ranks)
    assert reduces_once(collective, ranks)


def test_rounds_that_do_not_reduce_once() -> None:
    collective = Collective(kind="radix", radices=(2, 3), held=(1, 1), wavelengths=(4, 2))
    schedule = schedule_of(collective, 6)
    check = partial(ends_reduced, ranks=6)
    first, second, *gather = schedule.rounds
    assert check(schedule)
    assert not check(replace(schedule, rounds=(first, second)))
    assert not check(replace(schedule, rounds=(first, first, second, *gather)))
    assert not check(replace(schedule, rounds=(second, first, *gather)))
    assert not check(replace(schedule, rounds=(first, replace(second, sends=second.sends[1:]), *gather)))
