"""Torus and SiPAC: closed forms against played collectives."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.fabrics.box_links import BoxLinks
from costmodel.fabrics.sipac import Sipac

LINK, ALPHA = 50e9, 0.7e-6
Sides = tuple[int, int, int]


def played_s(sides: Sides, box: Sides, message_bytes: float, links: Sides, *, rotated: bool) -> float:
    """Time of a reduce-scatter by rings along the axes, played step by step with the load of every link; doubled.

    `links`: each of bandwidth LINK, between neighbours along each axis.

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
            slowest_s = max(slowest_s, (side - 1) * max(load.values()) / (links[axis] * LINK))
            steps = max(steps, side - 1)
            left[chunk] = part
        total += steps * ALPHA + slowest_s
    return 2 * total


@given(st.tuples(*[st.integers(1, 5)] * 3), st.data())
def test_all_reduces_of_boxes_equal_the_played_ones(sides: Sides, data: st.DataObject) -> None:
    box = tuple(data.draw(st.integers(1, side)) for side in sides)
    assert len(box) == 3
    width, per_link = data.draw(st.tuples(*[st.integers(1, 6)] * 3)), data.draw(st.integers(0, 2))
    light = {"wavelengths": width, "wavelengths_per_link": per_link} if per_link else {}
    plans = BoxLinks(sides, LINK * (per_link or 1), ALPHA, **light).all_reduces(box)
    used = sum(side > 1 for side in box)
    assert len(plans) == (2 if used > 1 else 1)
    for plan, rotated in zip(plans, (False, True), strict=False):
        assert plan.ranks == box[0] * box[1] * box[2]
        for message in (1e3, 1e9):
            expected = played_s(sides, box, message, width if per_link else (1, 1, 1), rotated=rotated)
            assert plan.latency_s + plan.seconds_per_byte * message == pytest.approx(expected)


@pytest.mark.parametrize("side", [2, 3, 4])
def test_cubes_meet_the_closed_form(side: int) -> None:
    """2 d (a - 1) alpha + 2 (n - 1) / n S / B with the bandwidth of all six links."""
    plan = BoxLinks((side, side, side), LINK, ALPHA).all_reduces((side, side, side))[1]
    n = side**3
    assert plan.latency_s == pytest.approx(6 * (side - 1) * ALPHA)
    assert plan.seconds_per_byte == pytest.approx(2 * (n - 1) / n / (6 * LINK))


@pytest.mark.parametrize(("radix", "digits"), [(2, 3), (4, 2), (3, 4)])
def test_sipac(radix: int, digits: int) -> None:
    bandwidth = 300e9
    fabric = Sipac(
        servers=1, radix=radix, digits=digits, bandwidth_bytes_per_s=bandwidth, alpha_s=ALPHA, energy_j_per_byte=0.0
    )
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
