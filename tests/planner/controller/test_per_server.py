"""Jobs that ask for as many accelerators of each of their servers: started, moved, made room for, and told why."""

from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from planner.controller import Controller, Decision, Move, Request, Start, Stop, Wait
from planner.cpsat.preemption import PreemptionServers, fewest_victims
from planner.model.errors import InputError
from tests.planner.controller.sites import controller, request, started

NUMBERS = {"fat_tree": (1, 2, 3, 4, 8), "lightpath": (1, 2, 4, 8), "ocs_rail": (2, 4, 8), "torus": (2, 4, 8)}


def even(name: str, servers: int, each: int, **changes: Any) -> Request:
    return request(name, servers * each, constraints={"per_server": each}, **changes)


def given(names: tuple[str, ...]) -> set[int]:
    return set(Counter(name.rpartition(".")[0] for name in names).values())


def obeys(c: Controller, decisions: tuple[Decision, ...]) -> None:
    for decision in decisions:
        asked = None if isinstance(decision, Stop | Wait) or decision.job not in c.running else decision.job
        if asked is not None and (each := c.job(asked).request.constraints.per_server) is not None:
            assert given(c.running[asked].device_names) == {each}


@pytest.mark.slow
@pytest.mark.parametrize("fabric", NUMBERS)
def test_random_events_keep_the_numbers(fabric: str) -> None:
    """Starts, moves, failures and preemptions; on a fabric without circuits nobody waits who could start alone."""
    random, c, failed = Random(f"even {fabric}"), controller(fabric, {"downtime_s": 1}), list[str]()
    names = [c.cluster.fabric.device_name(s, slot) for s in range(4) for slot in range(8)]
    for i in range(90):
        draw = random.random()
        if draw < 0.5:
            arriving = [drawn(random, fabric, f"j{i}-{number}") for number in range(random.choice([1, 1, 3]))]
            decisions = c.submit_all(arriving)
        elif draw < 0.85 and c.running:
            decisions = c.finish(random.choice(sorted(c.running)))
        elif draw < 0.93 and len(failed) < 3:
            failed.append(random.choice([name for name in names if name not in failed]))
            decisions = c.fail(failed[-1])
        elif failed:
            decisions = c.repair(failed.pop(0))
        else:
            continue
        obeys(c, decisions)
        if fabric == "fat_tree":
            nobody_could_start(c, failed)
    assert c.check() == []
    assert c.counts.refused == 0
    assert c.counts.greedy + c.counts.joint > 20


