"""The best plan: against brute force, published figures, bounds, and within its time."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.collectives import closed_forms
from costmodel.collectives.best import best
from costmodel.collectives.family import ALGORITHMS, Family
from costmodel.collectives.ladder import Algorithm, Collective, Order
from costmodel.collectives.limits import Limits
from tests.costmodel.collectives.cases import ALPHA_S, BEST_US, KIB, MIB, RATE, RHO_S, limits
from tests.oracles import collective_search as oracle

SIMPLE = Family(orders=("fixed",), padded=False)
"""what the figures of paper 003 are computed with"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "collective", "family"),
    [
        ("all_reduce", "all_reduce", Family(("radix",))),
        ("exchange", "all_reduce", Family(("exchange",), ("fixed",))),
        ("exchange_alternating", "all_reduce", Family(("exchange",))),
        ("reduce_scatter", "reduce_scatter", Family(("radix",), ("fixed",))),
        ("reduce_scatter", "all_gather", Family(("radix",), ("fixed",))),
        ("all_reduce", "broadcast", Family(("scatter",))),
        ("exchange_alternating", "broadcast", Family(("tree",))),
    ],
)
@pytest.mark.parametrize("wavelengths_and_peers", [(4, 1), (5, 2), (4, 4), (6, 3)])
def test_no_plan_that_brute_force_finds_is_faster(
    kind: str, collective: Collective, family: Family, wavelengths_and_peers: tuple[int, int]
) -> None:
    wavelengths, peers = wavelengths_and_peers
    given_limits = Limits(wavelengths, peers, ALPHA_S, RHO_S, RATE / wavelengths)
    for ranks in (2, 3, 5, 6, 7, 8, 9, 11):
        for message in (1e2, 3e5, 1e8):
            expected_s = oracle.least_s(kind, ranks, message, wavelengths_and_peers, ALPHA_S, RHO_S, RATE / wavelengths)
            found = best(collective, ranks, message, given_limits, family)
            assert found.time_s == pytest.approx(expected_s, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "algorithm", "orders"),
    [
        ("all_reduce", "radix", ("fixed",)),
        ("exchange", "exchange", ("fixed",)),
        ("exchange_alternating", "exchange", ("alternating",)),
    ],
)
@pytest.mark.parametrize("wavelengths_and_peers", [(5, 2), (6, 3)])
def test_overlap_is_exact_too(
    kind: str, algorithm: Algorithm, orders: tuple[Order, ...], wavelengths_and_peers: tuple[int, int]
) -> None:
    rate = RATE / wavelengths_and_peers[0]
    given_limits = Limits(*wavelengths_and_peers, ALPHA_S, RHO_S, rate)
    family = Family((algorithm,), orders, overlap=True)
    num_faster = 0
    for ranks in (4, 6, 8, 9):
        for message in (1e2, 1e5, 4e5, 3e6):
            arguments = (kind, ranks, message, wavelengths_and_peers, ALPHA_S, RHO_S, rate)
            expected_s = oracle.least_s(*arguments, overlap=True)
            assert best("all_reduce", ranks, message, given_limits, family).time_s == pytest.approx(expected_s)
            num_faster += expected_s < oracle.least_s(*arguments) * (1 - 1e-9)
    assert num_faster > 0


@pytest.mark.parametrize(("ranks", "message_bytes", "max_peers", "expected_us"), BEST_US)
def test_table_of_the_simple_family(ranks: int, message_bytes: int, max_peers: int, expected_us: float) -> None:
    simple = best("all_reduce", ranks, message_bytes, limits(max_peers), SIMPLE)
    assert simple.time_s * 1e6 == pytest.approx(expected_us, rel=0.01)
    assert best("all_reduce", ranks, message_bytes, limits(max_peers)).time_s <= simple.time_s * (1 + 1e-12)


def test_alternating_order_saves_a_change() -> None:
    found = best("all_reduce", 64, KIB, limits(3))
    assert found.plan.name == "exchange 2x2x2x2x2x2, 3+3 held, alternating"
    assert found.time_s * 1e6 == pytest.approx(7.96, rel=1e-3)


def lumorph_4_s(ranks: int, message_bytes: float) -> float:
    """As published: quartering, all circuits changed in every round."""
    radices = [4] * (ranks.bit_length() // 2)
    return float(closed_forms.mixed_radix_all_reduce_s(message_bytes, radices, ALPHA_S + RHO_S, RATE, 16))


def test_short_messages_are_far_faster_than_quartering() -> None:
    for message_bytes in (8, 256, KIB):
        found = best("all_reduce", 256, message_bytes, limits(3), SIMPLE)
        assert found.plan.kind == "exchange"
        assert lumorph_4_s(256, message_bytes) >= 2 * found.time_s
    for message_bytes in (KIB, 8 * KIB, 64 * 1000, 64 * KIB):
        assert lumorph_4_s(256, message_bytes) >= 5 * best("all_reduce", 256, message_bytes, limits(16)).time_s


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [64, 128, 251, 256])
@pytest.mark.parametrize("max_peers", [3, 4, 8, 16])
def test_long_messages_are_close_to_the_bound(ranks: int, max_peers: int) -> None:
    for message_bytes in (256 * MIB, 1024 * MIB):
        assert 0 <= best("all_reduce", ranks, message_bytes, limits(max_peers)).gap <= 0.03


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [6, 7, 12, 13, 24, 36, 61, 96, 97, 251])
def test_any_size_keeps_up_with_the_next_power_of_two(ranks: int) -> None:
    """No number of ranks falls back to the ring; whole wavelengths and chunks cost longer messages a little."""
    higher = 1 << (ranks - 1).bit_length()
    for max_peers in (1, 3, 16):
        for message_bytes, slack in ((KIB, 1e-9), (MIB, 0.3), (256 * MIB, 0.05)):
            found = best("all_reduce", ranks, message_bytes, limits(max_peers))
            power = best("all_reduce", higher, message_bytes, limits(max_peers))
            assert found.time_s <= power.time_s * (1 + slack)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [5, 7, 17, 19, 37, 97])
