"""Servers are kept for the first waiting job."""

from random import Random
from typing import Any

import pytest

from planner.controller import Start, Stop, Wait
from tests.planner.controller.over_racks import joined, opened, training
from tests.planner.controller.per_server_cases import even
from tests.planner.controller.sites import controller, request, started


def test_servers_are_kept_for_the_first_job_one_for_each_part() -> None:
    c = controller("fat_tree", {"moves": False, "preempts": False})
    for server in range(4):
        c.submit(request(f"j{server}", 6, duration_s=100.0 * (server + 1)), at_s=0)
    c.submit(even("even", 2, 4), at_s=1)
    reserved = c.state()["reserved"]
    assert (reserved["job"], reserved["servers"], reserved["at_s"]) == ("even", [0, 1], 200.0)
    assert started(c.finish("j0", at_s=100)) == []
    assert started(c.finish("j1", at_s=200)) == ["even"]


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


@pytest.mark.parametrize(("fabric", "seed"), [("torus", 2), ("torus", 6), ("sipac", 106)])
def test_a_slice_gets_its_turn_where_free_accelerators_do_not_lie_together(fabric: str, seed: int) -> None:
    """Single jobs of at most 200 s run on all 32, and ten more always wait behind a job of 4: that starts at the latest
    when all have left that ran before it."""
    draw, limits, ends = Random(seed), dict[str, float](), list[tuple[float, str]]()
    c = controller(fabric, {"moves": False, "preempts": False, "patience_s": 600.0})
    now_s = 0.0

    def follow(decisions: tuple[Any, ...]) -> None:
        names = started(decisions)
        ends.extend((now_s + limits[name] * draw.uniform(0.3, 1), name) for name in names if name in limits)

    def single() -> None:
        name = f"j{len(limits)}"
        limits[name] = draw.choice([100.0, 150.0, 200.0])
        follow(c.submit(request(name, 1, duration_s=limits[name]), at_s=now_s))

    for _ in range(32):
        single()
        now_s += 3.0
    c.submit(request("slice", 4, duration_s=100.0), at_s=now_s)
    latest_s = now_s + 200.0
    while "slice" not in c.running:
        while len(c.waiting) < 11:
            single()
        end_s, name = min(ends)
        ends.remove((end_s, name))
        now_s = max(now_s, end_s)
        assert now_s <= latest_s
        follow(c.finish(name, at_s=now_s))


@pytest.mark.parametrize(("fabric", "letter"), [("torus", "c"), ("sipac", "a")])
def test_when_a_slice_could_start_is_not_said_by_number(fabric: str, letter: str) -> None:
    """Four of eight in a server are free, no two of them neighbours; the others end at 1001 s."""
    c = controller(fabric, {"moves": False, "preempts": False})
    at = dict[str, str]()
    for number in range(32):
        (name,) = started(c.submit(request(f"j{number}", 1, duration_s=1000.0), at_s=1.0))
        at[c.running[name].device_names[0]] = name
    for slot in (0, 3, 5, 6):
        c.finish(at[f"s0.{letter}{slot}"], at_s=2.0)
    found = c.ask(request("pair", 2), at_s=3.0)
    assert (found.starts, found.earliest_s, found.tag) == (False, 998.0, "scattered")
    assert found.because is not None
    assert found.because.startswith("2 accelerators are needed and 4 are free, but it needs slices of working")


def test_a_job_over_racks_of_slices_gets_its_turn() -> None:
    """No rack of two servers of 4 holds it, two racks do: these are kept for it while single jobs come and go."""
    c = opened(joined("sipac", "packets"), moves=False, preempts=False)
    names = [f"j{number}" for number in range(24)]
    for number, name in enumerate(names):
        c.submit(training(name, 1, duration_s=100.0), at_s=number)
    c.submit(training("wide", 8, duration_s=100.0), at_s=30)
    now_s = 100.0
    while "wide" not in c.running:
        now_s += 5
        assert now_s <= 100 + 5 * 24
        c.submit(training(f"behind{now_s}", 1, duration_s=100.0), at_s=now_s)
        names += [name for name in started(c.finish(names.pop(0), at_s=now_s)) if name != "wide"]


def test_a_whole_rack_is_kept_where_fewer_servers_were_of_no_use() -> None:
    """Two switches of rails have failed: 16 lie on four rails of all four servers, and on no two whole ones."""
    c = controller("ocs_rail", {"moves": False, "preempts": False})
    for part in ("q4#1", "q7#0"):
        c.fail(part, at_s=0)
    names = [f"j{number}" for number in range(32)]
    for number, name in enumerate(names):
        c.submit(request(name, 1, duration_s=100.0), at_s=number)
    c.submit(request("wide", 16), at_s=40)
    now_s = 100.0
    while "wide" not in c.running:
        now_s += 5
        assert now_s <= 100 + 5 * 3 * 32
        names += started(c.submit(request(f"behind{now_s}", 1, duration_s=100.0), at_s=now_s))
        names += [name for name in started(c.finish(names.pop(0), at_s=now_s)) if name != "wide"]
    assert len(c.running["wide"].servers) == 4
