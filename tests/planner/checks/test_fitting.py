"""Most jobs that fit, against enumeration and by hand."""

from functools import cache
from itertools import combinations
from random import Random
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.checks.fitting import jobs_between

Fibers = tuple[tuple[tuple[int, int], int], ...]


@cache
def enumerated(free: tuple[int, ...], fibers: Fibers, size: int) -> int:
    """Place one more job in every way, one fiber each way for every job across a pair."""
    most = 0
    for server, count in enumerate(free):
        if count >= size:
            rest = (*free[:server], count - size, *free[server + 1 :])
            most = max(most, 1 + enumerated(rest, fibers, size))
    for index, ((a, b), count) in enumerate(fibers):
        if count:
            left = (*fibers[:index], ((a, b), count - 1), *fibers[index + 1 :])
            for share in range(max(1, size - free[b]), min(size - 1, free[a]) + 1):
                rest = tuple(c - share * (s == a) - (size - share) * (s == b) for s, c in enumerate(free))
                most = max(most, 1 + enumerated(rest, left, size))
    return most


@st.composite
def racks(draw: st.DrawFn) -> tuple[tuple[int, ...], Fibers, int]:
    free = tuple(draw(st.lists(st.integers(0, 6), min_size=1, max_size=4)))
    pairs = combinations(range(len(free)), 2)
    return free, tuple((pair, draw(st.integers(0, 2))) for pair in pairs), draw(st.integers(2, 9))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(racks())
def test_against_enumeration(rack: tuple[tuple[int, ...], Fibers, int]) -> None:
    free, fibers, size = rack
    links = frozenset(pair for pair, count in fibers if count)
    assert jobs_between(free, links, size) == (enumerated(free, fibers, size),) * 2


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=5, max_size=5), st.integers(3, 5), st.randoms(use_true_random=False))
def test_five_servers_against_enumeration(free: list[int], size: int, random: Random) -> None:
    fibers = tuple((pair, int(random.random() < 0.6)) for pair in combinations(range(5), 2))
    links = frozenset(pair for pair, count in fibers if count)
    assert jobs_between(tuple(free), links, size) == (enumerated(tuple(free), fibers, size),) * 2


@pytest.mark.parametrize(
    ("free", "links", "size", "expected"),
    [
        ((4, 3, 3), {(0, 1), (0, 2)}, 4, 2),
        ((4, 3, 3), {(0, 1), (1, 2)}, 4, 2),
        ((3, 3, 2), {(0, 1), (1, 2)}, 4, 2),
        ((3, 3, 2), {(0, 1)}, 4, 1),
        ((1, 1, 1, 1), {(0, 1), (1, 2), (2, 3)}, 4, 0),
        ((0, 5), {(0, 1)}, 5, 1),
        ((), set(), 2, 0),
    ],
)
def test_by_hand(free: tuple[int, ...], links: set[tuple[int, int]], size: int, expected: int) -> None:
    """In the first case the server that holds a job whole must instead lend to both others."""
    assert jobs_between(free, frozenset(links), size) == (expected, expected)


@pytest.mark.slow
def test_a_rack_of_eight_servers_is_quick() -> None:
    random = Random(5)
    started_s = process_time()
    for _ in range(20):
        free = tuple(random.randint(0, 32) for _ in range(8))
        links = frozenset(pair for pair in combinations(range(8), 2) if random.random() < 0.7)
        for size in range(2, 65):
            least, most = jobs_between(free, links, size)
            assert 0 <= least == most <= sum(free) // size
    assert process_time() - started_s < 10


def test_a_few_free_servers_of_many_are_quick() -> None:
    free = tuple(3 if server % 100 == 0 else 0 for server in range(512))
    started_s = process_time()
    assert jobs_between(free, frozenset(combinations(range(512), 2)), 4) == (4, 4)
    assert process_time() - started_s < 2
