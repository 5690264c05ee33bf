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


def test_a_large_job_is_let_in_by_its_tenant_once_its_patience_is_over() -> None:
    """Small jobs of its tenant, of which one comes whenever one ends, would take each accelerator that comes back; jobs
    of others go on as before."""
    c = controller("fat_tree", {"patience_s": 600.0, "quotas": {"b": {"accelerators": 8}}})
    names = [f"small{number}" for number in range(4)]
    for name in names:
        c.submit(request(name, 2, tenant="b"), at_s=0)
    c.submit(request("large", 8, tenant="b"), at_s=1)
    now_s = 1.0
    while "large" not in c.running:
        now_s += 25
        assert now_s <= 601 + 4 * 25 + 25
        asked, other = request(f"small{now_s}", 2, tenant="b"), request(f"other{now_s}", 2, tenant="a")
        c.submit(asked, at_s=now_s)
        assert started(c.submit(other, at_s=now_s)) == [other.name]
        c.finish(other.name, at_s=now_s)
        names += started(c.finish(names.pop(0), at_s=now_s))
        names = [name for name in names if name in c.running]
        is_over = now_s > 601 and "large" in c.waiting
        found = c.ask(request("next", 2, tenant="b"), at_s=now_s)
        told = "large of its tenant has waited longer than its patience for the quota, and goes first"
        assert (found.because is not None and told in found.because) == is_over
    assert c.check() == []


def test_a_job_behind_takes_no_quota_that_the_first_one_of_its_tenant_needs() -> None:
    """A server is kept for the first job, which its tenant's quota admits to the last accelerator."""
    c = controller("fat_tree", {"moves": False, "quotas": {"b": {"accelerators": 8}}}, servers=2)
    one = {"one_server": True}
    c.submit(request("x", 6, duration_s=100.0, constraints=one), at_s=0)
    c.submit(request("y", 6, duration_s=1000.0, constraints=one), at_s=0)
    c.submit(request("first", 8, tenant="b", constraints=one), at_s=1)
    asked = request("behind", 2, tenant="b", duration_s=5000.0)
    found, decisions = c.ask(asked, at_s=2), c.submit(asked, at_s=2)
    assert started(decisions) == []
    told = "2 accelerators are needed and 4 are free; what its tenant may still take is kept for first, which is first"
    assert (found.because, found.tag, c.job("behind").waits_for) == (told, "quota", Wait("behind", "quota", told))
    assert started(c.submit(request("other", 2, tenant="a", duration_s=90.0), at_s=3)) == ["other"]
    c.finish("other", at_s=90)
    assert started(c.finish("x", at_s=100)) == ["first"]
