"""Messages over the links of a box: what wraps is a ring, all else a line."""

import pytest

from costmodel.fabrics.box_links import BoxLinks

RATE, ALPHA = 50e9, 1e-6
LINKS = BoxLinks((4, 3, 5), RATE, ALPHA)


def test_stages_are_neighbours() -> None:
    plan = LINKS.chain((4, 3, 1))
    assert (plan.ranks, plan.latency_s, plan.seconds_per_byte, plan.bytes_per_byte) == (12, ALPHA, 1 / RATE, 1.0)


@pytest.mark.parametrize(
    ("prefill", "box", "hops", "met", "mean"),
    [(2, (4, 1, 1), 2, 1, 2.0), (2, (1, 1, 4), 2, 2, 2.0), (1, (1, 1, 4), 3, 1, 2.0), (6, (4, 3, 1), 3, 1, 3.0)],
)
def test_caches_share_the_busiest_link(
    prefill: int, box: tuple[int, int, int], hops: int, met: int, mean: float
) -> None:
    plan = LINKS.caches(prefill, box[0] * box[1] * box[2] - prefill, box)
    assert (plan.kind, plan.radices) == ("routed", box)
    assert plan.latency_s == pytest.approx(hops * ALPHA)
    assert plan.seconds_per_byte == pytest.approx(met / RATE)
    assert plan.bytes_per_byte == pytest.approx(mean)
