"""Families of all-reduce plans: simulated over their circuits, least against brute force, and known figures."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.collectives import closed_forms
from costmodel.collectives.build import schedule_of
from costmodel.collectives.family import Family, crossing_bytes, fastest, plans_of
from costmodel.collectives.ladder import Algorithm, Collective
from costmodel.collectives.limits import Limits
from costmodel.collectives.schedule import LOCAL
from tests.costmodel.collectives.cases import ALPHA_S, KIB, MIB, RATE, RHO_S
from tests.costmodel.collectives.family_cases import WAVELENGTH_RATE, W, best_plan, built, family
from tests.oracles import collectives as oracle


@pytest.mark.slow
@pytest.mark.parametrize("max_peers", [1, 3, 16])
@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 6, 8, 9, 12, 16, 17, 19])
def test_every_plan_works_and_takes_its_time(ranks: int, max_peers: int) -> None:
    for plan in family(ranks, max_peers):
        oracle.check_circuits(plan, W, max_peers)
        assert sum(plan.held) == max(len(plan.radices), 1)
        assert len(plan.configurations()) == len(plan.held)
        simulated_s = oracle.simulate_s(plan, 1e5, ALPHA_S, RHO_S, WAVELENGTH_RATE)
        assert plan.time_s(1e5) == pytest.approx(simulated_s, rel=1e-9)


@pytest.mark.parametrize("radices", [(2, 2, 2, 2), (4, 4), (4, 2), (3, 5), (6, 2), (8,)])
def test_closed_forms_are_what_unheld_circuits_do(radices: tuple[int, ...]) -> None:
    ranks, size, widths = int(np.prod(radices)), 1e6, tuple(W // (radix - 1) for radix in radices)
    expected_s: dict[Algorithm, object] = {
        "radix": closed_forms.mixed_radix_all_reduce_s(size, radices, ALPHA_S + RHO_S, RATE, W),
        "exchange": closed_forms.full_exchange_all_reduce_s(size, radices, ALPHA_S + RHO_S, RATE, W),
    }
    for kind, expected in expected_s.items():
        plan = built(kind, radices, (1,) * len(radices), widths)
        simulated_s = oracle.simulate_s(plan, size, ALPHA_S + RHO_S, 0.0, WAVELENGTH_RATE)
        assert expected == pytest.approx(simulated_s, rel=1e-9)
    ring_s = oracle.simulate_s(family(ranks)[0], size, ALPHA_S, RHO_S, WAVELENGTH_RATE)
    assert closed_forms.ring_all_reduce_s(size, ranks, ALPHA_S, RATE) == pytest.approx(ring_s, rel=1e-9)


def test_sipac_is_a_held_plan_with_equal_circuits() -> None:
    plan = built("radix", (2, 2, 2), (3,), (5, 5, 5))
    simulated_s = oracle.simulate_s(plan, 1e6, ALPHA_S, RHO_S, WAVELENGTH_RATE)
    static_s = closed_forms.sipac_static_all_reduce_s(1e6, 2, 3, ALPHA_S, 15 * WAVELENGTH_RATE)
    assert static_s == pytest.approx(simulated_s, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranks", "wavelengths", "max_peers"),
    [
        (2, 5, 4),
        (4, 7, 3),
        (6, 8, 8),
        (8, 9, 3),
        (8, 6, 16),
        (12, 11, 6),
        (16, 6, 4),
        (16, 7, 16),
        (18, 9, 5),
    ],
)
def test_least_seconds_per_byte_for_every_number_of_rounds_and_changes(
    ranks: int, wavelengths: int, max_peers: int
) -> None:
    """Each plan is the least with its numbers of digits and configurations, and what is left out has no less."""
    least: dict[tuple[str, int, int], float] = {}
    every = oracle.least_seconds_per_byte(ranks, wavelengths, max_peers, WAVELENGTH_RATE)
    for (kind, radices, held), seconds_per_byte in every.items():
        numbers = kind, len(radices), len(held)
        least[numbers] = min(seconds_per_byte, least.get(numbers, np.inf))
    plans = family(ranks, max_peers, wavelengths)[1:]
    found = {(plan.kind, len(plan.radices), len(plan.held)): plan.seconds_per_byte for plan in plans}
    assert len(found) == len(plans)
    assert found == {numbers: pytest.approx(least[numbers], rel=1e-12) for numbers in found}
    for (kind, digits, configurations), seconds_per_byte in least.items():
        fewer = [found[k, d, c] for k, d, c in found if k == kind and d <= digits and c <= configurations]
        assert min(fewer) <= seconds_per_byte * (1 + 1e-12)


@pytest.mark.slow
def test_more_resources_never_slow_the_best_plan() -> None:
    for message_bytes in (KIB, MIB, 256 * MIB):
        by_peers = [best_plan(family(96, peers), message_bytes).time_s(message_bytes) for peers in range(1, 17)]
        by_wavelengths = [best_plan(family(96, 8, w), message_bytes).time_s(message_bytes) for w in range(8, 25)]
        assert all(later <= earlier for earlier, later in pairwise(by_peers))
        assert all(later <= earlier for earlier, later in pairwise(by_wavelengths))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    ranks=st.integers(2, 128),
    max_peers=st.integers(1, 16),
    wavelengths=st.integers(1, 32),
    message_bytes=st.floats(0.0, 1e10),
)
def test_fastest_plans_are_the_lower_envelope(
    ranks: int, max_peers: int, wavelengths: int, message_bytes: float
) -> None:
    plans = family(ranks, max_peers, wavelengths, Family())
    kept = fastest(plans)
    best_s = best_plan(plans, message_bytes).time_s(message_bytes)
    assert best_plan(kept, message_bytes).time_s(message_bytes) == pytest.approx(best_s, rel=1e-9)
    for before, plan, after in zip(kept, kept[1:], kept[2:], strict=False):
        between = (crossing_bytes(before, plan) + crossing_bytes(plan, after)) / 2
        assert plan.time_s(between) <= min(before.time_s(between), after.time_s(between)) * (1 + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("max_peers", [1, 2, 3, 5, 16])
@pytest.mark.parametrize("ranks", [2, 3, 5, 6, 7, 8, 11, 12, 13, 20, 26, 37, 64])
def test_circuits_are_those_of_the_schedule(ranks: int, max_peers: int) -> None:
    """With padding and in alternating order as well; wavelengths of a configuration never meet at a rank."""
    for plan in family(ranks, max_peers, which=Family()):
        oracle.check_circuits(plan, W, max_peers)
        circuits = schedule_of(plan).circuits
        used = [
            {(int(u), int(v), int(w)) for u, v, w in zip(*ends, strict=True)}
            for ends in (
                (circuits.source[on], circuits.destination[on], circuits.wavelengths[on])
                for on in map(circuits.on, range(len(plan.held)))
            )
        ]
        assert used == [set(each) for each in plan.configurations()]
        for each, offsets in zip(plan.configurations(), plan.offsets(), strict=True):
            light = [(end, rank, first + i) for (u, v, w), first in zip(each, offsets, strict=True)
                     for end, rank in (("out", u), ("in", v)) for i in range(w)]  # fmt: skip
            assert len(set(light)) == len(light)
            assert max((wavelength for *_, wavelength in light), default=0) < W


@pytest.mark.parametrize("collective", ["all_reduce", "reduce_scatter", "all_gather", "all_to_all"])
@pytest.mark.parametrize("ranks", [2, 5, 8, 12, 13])
def test_bytes_that_are_sent_are_those_of_the_schedule(collective: Collective, ranks: int) -> None:
    for plan in plans_of(collective, ranks, Limits(W, 3, ALPHA_S, RHO_S, WAVELENGTH_RATE)):
        schedule = schedule_of(plan)
        num_sent = np.count_nonzero(schedule.circuit != LOCAL) / schedule.num_calls / ranks
        assert plan.bytes_per_byte == pytest.approx(num_sent / schedule.num_chunks)


def test_ranks_of_a_broadcast_differ() -> None:
    tree = plans_of("broadcast", 8, family(8)[0].limits)[0]
    with pytest.raises(ValueError, match="the ranks of a fixed_tree differ"):
        tree.configurations()


@pytest.mark.parametrize("ports", [1, 2, 5, 12])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6, 7, 12, 16, 24, 31, 48])
def test_plans_of_one_configuration_are_those_among_all(ranks: int, ports: int) -> None:
    limits = Limits(ports, ports, ALPHA_S, 0.0, RATE)
    collectives: tuple[Collective, ...] = ("all_reduce", "all_to_all", "all_gather")
    for collective in collectives:
        every = [plan for plan in plans_of(collective, ranks, limits) if len(plan.held) == 1]
        assert [p for p in plans_of(collective, ranks, limits, Family(held=True)) if len(p.held) == 1] == every
