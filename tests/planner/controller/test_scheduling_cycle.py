"""Who goes first: priority, fair share, patience, reservations and quotas."""

from random import Random
from typing import Any

import pytest

from planner.controller import Start, Stop, Wait
from planner.controller.quotas import Use
from planner.fabrics.wiring import NO_WIRING
from planner.placement.placement import Place
from tests.planner.controller.sites import controller, request, started


def test_priority_goes_first_then_arrival() -> None:
    c = controller("fat_tree")
    c.submit(request("all", 32, duration_s=10), at_s=0)
    for i, priority in enumerate((0, 2, 1, 2)):
        c.submit(request(f"j{i}", 32, priority=priority, preemptible=False), at_s=1 + i)
    c2 = controller("fat_tree", {"preempts": False})
    c2.submit(request("all", 32), at_s=0)
    for i, priority in enumerate((0, 2, 1, 2)):
        c2.submit(request(f"j{i}", 32, priority=priority), at_s=1 + i)
    assert c2.waiting == ("j1", "j3", "j2", "j0")
    assert c.waiting[0] == "j3"
    assert "j1" in c.running, "it stopped the job of no priority"


def test_the_tenant_with_the_least_use_over_its_share_goes_first() -> None:
    c = controller("fat_tree", {"quotas": {"rich": {"share": 4}}, "half_life_s": 1000})
    c.submit(request("a", 16, tenant="poor"), at_s=0)
    c.submit(request("b", 16, tenant="rich"), at_s=0)
    c.submit(request("c", 16, tenant="poor"), at_s=1)
    c.submit(request("d", 16, tenant="rich"), at_s=2)
    c.submit(request("e", 16, tenant="new"), at_s=3)
    assert started(c.finish("b", at_s=500)) == ["e"], "who has used nothing yet"
    assert started(c.finish("a", at_s=600)) == ["d"], "who has used a quarter of its share of what the other has"
    assert c.waiting == ("c",)


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


def test_a_short_job_runs_ahead_where_it_delays_nobody() -> None:
    """Backfill: the large job keeps its servers, a job that ends in time may use them, a longer one may not."""
    c = controller("fat_tree", {"moves": False})
    c.submit(request("long", 16, duration_s=100), at_s=0)
    c.submit(request("large", 32, duration_s=50), at_s=1)
    assert started(c.submit(request("short", 8, duration_s=90), at_s=2)) == ["short"]
    (wait,) = c.submit(request("too long", 8, duration_s=120), at_s=3)
    assert isinstance(wait, Wait)
    assert wait.tag == "reserved"
    assert "kept for large" in wait.because
    (wait,) = c.submit(request("no limit", 8), at_s=4)
    assert isinstance(wait, Wait)
    c.finish("short", at_s=80)
    assert started(c.finish("long", at_s=100)) == ["large"]


@pytest.mark.slow
@pytest.mark.parametrize("fabric", ["fat_tree", "lightpath"])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("most", [1, 4])
def test_no_job_starves(fabric: str, seed: int, most: int) -> None:
    """Jobs keep their limits, and come one at a time or several together. A job that waited for its patience is
    overtaken only by those that arrived before it: it starts within its patience and, for each of them and itself, one
    longest limit."""
    random, patience_s, longest_s = Random(seed), 200.0, 60.0
    c = controller(fabric, {"patience_s": patience_s, "moves": False, "preempts": False})
    ends, arrived, ahead = dict[str, float](), dict[str, float](), dict[str, int]()
    limits: dict[str, float] = {}

    def follow(decisions: tuple[Any, ...], now_s: float) -> None:
        for decision in decisions:
            if isinstance(decision, Start):
                ends[decision.job] = now_s + limits[decision.job]
                most_s = patience_s + (ahead[decision.job] + 1) * longest_s
                assert now_s - arrived[decision.job] <= most_s, f"{decision.job} of {len(decision.devices)} starved"
            elif isinstance(decision, Stop):
                del ends[decision.job]

    now_s = 0.0
    for number in range(450):
        now_s += random.expovariate(2 / (7.0 * (1 + most)))
        while ends and min(ends.values()) <= now_s:
            job = min(ends, key=ends.__getitem__)
            end_s = ends[job]
            follow(c.finish(job, at_s=end_s), end_s)
        batch = []
        for name in (f"j{number}", *(f"j{number}+{i}" for i in range(random.randrange(most)))):
            is_large = number % 40 == 10 and "+" not in name
            limits[name] = longest_s if is_large else random.uniform(5, longest_s)
            arrived[name], ahead[name] = now_s, len(c.waiting) + len(batch)
            size, priority = (32, 0) if is_large else (random.choice([1, 2, 4, 8]), random.choice([0, 1, 2]))
            batch.append(request(name, size, priority=priority, duration_s=limits[name]))
        follow(c.submit_all(batch, at_s=now_s), now_s)
    large = [f"j{number}" for number in range(10, 400, 40)]
    assert not set(large) & set(c.waiting), "all of them have started while small ones kept coming"


def test_the_bound_would_not_hold_without_patience() -> None:
    """The test above can fail: small jobs of a higher priority keep a large one waiting for ever."""
    c = controller("fat_tree", {"patience_s": 1e9, "moves": False, "preempts": False})
    c.submit(request("small0", 8, priority=1, duration_s=20), at_s=0)
    c.submit(request("large", 32, duration_s=20), at_s=1)
    for number in range(1, 40):
        c.submit(request(f"small{number}", 8, priority=1, duration_s=20), at_s=10 * number)
        c.finish(f"small{number - 1}", at_s=10 * number + 5)
    assert c.waiting == ("large",)


def test_a_large_job_without_limits_around_still_gets_its_turn() -> None:
    """Nobody says when it ends: what is kept is entered by nobody, so the large job runs when they have left."""
    c = controller("fat_tree", {"moves": False})
    for i in range(8):
        c.submit(request(f"old{i}", 4), at_s=0)
    c.submit(request("large", 16), at_s=1)
    for i in range(20):
        c.submit(request(f"new{i}", 4), at_s=2)
    for i in range(8):
        c.finish(f"old{i}", at_s=3 + i)
        if "large" in c.running:
            break
    assert "large" in c.running
    assert i <= 6, "it has not waited until all others have left"
