"""Jobs that ask for as many accelerators of each of their servers: started, moved, made room for, and told why."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from planner.controller import Controller, Decision, Request, Stop, Wait
from planner.model.errors import InputError
from tests.planner.controller.per_server_cases import even, given
from tests.planner.controller.sites import controller, request, started

NUMBERS = {"fat_tree": (1, 2, 3, 4, 8), "lightpath": (1, 2, 4, 8), "ocs_rail": (2, 4, 8), "torus": (2, 4, 8)}


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


def test_sizes_that_the_number_does_not_divide_are_refused() -> None:
    c = controller("fat_tree")
    with pytest.raises(InputError, match="6 accelerators do not come from servers that give 4 each, of 8"):
        c.submit(request("odd", 6, constraints={"per_server": 4}))
    decisions = c.submit(request("elastic", {"min": 1, "max": 9}, constraints={"per_server": 4}))
    assert started(decisions) == ["elastic"]
    assert len(c.running["elastic"].devices) in (4, 8)


def test_a_job_of_higher_priority_stops_who_stands_on_enough_servers() -> None:
    c = controller("fat_tree", {"moves": False})
    for server in range(4):
        c.submit_all([request(f"low{server}", 6), request(f"high{server}", 2, priority=2)])
    decisions = c.submit(even("even", 2, 4, priority=1))
    assert sum(isinstance(decision, Stop) for decision in decisions) == 2
    assert given(c.running["even"].device_names) == {4}


@pytest.mark.parametrize("fabric", NUMBERS)
def test_the_guard_counts_what_each_server_gives(fabric: str) -> None:
    c = controller(fabric)
    c.submit(even("even", 2, 8))
    asked, place = c.job("even").request, c.running["even"]
    guard = c._durable.state.validator
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
