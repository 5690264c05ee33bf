"""Jobs that arrive together: never less than one after the other gives, by priority and then value, often more."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from planner.controller import Controller, Move, Start
from planner.controller import scheduling_cycle as passes_module
from tests.oracles.controller import World
from tests.planner.controller.sites import controller, request, started

WHOLE = {"one_server": True}


def without_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes_module, "start_batch", lambda state, names, deadline_s: (False, frozenset()))


def scene(fabric: str, seed: int, **rules: Any) -> tuple[Controller, Random]:
    """Jobs with holes between them, the same for the same seed."""
    random = Random(seed)
    c = controller(fabric, {"preempts": False, "downtime_s": 30} | rules)
    for i in range(24):
        size = random.choice([1, 2, 2, 4])
        if size <= c.num_free:
            c.submit(request(f"old{i}", size, movable=random.random() < 0.5, duration_s=1000), at_s=0)
    for name in random.sample(sorted(c.running), len(c.running) // 2):
        c.finish(name, at_s=1)
    return c, random


def batch(random: Random) -> list[Any]:
    jobs = []
    for i in range(random.randint(2, 7)):
        size = random.choice([1, 2, 4, 8, 8, 16, [4, 8]])
        limits = {"one_server": True} if size == 8 and random.random() < 0.7 else {}
        jobs.append(request(f"new{i}", size, priority=random.choice([0, 0, 1]), constraints=limits))
    return jobs


def reached(c: Controller, jobs: list[Any]) -> tuple[list[int], list[float]]:
    """Jobs that run, and their value, by priority, the highest first."""
    number, value = Counter[int](), Counter[int]()
    for job in jobs:
        place = c.running.get(job.name)
        if place is not None:
            number[job.priority] += 1
            value[job.priority] += round(1e6 * float(place.row.options.value[place.row.number]))  # type: ignore[assignment]
    order = sorted({job.priority for job in jobs}, reverse=True)
    return [number[p] for p in order], [value[p] / 1e6 for p in order]


def test_a_batch_gets_more_than_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen are free: the job of 16 arrives first, and there are two of 8 that are worth as much each."""
    jobs = [request("large", 16), request("a", 8), request("b", 8)]
    for is_joint, names in ((True, {"a", "b"}), (False, {"large"})):
        with monkeypatch.context() as patch:
            if not is_joint:
                without_batches(patch)
            c = controller("fat_tree", {"moves": False})
            c.submit_all([request("x", 8), request("y", 8)])
            assert set(started(c.submit_all(jobs))) == names
            assert c.check() == []


def test_neighbours_move_for_a_batch_once_for_all() -> None:
    """Holes of two in each server: who moves makes room for both jobs that want a server, not for one twice."""
    c = controller("fat_tree", {"downtime_s": 1})
    for server in range(4):
        c.submit_all([request(f"a{server}", 4, duration_s=500), request(f"b{server}", 4, duration_s=500)])
    world = World()
    for server in range(4):
        c.finish(f"b{server}")
    world.carry_out([Start(name, place) for name, place in c.running.items()], set())
    decisions = c.submit_all([request("first", 8, constraints=WHOLE), request("second", 8, constraints=WHOLE)])
    assert world.carry_out(decisions, set()) == []
    assert set(started(decisions)) == {"first", "second"}
    assert sum(len(d.devices) for d in decisions if isinstance(d, Move)) == 8
    assert c.check() == []


def test_a_lower_priority_does_not_take_what_a_higher_one_is_kept() -> None:
    """The urgent job needs all; the others would fit beside it now, and do not delay it."""
    c = controller("fat_tree", {"moves": False, "preempts": False})
    c.submit(request("x", 8, duration_s=100), at_s=0)
    jobs = [request("urgent", 32, priority=1), request("a", 8), request("short", 8, duration_s=50)]
    assert started(c.submit_all(jobs, at_s=1)) == ["short"]
    c.finish("short", at_s=51)
    assert started(c.finish("x", at_s=100)) == ["urgent"]


def test_the_tenant_with_less_use_goes_first_and_quotas_hold() -> None:
    c = controller("fat_tree", {"moves": False, "quotas": {"q": {"accelerators": 8}}, "half_life_s": 1e6})
    c.submit_all([request("x", 8, tenant="rich"), request("y", 8, tenant="rich")], at_s=0)
    jobs = [request("r0", 8, tenant="rich", weight=9), request("r1", 8, tenant="rich", weight=9),
            request("p", 16, tenant="poor")]  # fmt: skip
    assert started(c.submit_all(jobs, at_s=100)) == ["p"]
    c.finish("p", at_s=101)
    for name in ("r0", "r1"):
        c.finish(name, at_s=102)
    held = started(c.submit_all([request(f"q{i}", 4, tenant="q") for i in range(4)], at_s=103))
    assert len(held) == 2


@pytest.mark.slow
@pytest.mark.parametrize("fabric", ["fat_tree", "lightpath"])
def test_random_batches_never_get_less(fabric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Value of each priority, the highest first, against the same controller without a look at the whole."""
    more = 0
    for seed in range(12):
        c, random = scene(fabric, seed)
        jobs = batch(random)
        c.submit_all(jobs, at_s=2)
        assert c.check() == []
        assert c.counts.refused == 0
        with monkeypatch.context() as patch:
            without_batches(patch)
            plain, again = scene(fabric, seed)
            assert [job.accelerators for job in batch(again)] == [job.accelerators for job in jobs]
            plain.submit_all(jobs, at_s=2)
        mine, theirs = reached(c, jobs)[1], reached(plain, jobs)[1]
        assert mine >= [value - 1e-5 for value in theirs], f"seed {seed}: {mine} after {theirs}"
        more += mine > [value + 1e-5 for value in theirs]
    assert more >= 2
