"""Fewest victims and fewest moves, against every subset."""

from random import Random

import pytest

from planner.controller import Controller, Move, Start, Stop
from planner.cpsat.preemption import PreemptionServers
from tests.planner.controller.over_racks import joined, opened, training
from tests.planner.controller.preemption_cases import by_every_subset
from tests.planner.controller.sites import controller, request, started
from tests.planner.controller.stories import servers_of


def crowded(fabric: str, seed: int) -> tuple[Controller, Random]:
    """A full cluster of jobs that may be stopped, and some that may not."""
    random, c = Random(seed), controller(fabric, {"moves": False})
    for i in range(40):
        size = random.choice([1, 2, 2, 4, 4, 8])
        if size <= c.num_free:
            c.submit(request(f"j{i}", size, priority=random.choice([0, 0, 2]), preemptible=random.random() < 0.8))
    for name in c.waiting:
        c.cancel(name)
    return c, random


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("fabric", ["fat_tree", "lightpath"])
def test_a_controller_stops_the_fewest_jobs(fabric: str, seed: int) -> None:
    """As many as the best set of every subset, counted from where jobs stand; for a job inside one server."""
    c, _ = crowded(fabric, seed)
    able = {n: p for n, p in c.running.items() if (r := c.job(n).request).priority < 1 and r.preemptible}
    free = [8] * 4
    for place in c.running.values():
        for server, _ in place.devices:
            free[server] -= 1
    guests = tuple(tuple((s, sum(d[0] == s for d in p.devices)) for s in p.servers) for p in able.values())
    best = by_every_subset(PreemptionServers(tuple(free), guests, (0,) * len(guests)), 8, 1, len(guests))
    decisions = c.submit(request("urgent", 8, priority=1, constraints={"one_server": True}))
    stopped = [decision.job for decision in decisions if isinstance(decision, Stop)]
    assert c.check() == []
    if best is None:
        assert stopped == []
        assert "urgent" in c.waiting
        return
    assert len(stopped) == best[0]
    assert set(stopped) <= able.keys()
    assert "urgent" in started(decisions)


def test_nobody_is_stopped_twice() -> None:
    c = controller("fat_tree")
    c.submit(request("low", 32), at_s=0)
    assert started(c.submit(request("first", 32, priority=1), at_s=1)) == ["first"]
    assert started(c.finish("first", at_s=2)) == ["low"]
    assert started(c.submit(request("second", 32, priority=1), at_s=3)) == []
    assert "low" in c.running


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_moves_take_no_more_ranks_than_the_job_has_and_break_nothing(seed: int) -> None:
    """Holes all over: each job that found room by moves says so, and all checks agree."""
    random = Random(seed)
    c = controller("fat_tree" if seed % 2 else "lightpath", {"downtime_s": 1, "preempts": False})
    for i in range(16):
        c.submit(request(f"j{i}", 2))
    for i in random.sample(range(16), 6):
        c.finish(f"j{i}")
    decisions = c.submit(request("whole", 8, constraints={"one_server": True}))
    moves = [decision for decision in decisions if isinstance(decision, Move)]
    assert sum(len(move.devices) for move in moves) <= 8
    assert [d.job for d in decisions if isinstance(d, Start)] == ["whole"]
    assert c.check() == []
    assert c.counts.moves == len(moves)


def test_jobs_that_may_not_move_do_not() -> None:
    c = controller("fat_tree", {"preempts": False})
    for server in range(4):
        c.submit_all([request(f"a{server}", 2, movable=False), request(f"b{server}", 6)])
    for server in range(4):
        c.finish(f"b{server}")
    assert started(c.submit(request("whole", 8, constraints={"one_server": True}))) == []


