"""Who goes first: priority, fair share, patience, reservations and quotas."""

from pathlib import Path

import pytest

from planner.controller import Controller, Settings
from tests.planner.controller.sites import controller, request, started
from tests.planner.simulate.grounds import cluster


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


@pytest.mark.parametrize("fails", [False, True])
def test_patience_counts_from_when_a_job_was_stopped(tmp_path: Path, fails: bool) -> None:
    """It ran for longer than its patience, and has waited for a second: a higher priority goes first, also after a
    restart; once it has waited as long it goes before all."""
    budgets = {"greedy_budget_s": 60.0, "repair_budget_s": 60.0}
    journal, rules = tmp_path / "j.db", Settings(moves=False, preempts=not fails, patience_s=600.0, **budgets)
    with Controller(cluster("fat_tree", servers=2 if fails else 1), journal, rules) as c:
        c.submit(request("low", 8), at_s=0)
        if fails:
            c.submit(request("other", 8, priority=9), at_s=0)
            c.fail(c.running["low"].device_names[0], at_s=1000)
        else:
            c.submit(request("urgent", 8, priority=9, preemptible=False), at_s=1000)
        c.submit(request("high", 8, priority=5), at_s=1001)
        assert c.waiting == ("high", "low")
    with Controller(journal=journal) as c:
        assert c.waiting == ("high", "low")
        c.submit(request("high2", 8, priority=5), at_s=1650)
        assert c.waiting[0] == "low"


def test_who_was_stopped_hides_nobody_alike_who_lost_patience() -> None:
    """Of two jobs that ask for the same the first ran and has failed, the second has waited all the time."""
    rules = {"moves": False, "preempts": False, "patience_s": 600.0}
    with controller("fat_tree", rules, servers=2) as c:
        for name, priority in (("ran", 0), ("other", 9), ("waited", 0)):
            c.submit(request(name, 8, priority=priority, constraints={"one_server": True}), at_s=0)
        c.fail(c.running["ran"].device_names[0], at_s=1000)
        c.submit(request("high", 8, priority=5), at_s=1001)
        assert c.waiting == ("waited", "high", "ran")
        assert started(c.finish("other", at_s=1002)) == ["waited"]
