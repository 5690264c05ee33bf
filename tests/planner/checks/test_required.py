"""Circuits that a configuration requires fit together."""

import pytest

from costmodel.collectives.ladder import Order
from costmodel.fabrics import PlanKind
from costmodel.parallelism.configuration import Collective, Configuration
from planner.checks.required import groups_in_racks, is_sound
from tests.planner.checks.good import ring
from tests.planner.checks.plans import (
    assign,
    broken,
    collective,
    plan_of,
)


@pytest.mark.parametrize(
    ("kind", "ranks", "radices", "held", "order"),
    [
        ("radix", 9, (2, 4), (1, 1), "fixed"),  # reach 8 ranks
        ("radix", 4, (3, 2), (1, 1), "fixed"),  # the third window of 4 ranks is empty
        ("radix", 5, (3, 2), (1, 1), "alternating"),  # goes there and back by itself
        ("exchange", 5, (3, 2), (2,), "alternating"),  # nothing to alternate
        ("exchange", 5, (2, 3), (2,), "fixed"),  # both rounds have a circuit to the rank two ahead
    ],
)
def test_radices_that_do_not_fit(
    kind: PlanKind, ranks: int, radices: tuple[int, ...], held: tuple[int, ...], order: Order
) -> None:
    digits = (1,) * len(radices)
    assert not is_sound(Collective(kind=kind, radices=radices, held=held, wavelengths=digits, order=order), ranks)


@pytest.mark.parametrize(
    ("radices", "is_held", "wavelengths"),
    [
        ((2, 2), (1,), (4, 4)),
        ((2, 2), (), (4, 4)),
        ((2, 3), (1, 1), (4, 2)),
        ((), (), ()),
    ],
)
def test_collective_that_does_not_fit_together(
    radices: tuple[int, ...], is_held: tuple[int, ...], wavelengths: tuple[int, ...]
) -> None:
    instance, _ = ring()
    odd = Configuration(data=4, data_collective=collective("radix", *wavelengths, radices=radices, held=is_held))
    assert broken(instance, plan_of(instance, assign("ring", odd, "s0.t0 s0.t1 s0.t2 s0.t3"))) == {"listed"}


def test_more_racks_than_ranks_of_a_group_are_no_crash() -> None:
    """What is malformed is told by the rule of configurations; groups are asked for before."""
    racks = Collective(kind="ring", wavelengths=(1,), racks=3)
    spread = Configuration(data=2, micro_batch=1, data_collective=racks)
    assert groups_in_racks(spread, "data") == [[0], [1]]