def drawn(random: Random, fabric: str, name: str) -> Request:
    each = random.choice(NUMBERS[fabric])
    servers = 1 if fabric == "torus" and each < 8 else random.randint(1, min(4, 16 // each))
    asked = {} if random.random() < 0.25 else {"constraints": {"per_server": each}}
    return request(name, servers * each, priority=random.choice([0, 0, 0, 1]), **asked)


def nobody_could_start(c: Controller, failed: list[str]) -> None:
    """The first job in line finds too few servers with so many free."""
    if not c.waiting:
        return
    first = c.job(c.waiting[0]).request
    each = first.constraints.per_server
    free = Counter(f"s{s}" for s in range(4) for _ in range(8))
    free.subtract(name.rpartition(".")[0] for name in failed)
    for place in c.running.values():
        free.subtract(name.rpartition(".")[0] for name in place.device_names)
    if each is not None:
        assert sum(count >= each for count in free.values()) < min(first.sizes) // each


def test_a_job_waits_for_as_many_on_each_server() -> None:
    c = controller("fat_tree", {"moves": False, "preempts": False})
    for server in range(4):
        c.submit(request(f"j{server}", 6, constraints={"one_server": True}))
    c.finish("j2")
    c.finish("j3")
    (wait,) = (d for d in c.submit(even("even", 3, 4)) if isinstance(d, Wait))
    assert wait.tag == "scattered"
    assert "it takes 4 on each of 3 servers, and 2 have as many free; s0 would have 8 free without j0" in wait.because
    assert started(c.finish("j0")) == ["even"]
    assert given(c.running["even"].device_names) == {4}


def test_sizes_that_the_number_does_not_divide_are_refused() -> None:
    c = controller("fat_tree")
    with pytest.raises(InputError, match="6 accelerators do not come from servers that give 4 each, of 8"):
        c.submit(request("odd", 6, constraints={"per_server": 4}))
    decisions = c.submit(request("elastic", {"min": 1, "max": 9}, constraints={"per_server": 4}))
    assert started(decisions) == ["elastic"]
    assert len(c.running["elastic"].devices) in (4, 8)


def test_neighbours_move_to_leave_room_on_enough_servers() -> None:
    """Four free on one server and one on another: a single rank moves so that both have two."""
    c = controller("fat_tree", {"downtime_s": 1, "preempts": False})
    for i, size in enumerate((8, 8, 4, 6, 1)):
        c.submit(request(f"j{i}", size, constraints={"one_server": True}))
    decisions = c.submit(even("even", 2, 2))
    moves = [decision for decision in decisions if isinstance(decision, Move)]
    assert [d.job for d in decisions if isinstance(d, Start)] == ["even"]
    assert given(c.running["even"].device_names) == {2}
    assert [move.job for move in moves] == ["j4"]
    assert c.check() == []


def fewest_by_every_subset(site: PreemptionServers, part: int, parts: int) -> int | None:
    for number in range(len(site.guests) + 1):
        for chosen in combinations(site.guests, number):
            free = list(site.free)
            for server, ranks in (place for guest in chosen for place in guest):
                free[server] += ranks
            if sum(count >= part for count in free) >= parts:
                return number
    return None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(15))
def test_no_fewer_victims_leave_a_part_on_each_server(seed: int) -> None:
    random = Random(seed)
    servers = random.randint(2, 4)
    guests = tuple(
        tuple((server, random.randint(1, 4)) for server in random.sample(range(servers), random.randint(1, 2)))
        for _ in range(random.randint(2, 7))
    )
    site = PreemptionServers(tuple(random.randint(0, 5) for _ in range(servers)), guests, (0,) * len(guests))
    part, parts = random.choice([2, 3, 4]), random.randint(1, servers)
    found = fewest_victims(site, part, parts, most=len(guests), time_limit_s=20, is_even=True)
    best = fewest_by_every_subset(site, part, parts)
    assert (None if found is None else len(found)) == best


def test_a_job_of_higher_priority_stops_who_stands_on_enough_servers() -> None:
    c = controller("fat_tree", {"moves": False})
    for server in range(4):
        c.submit_all([request(f"low{server}", 6), request(f"high{server}", 2, priority=2)])
    decisions = c.submit(even("even", 2, 4, priority=1))
    assert sum(isinstance(decision, Stop) for decision in decisions) == 2
    assert given(c.running["even"].device_names) == {4}


def test_servers_are_kept_for_the_first_job_one_for_each_part() -> None:
    c = controller("fat_tree", {"moves": False, "preempts": False})
    for server in range(4):
        c.submit(request(f"j{server}", 6, duration_s=100.0 * (server + 1)), at_s=0)
    c.submit(even("even", 2, 4), at_s=1)
    reserved = c.state()["reserved"]
    assert (reserved["job"], reserved["servers"], reserved["at_s"]) == ("even", [0, 1], 200.0)
    assert started(c.finish("j0", at_s=100)) == []
    assert started(c.finish("j1", at_s=200)) == ["even"]


@pytest.mark.parametrize("fabric", NUMBERS)
def test_the_guard_counts_what_each_server_gives(fabric: str) -> None:
    c = controller(fabric)
    c.submit(even("even", 2, 8))
    asked, place = c.job("even").request, c.running["even"]
    guard = c._durable.floor.validator
    assert guard.objection(asked, place) is None
    other = asked.model_copy(update={"constraints": asked.constraints.model_copy(update={"per_server": 4})})
    assert guard.objection(other, place) == "a server gives 8 accelerators, not 4"
    spread = replace(place, devices=(*place.devices[:15], (3, 0)))
    assert guard.objection(asked, spread) is not None


def test_a_controller_that_comes_back_knows_the_numbers(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with Controller(controller("fat_tree").cluster, journal=path) as c:
        c.submit(even("even", 4, 2))
        c.submit(even("later", 4, 8))
    with Controller(journal=path) as again:
        assert given(again.running["even"].device_names) == {2}
        assert started(again.finish("even")) == ["later"]
        assert given(again.running["later"].device_names) == {8}
