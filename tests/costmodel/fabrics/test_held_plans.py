"""Collectives that hold one configuration: none is missing that is better on as many ports."""

from collections import Counter
from itertools import product

import pytest

from costmodel.fabrics.held_plans import held_all_reduces, held_all_to_alls, held_reductions, held_transfers
from costmodel.fabrics.ocs_rail import ports_of

ALPHA_S, RATE, PORTS = 1e-6, 1e9, 6


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_no_relay_of_any_radices_and_widths_beats_all_that_is_listed(ranks: int) -> None:
    """Every number of rounds, radices, and wavelengths of their circuits that fit into some ports."""
    listed = held_all_to_alls(ranks, PORTS, ALPHA_S, RATE)
    assert all(len(plan.held) == 1 and ports_of(plan) <= PORTS for plan in listed)
    for rounds in (1, 2, 3):
        for radices in product(range(2, ranks + 1), repeat=rounds):
            for widths in product(range(1, PORTS + 1), repeat=rounds):
                ports = sum((radix - 1) * width for radix, width in zip(radices, widths, strict=True))
                if ports <= PORTS and (seconds := _seconds_per_byte(ranks, radices, widths)) is not None:
                    better = (p for p in listed if ports_of(p) <= ports and p.latency_s <= rounds * ALPHA_S * 1.001)
                    assert min(p.seconds_per_byte for p in better) <= seconds * 1.001, (radices, widths)


def _seconds_per_byte(ranks: int, radices: tuple[int, ...], widths: tuple[int, ...]) -> float | None:
    """Each part goes on by one digit of its distance a round, whose time is that of the busiest circuit."""
    place, seconds = 1, 0.0
    for radix, width in zip(radices, widths, strict=True):
        if place >= ranks:
            return None
        loads = Counter(far // place % radix for far in range(ranks))
        seconds += max((loads[digit] for digit in range(1, radix)), default=0) / ranks / (width * RATE)
        place *= radix
    return seconds if place >= ranks else None


def test_along_context_either_half_is_called_alone() -> None:
    every = held_all_reduces(8, 4, ALPHA_S, RATE)
    assert held_reductions("data", 8, 4, ALPHA_S, RATE) == every
    assert {plan.kind for plan in held_reductions("context", 8, 4, ALPHA_S, RATE)} == {"ring", "radix"}
    assert {plan.kind for plan in every} > {"ring", "radix"}


def test_transfers_have_every_width_that_the_busiest_replica_has_for_its_peers() -> None:
    found = held_transfers(1, 3, 7, ALPHA_S, RATE)
    assert [(plan.wavelengths, ports_of(plan)) for plan in found] == [((2,), 6), ((1,), 3)]
    assert [plan.seconds_per_byte for plan in found] == [1 / (2 * RATE), 1 / RATE]
    assert held_transfers(1, 3, 2, ALPHA_S, RATE) == ()