def test_folding_ranks_in_and_out_is_never_faster(ranks: int) -> None:
    for max_peers in (2, 3, 16):
        for core in range((ranks + 1) // 2, ranks, 1 + ranks // 100):
            inner = best("all_reduce", core, KIB, limits(max_peers), Family(("exchange",)))
            folded_s = oracle.folded_exchange_s(core, ranks, KIB, inner.time_s, ALPHA_S, RATE) + RHO_S
            found = best("all_reduce", ranks, KIB, limits(max_peers), Family(("exchange",)))
            assert found.time_s <= folded_s * (1 + 1e-9)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    collective=st.sampled_from(sorted(ALGORITHMS)),
    ranks=st.integers(1, 64),
    wavelengths=st.integers(1, 12),
    max_peers=st.integers(1, 12),
    message_bytes=st.floats(0, 1e9),
)
def test_bounds_and_choices_are_monotone(
    collective: Collective, ranks: int, wavelengths: int, max_peers: int, message_bytes: float
) -> None:
    tight = Limits(wavelengths, max_peers, ALPHA_S, RHO_S, RATE / 16)
    found = best(collective, ranks, message_bytes, tight)
    overlapped = best(collective, ranks, message_bytes, tight, Family(overlap=True))
    assert found.bound_s * (1 - 1e-9) <= overlapped.time_s <= found.time_s * (1 + 1e-9)
    assert found.time_s == pytest.approx(found.plan.time_s(message_bytes))
    more_peers = Limits(wavelengths, max_peers + 1, ALPHA_S, RHO_S, RATE / 16)
    more_wavelengths = Limits(wavelengths + 1, max_peers, ALPHA_S, RHO_S, RATE / 16)
    for wide in (more_peers, more_wavelengths):
        assert best(collective, ranks, message_bytes, wide).time_s <= found.time_s * (1 + 1e-9)
    assert found.time_s <= best(collective, ranks, message_bytes * 1.5 + 1, tight).time_s
    assert best(collective, ranks, message_bytes, tight, Family(orders=("fixed",))).time_s >= found.time_s


def test_a_faster_switch_never_hurts() -> None:
    times = [
        best("all_reduce", 96, MIB, Limits(16, 3, ALPHA_S, rho_s, RATE / 16)).time_s
        for rho_s in (0.0, 1e-8, 1e-6, 3.7e-6, 1e-4, 1e-2)
    ]
    assert all(faster <= slower for faster, slower in pairwise(times))
    assert times[-1] == pytest.approx(times[-2], rel=1e-9), "with very slow switches nothing is ever changed"


@pytest.mark.slow
@pytest.mark.parametrize("collective", sorted(ALGORITHMS))
@pytest.mark.parametrize(("ranks", "limit_s"), [(256, 0.1), (251, 0.1), (1024, 1.0), (1021, 1.0)])
def test_best_is_quick_and_cached(collective: Collective, ranks: int, limit_s: float) -> None:
    for max_peers in (3, 16):
        seconds = []
        for message_bytes in (KIB + ranks, MIB + ranks, 256 * MIB + ranks):
            start = time.process_time()
            found = best(collective, ranks, message_bytes, limits(max_peers))
            seconds.append(time.process_time() - start)
            assert best(collective, ranks, message_bytes, limits(max_peers)) is found
        assert sorted(seconds)[1] <= limit_s


def test_all_to_all_closed_forms() -> None:
    """Direct with four peers, and radix 4 at a power of it, both changed in every round."""
    direct = best("all_to_all", 257, 256 * MIB, limits(4), Family(("direct",), ("fixed",)))
    assert direct.plan.radices == (5,) * 64
    expected_s = closed_forms.direct_all_to_all_s(256 * MIB, 257, 4, ALPHA_S + RHO_S, RATE, 16)
    assert direct.time_s == pytest.approx(float(expected_s))
    bruck = best("all_to_all", 256, MIB, limits(3), Family(("bruck",), ("fixed",)))
    assert bruck.plan.radices == (4,) * 4
    expected_s = closed_forms.bruck_all_to_all_s(MIB, 256, 4, ALPHA_S + RHO_S, RATE, 16)
    assert bruck.time_s == pytest.approx(float(expected_s))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("all_reduce", 0, 1.0, limits()), "ranks: must be 1"),
        (("all_reduce", 8, -1.0, limits()), "message_bytes: must be"),
        (("all_reduce", 8, float("inf"), limits()), "message_bytes: must be"),
        (("all_reduce", 8, 1.0, limits(), Family(("direct",))), "family: has no plan"),
        (("all_reduce", 19, 1.0, limits(), Family(("radix",), padded=False)), "family: has no plan"),
    ],
)
def test_what_cannot_be_planned_is_named(arguments: tuple[object, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        best(*arguments)  # type: ignore[arg-type]