def test_a_batch_finds_room_for_jobs_behind_the_first_too() -> None:
    """The first cannot run at all now; the second can if one job moves."""
    c = controller("fat_tree", {"downtime_s": 1, "preempts": False})
    for server in range(4):
        c.submit_all([request(f"a{server}", 4), request(f"b{server}", 4)])
    for server in (1, 2, 3):
        c.finish(f"b{server}")
    decisions = c.submit_all([request("first", 32), request("second", 8, constraints={"one_server": True})])
    assert "first" in c.waiting
    assert c.check() == []
    assert len([d for d in decisions if isinstance(d, Move)]) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_controller_stops_the_fewest_jobs_for_one_over_several_servers(seed: int) -> None:
    """Parts of the job each need accelerators of one server; where it comes to stand all checks agree."""
    c, _ = crowded("fat_tree", seed)
    able = {n: p for n, p in c.running.items() if (r := c.job(n).request).priority < 1 and r.preemptible}
    free = [8 - sum(d[0] == s for p in c.running.values() for d in p.devices) for s in range(4)]
    guests = tuple(tuple((s, sum(d[0] == s for d in p.devices)) for s in p.servers) for p in able.values())
    decisions = c.submit(request("urgent", 16, priority=1))
    stopped = [decision.job for decision in decisions if isinstance(decision, Stop)]
    assert c.check() == []
    part = min(row.shape.part for row in c._durable.state.ledger.kinds[c._durable.ledger.jobs["urgent"].kind].rows)
    best = by_every_subset(PreemptionServers(tuple(free), guests, (0,) * len(guests)), part, 16 // part, len(guests))
    assert ("urgent" in c.running) == (best is not None)
    assert len(stopped) == (best[0] if best is not None else 0)


def fewest_moved(c: Controller, needed: int) -> int | None:
    """Fewest ranks that change servers so that one server has so many free, over all places of all jobs."""
    jobs = [(place.servers[0], len(place.devices)) for place in c.running.values()]
    best: int | None = None

    def look(number: int, load: list[int], moved: int) -> None:
        nonlocal best
        if moved > needed or (best is not None and moved >= best):
            return
        if number == len(jobs):
            best = moved if max(8 - each for each in load) >= needed else best
            return
        home, ranks = jobs[number]
        for server in sorted(range(4), key=lambda s: s != home):
            if load[server] + ranks <= 8:
                load[server] += ranks
                look(number + 1, load, moved + (0 if server == home else ranks))
                load[server] -= ranks

    look(0, [0] * 4, 0)
    return best


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_controller_moves_the_fewest_ranks(seed: int) -> None:
    """As few as any new place of all jobs needs, and none where none does."""
    random = Random(seed)
    c = controller("fat_tree", {"downtime_s": 1, "preempts": False})
    number = 0
    while c.num_free > 3:
        c.submit(request(f"j{number}", random.choice([1, 2, 2, 4])))
        number += 1
    for name in random.sample(sorted(c.running), len(c.running) // 2):
        c.finish(name)
    best = fewest_moved(c, 8)
    decisions = c.submit(request("whole", 8, constraints={"one_server": True}))
    moved = sum(len(decision.devices) for decision in decisions if isinstance(decision, Move))
    assert ("whole" in c.running) == (best is not None)
    assert moved == (best or 0)
    assert c.check() == []


def test_preemption_frees_accelerators_that_lie_together() -> None:
    """Eight on different nodes are of no use to a job that needs a server: one job gives way, not eight."""
    c = controller("fat_tree")
    for i in range(3):
        c.submit_all([request(f"large{i}", 4), *(request(f"small{i}.{k}", 1) for k in range(4))])
    c.submit(request("whole", 8))
    decisions = c.submit(request("urgent", 8, priority=5, constraints={"one_server": True}))
    stops = [decision for decision in decisions if isinstance(decision, Stop)]
    assert [stop.job for stop in stops] == ["whole"]
    assert stops[0].why == "preempted"
    assert stops[0].waits
    (start,) = [decision for decision in decisions if isinstance(decision, Start)]
    assert start.job == "urgent"
    assert servers_of(start.devices) == ["s3"]
    assert "whole" in c.waiting
    assert c.check() == []


def test_nobody_gives_way_in_vain() -> None:
    """Jobs of equal or higher priority, and those that may not be stopped, stay; then nobody is stopped at all."""
    c = controller("fat_tree")
    for i in range(4):
        c.submit(request(f"peer{i}", 8, priority=5 if i else 0, preemptible=i != 0))
    decisions = c.submit(request("urgent", 8, priority=5))
    assert not [decision for decision in decisions if isinstance(decision, Stop)]
    assert len(c.running) == 4


@pytest.mark.slow
def test_preemption_takes_one_node_not_one_accelerator_of_each() -> None:
    """A tenant's eight single jobs lie on eight servers beside others: stopping them would free no server."""
    c = controller("lightpath", {"moves": False}, servers=9)
    for server in range(8):
        c.submit(request(f"stays{server}", 4, preemptible=False))
        c.submit(request(f"fills{server}", 2, preemptible=False))
        c.submit(request(f"fills{server}+", 1, preemptible=False))
        c.submit(request(f"single{server}", 1))
    c.submit_all([request("left", 4), request("right", 4)])
    decisions = c.submit(request("urgent", 8, priority=1, constraints={"one_server": True}))
    assert {d.job for d in decisions if isinstance(d, Stop)} == {"left", "right"}
    assert servers_of(c.running["urgent"].device_names) == ["s8"]
    assert c.check() == []


@pytest.mark.parametrize("ran_s", [1, 3600, 360_000])
def test_of_equally_many_the_lowest_priority_goes_however_long_it_ran(ran_s: int) -> None:
    c = controller("fat_tree", {"moves": False}, servers=1)
    c.submit(request("low", 4), at_s=0)
    c.submit(request("high", 4, priority=5), at_s=ran_s)
    decisions = c.submit(request("urgent", 4, priority=6), at_s=ran_s + 1)
    assert [decision.job for decision in decisions if isinstance(decision, Stop)] == ["low"]
    assert c.running.keys() == {"high", "urgent"}


def test_racks_are_compared_by_whom_they_would_stop() -> None:
    """One job of a high priority in the first rack, one of a low one in the next."""
    c = opened(joined("lightpath", "packets"), moves=False)
    for number, priority in enumerate((5, 0, 0)):
        c.submit(training(f"p{number}", 4, priority=priority), at_s=number)
    decisions = c.submit(training("urgent", 4, priority=6), at_s=10)
    (stopped,) = [decision.job for decision in decisions if isinstance(decision, Stop)]
    assert stopped in ("p1", "p2")
    assert "p0" in c.running
