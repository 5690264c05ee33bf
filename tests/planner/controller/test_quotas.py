"""Quotas and shares of tenants."""

from typing import Any

import pytest

from planner.controller import Start, Wait
from planner.controller.quotas import Use
from planner.fabrics.wiring import NO_WIRING
from planner.placement.placement import Place
from tests.planner.controller.sites import controller, request, started


@pytest.mark.parametrize("half_life_s", [10.0, 1000.0])
def test_use_is_what_a_sum_over_small_steps_gives(half_life_s: float) -> None:
    row: Any = None
    place = Place("k", row, ((0, 0), (0, 1), (0, 2)), NO_WIRING)
    use, summed, step_s = Use(), 0.0, 0.01
    use.change(place, 1, 5.0, half_life_s)
    use.change(place, -1, 25.0, half_life_s)
    for step in range(6000):
        now_s = step * step_s
        summed = summed * 0.5 ** (step_s / half_life_s) + (3 * step_s if 5.0 <= now_s < 25.0 else 0.0)
    assert use.at(60.0, half_life_s) == pytest.approx(summed, rel=0.01)


def test_quotas_hold_for_accelerators_and_ports() -> None:
    c = controller("lightpath", {"quotas": {"t": {"accelerators": 8}, "dim": {"ports": 4}}})
    assert started(c.submit(request("a", 6, tenant="t"))) == ["a"]
    (wait,) = c.submit(request("b", 4, tenant="t"))
    assert isinstance(wait, Wait)
    assert wait.tag == "quota"
    assert "tenant t holds 6 of its 8 accelerators" in wait.because
    assert started(c.submit(request("c", 2, tenant="t"))) == ["c"]
    assert started(c.submit(request("d", 4, tenant="dim"))) == ["d"]
    assert started(c.submit(request("e", 1, tenant="dim"))) == ["e"], "a single accelerator holds no circuits"
    (wait,) = c.submit(request("f", 2, tenant="dim"))
    assert isinstance(wait, Wait)
    assert "4 of its 4 optical ports" in wait.because
    assert started(c.submit(request("other", 8))) == ["other"], "who waits for a quota keeps nobody else waiting"
    assert started(c.finish("a")) == ["b"]
    assert started(c.finish("d")) == ["f"]


def test_a_job_takes_the_largest_of_its_sizes_that_its_quota_leaves() -> None:
    c = controller("fat_tree", {"quotas": {"t": {"accelerators": 6}}})
    (start,) = c.submit(request("a", [2, 4, 8], tenant="t"))
    assert isinstance(start, Start)
    assert len(start.devices) == 4
    (start,) = c.submit(request("b", [2, 4, 8], tenant="t"))
    assert isinstance(start, Start)
    assert len(start.devices) == 2
