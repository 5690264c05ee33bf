"""Several jobs placed at once by CP-SAT."""

from itertools import product
from random import Random

import pytest

from planner.cpsat.batch import BatchModel, BatchRoom, Entrant, Way
from planner.cpsat.make_room import RoomProblem
from tests.planner.controller.sites import controller, request, started


def test_a_higher_priority_goes_first_whatever_the_others_are_worth() -> None:
    c = controller("fat_tree", {"moves": False})
    c.submit_all([request("x", 8), request("y", 8)])
    jobs = [request("a", 8, weight=50), request("b", 8, weight=50), request("urgent", 16, priority=1)]
    assert started(c.submit_all(jobs)) == ["urgent"]


def test_what_is_kept_for_a_job_ahead_is_left_alone() -> None:
    c = controller("fat_tree", {"moves": False})
    c.submit(request("x", 8, duration_s=100), at_s=0)
    c.submit(request("ahead", 32), at_s=1)
    assert started(c.submit_all([request("a", 8), request("b", 8), request("c", 8, duration_s=40)], at_s=2)) == ["c"]
    c.finish("c", at_s=42)
    assert started(c.finish("x", at_s=100)) == ["ahead"]


def by_every_choice(free: tuple[int, ...], jobs: list[Entrant]) -> tuple[float, ...]:
    """Most value by level over all choices of ways and counts, nothing moving."""
    best: tuple[float, ...] = ()
    levels = sorted({job.level for job in jobs})
    for ways in product(*[(None, *job.ways) for job in jobs]):
        value = tuple(sum(w.value for w, j in zip(ways, jobs, strict=True) if w and j.level == k) for k in levels)
        if value > best and _fits(list(free), [w for w in ways if w]):
            best = value
    return best


def _fits(free: list[int], ways: list[Way]) -> bool:
    if not ways:
        return True
    way, *rest = ways
    ranges = [range(min(count // way.part, way.most, way.parts) + 1) for count in free]
    for counts in product(*ranges):
        if sum(counts) == way.parts and _fits([f - way.part * n for f, n in zip(free, counts, strict=True)], rest):
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_the_model_finds_what_every_choice_finds(seed: int) -> None:
    random = Random(seed)
    free = tuple(random.randint(0, 4) for _ in range(3))
    jobs = []
    for _ in range(random.randint(1, 4)):
        shapes = [random.choice([(1, 1), (1, 2), (2, 1), (2, 2), (4, 1)]) for _ in range(random.randint(1, 2))]
        ways = tuple(Way(p, n, random.choice([1, n]), 0, random.randint(1, 9)) for p, n in shapes)
        jobs.append(Entrant(ways, random.randint(0, 1), 0, frozenset(range(3)), 10))
    hall = BatchRoom(RoomProblem(free, ()), ((0, 1, 2),), frozenset(range(3)), ((100, 100),), 1, 0)
    plan = BatchModel(hall, jobs).solve(20)
    assert plan is not None
    levels = sorted({job.level for job in jobs})
    value = tuple(sum(w.value for n, (w, _) in plan.starts.items() if jobs[n].level == k) for k in levels)
    assert value == pytest.approx(by_every_choice(free, jobs))
    for way, where in plan.starts.values():
        assert sum(count for _, count in where) == way.parts
        assert max(count for _, count in where) <= way.most


def test_nobody_moves_in_vain() -> None:
    """A move that costs more than what the batch gains by it is not made."""
    room = RoomProblem((4, 4), ((0, 4, 1), (1, 4, 1)))
    job = Entrant((Way(8, 1, 1, 0, 1.0),), 0, 0, frozenset((0, 1)), 39)
    for downtime_s, count in ((9, 1), (10, 0)):
        hall = BatchRoom(room, ((0, 1),), frozenset((0, 1)), ((100, 100),), downtime_s, 0)
        plan = BatchModel(hall, [job]).solve(20)
        assert plan is not None
        assert len(plan.starts) == sum(plan.moves.values()) == count
