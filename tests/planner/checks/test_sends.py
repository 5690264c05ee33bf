"""Rounds as columns do what their sends do one after the other."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.checks.schedule import Round, Schedule
from planner.checks.sends import Send, Sums

RANKS, CHUNKS = 4, 5
RANK = st.integers(0, RANKS - 1)
SEND = st.tuples(RANK, RANK, st.lists(st.integers(0, CHUNKS - 1), min_size=1, unique=True).map(tuple))
ROUNDS = st.lists(
    st.builds(Round, st.integers(0, 2), st.lists(SEND, min_size=1, max_size=8).map(tuple), st.booleans()),
    min_size=1,
    max_size=4,
)


def _run(sends: tuple[Send, ...], adds: bool, parts: np.ndarray) -> None:
    """What all ranks have is sent before anything arrives."""
    before = parts.copy()
    for source, destination, chunks in sends:
        for chunk in chunks:
            arriving = before[source, chunk]
            parts[destination, chunk] = parts[destination, chunk] + arriving if adds else arriving


@settings(max_examples=200, deadline=None)
@given(ROUNDS, st.integers(0, CHUNKS - 1), st.integers(1, CHUNKS))
def test_rounds_change_what_ranks_have(rounds: list[Round], first: int, many: int) -> None:
    last = min(first + many, CHUNKS)
    whole = np.repeat(np.eye(RANKS, dtype=np.int64)[:, None], CHUNKS, axis=1)
    sums = Sums.of_own(np.arange(RANKS), last - first, RANKS)
    for each in rounds:
        _run(each.sends, each.adds, whole)
        each.moves.of_chunks(first, last).run(sums)
    some = whole[:, first:last]
    assert (sums.count == some.sum(axis=2)).all()
    assert (sums.are(0, RANKS) == (some == 1).all(axis=2)).all()
    for rank in range(RANKS):
        alone = np.eye(RANKS, dtype=np.int64)[rank]
        assert (sums.are(rank, rank + 1) == (some == alone).all(axis=2)).all()


@settings(max_examples=200, deadline=None)
@given(ROUNDS)
def test_the_slowest_circuit_and_the_first_that_is_not_there(rounds: list[Round]) -> None:
    ends = Schedule(tuple(rounds), CHUNKS).ends
    every = [(each.configuration, a, b) for each in rounds for a, b, _ in each.sends]
    assert sorted(ends.distinct) == sorted(set(every))
    width = {end: number % 3 + 1 for number, end in enumerate(sorted(set(every)))}
    assert ends.slowest([width[end] for end in ends.distinct]) == [
        max(len(chunks) / width[each.configuration, a, b] for a, b, chunks in each.sends) for each in rounds
    ]
    for dark in ({min(every)}, {max(every)}, set(every), set[tuple[int, int, int]]()):
        found = ends.first_dark([end in dark for end in ends.distinct])
        broken = [[(e.configuration, a, b) for a, b, _ in e.sends if (e.configuration, a, b) in dark] for e in rounds]
        number = next((n for n, each in enumerate(broken) if each), None)
        if number is None:
            assert found is None
        else:
            assert found is not None
            assert (found[0], found[1], found[2]) == (number, broken[number][0], len(broken[number]))
