"""Jobs that ask for numbers of servers of each rack: started, moved, repaired, made room for, and told why."""

from collections import Counter
from itertools import combinations
from random import Random
from typing import Any

import pytest

from planner.controller import Controller, Request, Stop, Wait
from planner.model.errors import InputError
from tests.oracles.by_rack import is_asked, racks_given
from tests.planner.controller.sites import controller, request, started

RACKS = {"racks": 3, "servers": 3}


def asking(name: str, asked: Any, servers: int, each: int = 8, **changes: Any) -> Request:
    limits = {"per_server": each, "servers_by_rack": asked}
    return request(name, servers * each, constraints=limits, **changes)


def numbers(c: Controller, job: str) -> list[int]:
    return sorted(racks_given((server for server, _ in c.running[job].devices), c.cluster.fabric))


def obeys(c: Controller) -> None:
    for name in c.running:
        asked = c.job(name).request.constraints.servers_by_rack
        assert asked is None or is_asked(asked, numbers(c, name)), name


@pytest.mark.parametrize("fabric", ["fat_tree", "ocs_rail", pytest.param("memory_ring", marks=pytest.mark.slow)])
def test_random_events_keep_the_numbers(fabric: str) -> None:
    """Starts, moves, failures and preemptions; on a fat tree nobody waits who could start alone."""
    random, c, failed = Random(f"by rack {fabric}"), controller(fabric, {"downtime_s": 1}, **RACKS), list[str]()
    names = [c.cluster.fabric.device_name(s, slot) for s in range(9) for slot in range(8)]
    for i in range(60):
        draw = random.random()
        if draw < 0.5:
            c.submit_all([drawn(random, f"j{i}-{number}") for number in range(random.choice([1, 1, 3]))])
        elif draw < 0.8 and c.running:
            c.finish(random.choice(sorted(c.running)))
        elif draw < 0.92 and len(failed) < 4:
            failed.append(random.choice([name for name in names if name not in failed]))
            c.fail(failed[-1])
        elif failed:
            c.repair(failed.pop(0))
        obeys(c)
        if fabric == "fat_tree":
            nobody_could_start(c, failed)
    assert c.check() == []
    assert c.counts.refused == 0
    assert c.counts.greedy + c.counts.joint > 15


def drawn(random: Random, name: str) -> Request:
    each, counts = random.choice([2, 4, 8]), random.choice([[1], [1, 1], [1, 3], [2, 2], [1, 1, 1], [3]])
    asked = random.choice([counts, counts, {"min": 1, "max": 2}])
    if random.random() < 0.25:
        return request(name, random.choice([4, 8]), priority=random.choice([0, 1]))
    servers = sum(counts) if asked == counts else random.choice([2, 4])
    return asking(name, asked, servers, each, priority=random.choice([0, 0, 1]))


def nobody_could_start(c: Controller, failed: list[str]) -> None:
    """No choice of servers with so many free has the numbers that the first job in line asks for."""
    first = next((c.job(name).request for name in c.waiting), None)
    if first is None or first.constraints.per_server is None:
        return
    free = Counter(c.cluster.fabric.server_name(s) for s in range(9) for _ in range(8))
    free.subtract(name.rpartition(".")[0] for name in failed)
    for place in c.running.values():
        free.subtract(name.rpartition(".")[0] for name in place.device_names)
    able = [s for s in range(9) if free[c.cluster.fabric.server_name(s)] >= first.constraints.per_server]
    number = min(first.sizes) // first.constraints.per_server
    asked = first.constraints.servers_by_rack
    assert not any(is_asked(asked, racks_given(some, c.cluster.fabric)) for some in combinations(able, number))


def test_a_server_that_fails_is_replaced_in_its_rack() -> None:
    c = controller("fat_tree", **RACKS)
    c.submit(asking("a", [1, 2], 3))
    rack = Counter(server // 3 for server in {server for server, _ in c.running["a"].devices})
    lone = next(server for server, _ in c.running["a"].devices if rack[server // 3] == 1)
    c.fail(c.cluster.fabric.device_name(lone, 0))
    assert numbers(c, "a") == [1, 2]
    assert lone not in {server for server, _ in c.running["a"].devices}


def test_scattered_servers_are_told_by_rack() -> None:
    c = controller("fat_tree", {"moves": False, "preempts": False}, **RACKS)
    c.submit_all([asking(f"one{rack}", [1, 1, 1], 3, duration_s=50.0) for rack in range(2)], at_s=0)
    decisions = c.submit(asking("pair", [2], 2), at_s=1)
    (wait,) = [each for each in decisions if isinstance(each, Wait)]
    assert wait.because.startswith(
        "16 accelerators are needed and 24 are free, but it takes 8 on each of 2 servers, 2 in one rack, and racks "
        "have 1, 1, 1 with as many free"
    )
    assert c.state()["reserved"]["at_s"] == 50.0
    assert started(c.finish("one0", at_s=50)) == ["pair"]
    assert numbers(c, "pair") == [2]


def test_a_job_of_higher_priority_stops_who_stands_in_the_racks_that_it_needs() -> None:
    c = controller("fat_tree", {"moves": False}, **RACKS)
    c.submit_all([asking(f"low{number}", [1], 1) for number in range(9)])
    decisions = c.submit(asking("high", [1, 3], 4, priority=1))
    assert sum(isinstance(decision, Stop) for decision in decisions) == 4
    assert numbers(c, "high") == [1, 3]


@pytest.mark.parametrize("fabric", ["torus", "lightpath", "fat_tree"])
def test_numbers_that_can_never_be_had_are_refused(fabric: str) -> None:
    c = controller(fabric, racks=2, servers=3)
    with pytest.raises(InputError, match="do not lie as 1, 1 and 1 in one rack each, on 2 racks of 3 servers"):
        c.submit(asking("never", [1, 1, 1], 3))


@pytest.mark.parametrize("fabric", ["torus", "lightpath"])
def test_one_rack_is_what_there_is_where_racks_are_apart(fabric: str) -> None:
    c = controller(fabric, **RACKS)
    assert started(c.submit(asking("one", [2], 2))) == ["one"]
    with pytest.raises(InputError):
        c.submit(asking("two", [1, 1], 2))


@pytest.mark.parametrize("asked", [{"min": 1, "max": 2}, [2]])
def test_servers_of_one_rack_are_kept_where_nothing_links_racks(asked: Any) -> None:
    """The first job starts when a rack is free, though servers of two racks are free before."""
    c = controller("lightpath", {"moves": False, "preempts": False}, racks=2, servers=2)
    for number, end_s in enumerate([10.0, 100.0, 20.0, 30.0]):
        c.submit(request(f"j{number}", 8, duration_s=end_s, constraints={"per_server": 8}), at_s=0)
    c.submit(asking("pair", asked, 2), at_s=1)
    assert (c.state()["reserved"]["servers"], c.state()["reserved"]["at_s"]) == ([2, 3], 30)


@pytest.mark.parametrize("asked", [[4], {"min": 1, "max": 4}])
def test_more_servers_than_a_rack_has_are_refused_where_nothing_links_racks(asked: Any) -> None:
    c = controller("lightpath", racks=2, servers=2)
    with pytest.raises(InputError, match="do not lie as"):
        c.submit(asking("wide", asked, 4, each=2))
