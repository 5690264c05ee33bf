"""Collective kernels against scalar oracles, lower bounds, known limits and published arithmetic."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.collectives import closed_forms
from tests.oracles import collectives as oracle

RATE = 300e9
ALPHA_S = 0.7e-6
SWITCHED_S = 4.4e-6
W = 16
KIB, MIB = 2**10, 2**20
LUMORPH_4 = {64: [4, 4, 4], 128: [4, 4, 4, 2], 256: [4, 4, 4, 4]}

messages = st.floats(1.0, 1e10)
ranks = st.integers(1, 5000)
alphas = st.floats(0.0, 1e-4)
rates = st.floats(1e8, 1e13)
wavelengths = st.integers(1, 64)
radix_lists = st.lists(st.integers(1, 9), min_size=1, max_size=5)


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[float], list[int], list[float], list[float]]:
    """Equally long columns of message, ranks, alpha and rate."""
    rows = draw(st.lists(st.tuples(messages, ranks, alphas, rates), min_size=1, max_size=6))
    message, n, alpha, rate = zip(*rows, strict=True)
    return list(message), list(n), list(alpha), list(rate)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["ring_reduce_scatter", "ring_all_reduce", "binomial_tree_all_reduce", "double_tree_all_reduce"],
)
@settings(max_examples=40, deadline=None)
@given(columns=columns())
def test_kernels_of_a_group(name: str, columns: tuple[list[float], list[int], list[float], list[float]]) -> None:
    kernel, scalar = getattr(closed_forms, f"{name}_s"), getattr(oracle, name)
    expected = [scalar(*row) for row in zip(*columns, strict=True)]
    assert kernel(*map(np.array, columns)) == pytest.approx(expected, rel=1e-9, abs=0)


@settings(max_examples=60, deadline=None)
@given(message=st.floats(1.0, 1e8), n=ranks, alpha=st.floats(1e-7, 1e-4), rate=st.floats(1e10, 1e13))
def test_pipelined_tree_finds_the_best_number_of_chunks(message: float, n: int, alpha: float, rate: float) -> None:
    expected = oracle.pipelined_tree_all_reduce(message, n, alpha, rate, min(1500, max(1, int(message))))
    assert closed_forms.pipelined_tree_all_reduce_s(message, n, alpha, rate) == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mixed_radix_reduce_scatter", "mixed_radix_all_reduce", "full_exchange_all_reduce"])
@settings(max_examples=40, deadline=None)
@given(rows=st.lists(radix_lists, min_size=1, max_size=5), message=messages, alpha=alphas, rate=rates)
def test_mixed_radix_kernels(name: str, rows: list[list[int]], message: float, alpha: float, rate: float) -> None:
    kernel, scalar = getattr(closed_forms, f"{name}_s"), getattr(oracle, name)
    padded = np.array([row + [1] * (5 - len(row)) for row in rows])
    columns = np.arange(8, 8 + len(rows))
    expected = [scalar(message, row, alpha, rate, int(w)) for row, w in zip(rows, columns, strict=True)]
    assert kernel(message, padded, alpha, rate, columns) == pytest.approx(expected, rel=1e-9, abs=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tree_broadcast", "direct_all_to_all", "bruck_all_to_all"])
@settings(max_examples=60, deadline=None)
@given(message=messages, n=ranks, peers=st.integers(2, 16), alpha=alphas, rate=rates)
def test_kernels_with_several_peers(name: str, message: float, n: int, peers: int, alpha: float, rate: float) -> None:
    kernel, scalar = getattr(closed_forms, f"{name}_s"), getattr(oracle, name)
    expected = scalar(message, n, peers, alpha, rate, W)
    assert kernel(message, np.array([n]), peers, alpha, rate, W) == pytest.approx([expected], rel=1e-9, abs=0)


@settings(max_examples=60, deadline=None)
@given(message=messages, side=st.integers(1, 9), levels=st.integers(1, 4), alpha=alphas, rate=rates)
def test_torus_and_sipac(message: float, side: int, levels: int, alpha: float, rate: float) -> None:
    arguments = message, np.array([side]), np.array([levels]), alpha, rate
    scalars = message, side, levels, alpha, rate
    torus = closed_forms.torus_all_reduce_s(*arguments)
    rotated = closed_forms.sipac_all_reduce_s(*arguments)
    static = closed_forms.sipac_static_all_reduce_s(*arguments)
    assert torus == pytest.approx([oracle.torus_all_reduce(*scalars)], rel=1e-9, abs=0)
    # Rotated: l chunks side by side, each at all times on one level, so a level's links carry one chunk.
    assert rotated == pytest.approx([oracle.sipac_all_reduce(*scalars, levels)], rel=1e-9, abs=0)
    assert static == pytest.approx([oracle.sipac_all_reduce(*scalars, 1)], rel=1e-9, abs=0)


@settings(max_examples=60, deadline=None)
@given(message=messages, n=ranks, peers=st.integers(1, 20), alpha=alphas, rate=rates)
def test_lower_bounds(message: float, n: int, peers: int, alpha: float, rate: float) -> None:
    fractions = {"all_reduce": 2 * (n - 1) / n, "broadcast": 1.0}
    fractions |= dict.fromkeys(("reduce_scatter", "all_gather", "all_to_all"), (n - 1) / n)
    for name, fraction in fractions.items():
        bound = getattr(closed_forms, f"{name}_bound_s")(message, n, peers, alpha, rate)
        assert bound == pytest.approx(oracle.lower_bound(fraction, message, n, peers, alpha, rate), rel=1e-9)
    latency_s = closed_forms.latency_bound_s(n, peers, alpha)
    assert latency_s == oracle.rounds_to_reach(n, peers + 1) * alpha


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(message=messages, radix=st.integers(2, 6), levels=st.integers(1, 4), alpha=alphas, rate=rates)
def test_no_algorithm_beats_its_bound(message: float, radix: int, levels: int, alpha: float, rate: float) -> None:
    n, peers, radices = radix**levels, radix - 1, [radix] * levels
    group, switched = (message, n, alpha, rate), (message, radices, alpha, rate, W)
    shape = (message, radix, levels, alpha, rate)
    slack = 1 + 1e-9

    def bound(name: str, ports: int) -> float:
        return float(getattr(closed_forms, f"{name}_bound_s")(message, n, ports, alpha, rate))

    for name in ("ring", "binomial_tree", "pipelined_tree", "double_tree"):
        assert getattr(closed_forms, f"{name}_all_reduce_s")(*group) * slack >= bound("all_reduce", 1)
    for name in ("mixed_radix", "full_exchange"):
        assert getattr(closed_forms, f"{name}_all_reduce_s")(*switched) * slack >= bound("all_reduce", peers)
    for name in ("sipac", "sipac_static"):
        kernel = getattr(closed_forms, f"{name}_all_reduce_s")
        assert kernel(*shape) * slack >= bound("all_reduce", levels * peers)
    assert closed_forms.torus_all_reduce_s(*shape) * slack >= bound("all_reduce", 2 * levels)
    for kind in ("reduce_scatter", "all_gather"):
        assert getattr(closed_forms, f"ring_{kind}_s")(*group) * slack >= bound(kind, 1)
        assert getattr(closed_forms, f"mixed_radix_{kind}_s")(*switched) * slack >= bound(kind, peers)
    assert closed_forms.scatter_all_gather_broadcast_s(*switched) * slack >= bound("broadcast", peers)
    several = message, n, peers, alpha, rate, W
    assert closed_forms.tree_broadcast_s(*several) * slack >= bound("broadcast", peers)
    assert closed_forms.direct_all_to_all_s(*several) * slack >= bound("all_to_all", peers)
    bruck_s = closed_forms.bruck_all_to_all_s(message, n, radix, alpha, rate, W)
    assert bruck_s * slack >= bound("all_to_all", peers)


def kernels_of_message(n: int) -> list[Callable[[np.ndarray], np.ndarray]]:
    """Every all-reduce, broadcast and all-to-all of n = 64 or 256 ranks, as a function of message bytes."""
    radices = [4] * {64: 3, 256: 4}[n]
    c = closed_forms
    return [
        lambda s: c.ring_all_reduce_s(s, n, ALPHA_S, RATE),
        lambda s: c.binomial_tree_all_reduce_s(s, n, ALPHA_S, RATE),
        lambda s: c.pipelined_tree_all_reduce_s(s, n, ALPHA_S, RATE),
        lambda s: c.double_tree_all_reduce_s(s, n, ALPHA_S, RATE),
        lambda s: c.mixed_radix_all_reduce_s(s, radices, SWITCHED_S, RATE, W),
        lambda s: c.full_exchange_all_reduce_s(s, radices, SWITCHED_S, RATE, W),
        lambda s: c.scatter_all_gather_broadcast_s(s, radices, SWITCHED_S, RATE, W),
        lambda s: c.tree_broadcast_s(s, n, 3, SWITCHED_S, RATE, W),
        lambda s: c.direct_all_to_all_s(s, n, 3, SWITCHED_S, RATE, W),
        lambda s: c.bruck_all_to_all_s(s, n, 4, SWITCHED_S, RATE, W),
        lambda s: c.torus_all_reduce_s(s, 4, len(radices), ALPHA_S, RATE),
        lambda s: c.sipac_all_reduce_s(s, 4, len(radices), ALPHA_S, RATE),
        lambda s: c.sipac_static_all_reduce_s(s, 4, len(radices), ALPHA_S, RATE),
    ]


@pytest.mark.parametrize("n", [64, 256])
def test_time_grows_with_the_message(n: int) -> None:
    message_bytes = np.geomspace(1, 1e10, 500)
    for kernel in kernels_of_message(n):
        assert np.all(np.diff(kernel(message_bytes)) > 0)


def test_one_rank_takes_no_time() -> None:
    c, group = closed_forms, (1e6, 1, ALPHA_S, RATE)
    for name in ("ring", "binomial_tree", "pipelined_tree", "double_tree"):
        assert getattr(c, f"{name}_all_reduce_s")(*group) == 0
    assert c.mixed_radix_all_reduce_s(1e6, [1, 1], ALPHA_S, RATE, W) == 0
    assert c.full_exchange_all_reduce_s(1e6, [1], ALPHA_S, RATE, W) == 0
    for kernel in (c.tree_broadcast_s, c.direct_all_to_all_s, c.bruck_all_to_all_s):
        assert kernel(1e6, 1, 4, ALPHA_S, RATE, W) == 0
    for kernel in (c.torus_all_reduce_s, c.sipac_all_reduce_s, c.sipac_static_all_reduce_s):
        assert kernel(1e6, 1, 3, ALPHA_S, RATE) == 0
    assert c.broadcast_bound_s(1e6, 1, 4, ALPHA_S, RATE) == 0


def test_ceil_log_is_exact_at_and_beside_powers() -> None:
    for base in range(2, 18):
        powers = base ** np.arange(1, 1 + int(np.log(5e6) / np.log(base)))
        exponents = np.arange(1, len(powers) + 1)
        assert np.array_equal(closed_forms.ceil_log(powers, base), exponents)
        assert np.array_equal(closed_forms.ceil_log(powers + 1, base), exponents + 1)


@pytest.mark.parametrize(
    ("radix", "factor"),
    [(2, 1), (3, 1), (5, 1), (9, 1), (17, 1), (4, 16 / 15), (6, 16 / 15), (16, 16 / 15), (8, 8 / 7)],
)
def test_quantization_factor(radix: int, factor: float) -> None:
    assert closed_forms.quantization_factor(radix, W) == pytest.approx(factor)


def test_more_peers_than_wavelengths_is_an_error() -> None:
    with pytest.raises(ValueError, match="more peers than wavelengths"):
        closed_forms.mixed_radix_all_reduce_s(1e6, [2, 18], ALPHA_S, RATE, W)


def test_radix_leaves_the_bandwidth_term_alone_without_quantization() -> None:
    radices = np.array([[2] * 8, [4] * 4 + [1] * 4, [16, 16] + [1] * 6, [256] + [1] * 7])
    times_s = closed_forms.mixed_radix_all_reduce_s(1e9, radices, 0.0, RATE, 255 * 15)
    assert times_s == pytest.approx(np.full(4, 2 * 255 / 256 * 1e9 / RATE))


def test_pipelined_tree_without_latency_has_chunks_of_a_byte() -> None:
    times_s = closed_forms.pipelined_tree_all_reduce_s(1e6, np.array([2, 256]), 0.0, RATE)
    assert times_s == pytest.approx(2 * 1e6 / RATE * np.array([1, 1 + 7e-6]))


def times_us(n: int, message_bytes: int) -> tuple[float, ...]:
    """Ring, ideal double tree, Lumorph-2, Lumorph-4 and bound, as the paper charges them."""
    c, halving = closed_forms, [2] * (n.bit_length() - 1)
    times_s = (
        c.ring_all_reduce_s(message_bytes, n, ALPHA_S, RATE),
        c.double_tree_all_reduce_s(message_bytes, n, ALPHA_S, RATE),
        c.mixed_radix_all_reduce_s(message_bytes, halving, SWITCHED_S, RATE, W),
        c.mixed_radix_all_reduce_s(message_bytes, LUMORPH_4[n], SWITCHED_S, RATE, W),
        c.all_reduce_bound_s(message_bytes, n, 16, ALPHA_S, RATE),
    )
    return tuple(float(t) * 1e6 for t in times_s)


@pytest.mark.parametrize(
    ("n", "message_bytes", "expected_us"),
    [
        (64, KIB, (88.2, 8.4, 52.8, 26.4, 1.4)),
        (64, MIB, (95.1, 15.4, 59.7, 33.7, 6.9)),
        (256, 64 * KIB, (357, 11.6, 70.8, 35.7, 1.4)),
        (256, MIB, (364, 18.2, 77.4, 42.6, 7.0)),
        (256, 256 * MIB, (2140, 1801, 1853, 1937, 1783)),
    ],
)
def test_table_of_all_reduce_times(n: int, message_bytes: int, expected_us: tuple[float, ...]) -> None:
    assert times_us(n, message_bytes) == pytest.approx(expected_us, rel=0.01)


def crossover_mb(radices: list[int], others: list[int] | None, n: int) -> float:
    """Message from which `radices` no longer beat `others`, or a ring."""
    s = np.geomspace(1e6, 1e9, 20_001)
    other = (
        closed_forms.ring_all_reduce_s(s, n, ALPHA_S, RATE)
        if others is None
        else closed_forms.mixed_radix_all_reduce_s(s, others, SWITCHED_S, RATE, W)
    )
    mine = closed_forms.mixed_radix_all_reduce_s(s, radices, SWITCHED_S, RATE, W)
    return float(s[np.argmax(mine > other)] / 1e6)


@pytest.mark.parametrize(("n", "ring_mb", "halving_mb"), [(64, 141, 60), (128, 326, 60), (256, 727, 80)])
def test_crossovers_of_lumorph_4(n: int, ring_mb: float, halving_mb: float) -> None:
    assert crossover_mb(LUMORPH_4[n], None, n) == pytest.approx(ring_mb, rel=0.01)
    assert crossover_mb(LUMORPH_4[n], [2] * (n.bit_length() - 1), n) == pytest.approx(halving_mb, rel=0.01)


def test_savings_depend_on_which_tree() -> None:
    ring_us, _, _, lumorph_us, _ = times_us(256, 8 * MIB)
    tree_s = closed_forms.binomial_tree_all_reduce_s(8 * MIB, 256, ALPHA_S, RATE)
    assert 1 - lumorph_us / ring_us == pytest.approx(0.77, abs=0.005)
    assert 1 - lumorph_us / (float(tree_s) * 1e6) == pytest.approx(0.79, abs=0.005)
    s = np.geomspace(1e3, 2e9, 2001)
    for n, radices in LUMORPH_4.items():
        pipelined_s = closed_forms.pipelined_tree_all_reduce_s(s, n, ALPHA_S, RATE)
        saving = 1 - closed_forms.mixed_radix_all_reduce_s(s, radices, SWITCHED_S, RATE, W) / pipelined_s
        assert np.max(saving) < 0.1805
        assert np.all(saving[s < 2e6] < 0)


@pytest.mark.parametrize(
    ("n", "radices", "message_mb"), [(256, [2] * 8, 4.6), (256, [4] * 4, 10.8), (128, [4, 4, 4, 2], 2.07)]
)
def test_points_74_percent_below_ring(n: int, radices: list[int], message_mb: float) -> None:
    lumorph_s = closed_forms.mixed_radix_all_reduce_s(message_mb * 1e6, radices, SWITCHED_S, RATE, W)
    ring_s = closed_forms.ring_all_reduce_s(message_mb * 1e6, n, ALPHA_S, RATE)
    assert 1 - lumorph_s / ring_s == pytest.approx(0.74, abs=0.001)
