"""Torus, SiPAC and rails of circuit switches: closed forms against played collectives and enumerated matchings."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from costmodel.fabrics.ocs_rail import FREE, OcsRail
from costmodel.fabrics.sipac import Sipac
from costmodel.fabrics.torus import Torus

LINK, ALPHA = 50e9, 0.7e-6
Sides = tuple[int, int, int]


def torus(sides: Sides) -> Torus:
    return Torus(sides=sides, link_bandwidth_bytes_per_s=LINK, alpha_s=ALPHA)


def played_s(sides: Sides, box: Sides, message_bytes: float, *, rotated: bool) -> float:
    """Time of a reduce-scatter by rings along the axes, played step by step with the load of every link; doubled.

    Along an axis each rank sends half of what it passes on in each direction of a ring; a line carries one ring that
    comes back over its own links.
    """
    axes = [axis for axis in range(3) if box[axis] > 1]
    orders = [axes[k:] + axes[:k] for k in range(len(axes))] if rotated else [axes]
    left = [message_bytes / len(orders)] * len(orders)
    total = 0.0
    for phase in zip(*orders, strict=True):
        slowest_s, steps = 0.0, 0
        for chunk, axis in enumerate(phase):
            side, part = box[axis], left[chunk] / box[axis]
            load: Counter[tuple[int, int]] = Counter()
            for rank in range(side):
                if side == sides[axis]:
                    load[rank, 1] += part / 2
                    load[rank, -1] += part / 2
                elif rank < side - 1:
                    load[rank, 1] += part
                else:
                    for back in range(side - 1, 0, -1):
                        load[back, -1] += part
            slowest_s = max(slowest_s, (side - 1) * max(load.values()) / LINK)
            steps = max(steps, side - 1)
            left[chunk] = part
        total += steps * ALPHA + slowest_s
    return 2 * total


@given(st.tuples(*[st.integers(1, 5)] * 3), st.data())
def test_all_reduces_of_boxes_equal_the_played_ones(sides: Sides, data: st.DataObject) -> None:
    box = tuple(data.draw(st.integers(1, side)) for side in sides)
    assert len(box) == 3
    plans = torus(sides).all_reduces(box)
    used = sum(side > 1 for side in box)
    assert len(plans) == (2 if used > 1 else 1)
    for plan, rotated in zip(plans, (False, True), strict=False):
        assert plan.ranks == box[0] * box[1] * box[2]
        for message in (1e3, 1e9):
            expected = played_s(sides, box, message, rotated=rotated)
            assert plan.latency_s + plan.seconds_per_byte * message == pytest.approx(expected)


@pytest.mark.parametrize("side", [2, 3, 4])
def test_cubes_meet_the_closed_form(side: int) -> None:
    """2 d (a - 1) alpha + 2 (n - 1) / n S / B with the bandwidth of all six links."""
    plan = torus((side, side, side)).all_reduces((side, side, side))[1]
    n = side**3
    assert plan.latency_s == pytest.approx(6 * (side - 1) * ALPHA)
    assert plan.seconds_per_byte == pytest.approx(2 * (n - 1) / n / (6 * LINK))


def test_boxes_outside_the_torus_are_refused() -> None:
    with pytest.raises(ValueError, match=r"box: .* does not lie in a torus"):
        torus((2, 2, 2)).all_reduces((3, 1, 1))


@pytest.mark.parametrize(("radix", "digits"), [(2, 3), (4, 2), (3, 4)])
def test_sipac(radix: int, digits: int) -> None:
    bandwidth = 300e9
    fabric = Sipac(radix=radix, digits=digits, bandwidth_bytes_per_s=bandwidth, alpha_s=ALPHA)
    n = fabric.num_devices
    assert (n, fabric.num_switches) == (radix**digits, digits * radix ** (digits - 1))
    assert fabric.num_switches * radix == n * digits
    static, rotated = fabric.all_reduces(digits)
    assert static.latency_s == rotated.latency_s == pytest.approx(2 * digits * ALPHA)
    assert static.seconds_per_byte == pytest.approx(2 * digits * (n - 1) / n / bandwidth)
    assert rotated.seconds_per_byte == pytest.approx(2 * (n - 1) / n / bandwidth)
    played = 0.0
    for digit in range(digits):
        played += 2 * (radix - 1) / radix ** (digit + 1) / (bandwidth / digits)
    assert static.seconds_per_byte == pytest.approx(played)
    assert [len(fabric.all_reduces(k)) for k in (0, 1)] == [1, 1]
    with pytest.raises(ValueError, match="free_digits"):
        fabric.all_reduces(digits + 1)


def rail(servers: int, switches: int) -> OcsRail:
    return OcsRail(servers=servers, switches=switches, ports=136, port_bandwidth_bytes_per_s=LINK, alpha_s=ALPHA)


def _matchings(servers: int) -> list[tuple[int, ...]]:
    """All partial matchings without a circuit from a server to itself."""
    return [
        each
        for each in product([FREE, *range(servers)], repeat=servers)
        if all(a != b for a, b in enumerate(each))
        and len({b for b in each if b != FREE}) == sum(b != FREE for b in each)
    ]


def _sum(matchings: tuple[tuple[int, ...], ...], servers: int) -> tuple[tuple[int, ...], ...]:
    links = np.zeros((servers, servers), dtype=int)
    for each in matchings:
        for a, b in enumerate(each):
            if b != FREE:
                links[a, b] += 1
    return tuple(map(tuple, links.tolist()))


@pytest.mark.parametrize(("servers", "switches"), [(2, 3), (3, 1), (3, 2), (4, 1)])
def test_what_is_realizable_is_what_matchings_sum_to(servers: int, switches: int) -> None:
    possible = {_sum(each, servers) for each in product(_matchings(servers), repeat=switches)}
    fabric, pairs = rail(servers, switches), [(a, b) for a in range(servers) for b in range(servers) if a != b]
    for counts in product(range(switches + 1), repeat=len(pairs)):
        links = np.zeros((servers, servers), dtype=np.int64)
        links[tuple(np.array(pairs).T)] = counts
        if tuple(map(tuple, links.tolist())) in possible:
            held = tuple(map(tuple, fabric.matchings(links).tolist()))
            assert set(held) <= set(_matchings(servers))
            assert _sum(held, servers) == tuple(map(tuple, links.tolist()))
        else:
            with pytest.raises(ValueError, match="ask for no more each way"):
                fabric.matchings(links)


@given(st.integers(2, 9), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_sums_of_random_matchings_are_taken_apart_again(servers: int, switches: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    links = np.zeros((servers, servers), dtype=np.int64)
    for _ in range(switches):
        links[np.arange(servers), generator.permutation(servers)] += 1
    np.fill_diagonal(links, 0)
    held = rail(servers, switches).matchings(links)
    again = np.zeros_like(links)
    for each in held:
        lit = np.flatnonzero(each != FREE)
        assert len(set(each[lit].tolist())) == len(lit)
        again[lit, each[lit]] += 1
    assert (again == links).all()


def test_rings_use_all_ports() -> None:
    fabric = rail(6, 3)
    held = fabric.matchings(fabric.ring([4, 0, 2]))
    assert (held[:, [4, 0, 2]] == [0, 2, 4]).all()
    assert not fabric.ring([1]).any()
    plan = fabric.all_reduce(3)
    assert (plan.latency_s, plan.seconds_per_byte) == pytest.approx((4 * ALPHA, 4 / 3 / (3 * LINK)))
    with pytest.raises(ValueError, match="servers: 7 of 6"):
        fabric.all_reduce(7)


def test_wrong_rails_and_links_are_refused() -> None:
    with pytest.raises(ValidationError, match="136 cannot join 137 servers"):
        rail(137, 1)
    with pytest.raises(ValueError, match="with a diagonal of 0"):
        rail(2, 1).matchings(np.eye(2, dtype=np.int64))
