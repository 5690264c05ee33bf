"""Rounds of a collective: who sends which chunks to whom, under which configuration of circuits."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from operator import mul

import numpy as np

from costmodel.configuration import Collective
from planner.checks.required import digits_of

Send = tuple[int, int, tuple[int, ...]]
"""(source, destination, chunks)"""


@dataclass(frozen=True)
class Round:
    """Sends at the same time; a receiver adds the chunks to its own, or replaces its own by them."""

    configuration: int
    sends: tuple[Send, ...]
    adds: bool


@dataclass(frozen=True)
class Schedule:
    """Rounds that move `num_messages` messages of `num_chunks` chunks each."""

    rounds: tuple[Round, ...]
    num_chunks: int
    num_messages: int = 1


@lru_cache(maxsize=256)
def schedule_of(collective: Collective, ranks: int) -> Schedule:
    """Rounds of a sound collective; none where nothing is sent or packets are switched."""
    if collective.kind == "ring":
        return _ring(ranks)
    if collective.kind == "line":
        forth = Round(0, tuple((i, i + 1, (0,)) for i in range(ranks - 1)), adds=False)
        back = Round(0, tuple((i + 1, i, (0,)) for i in range(ranks - 1)), adds=False)
        return Schedule((forth, back), num_chunks=1, num_messages=2)
    if collective.kind in ("radix", "exchange"):
        return _digit_rounds(collective, ranks)
    return Schedule((), num_chunks=1)


def _ring(ranks: int) -> Schedule:
    """Each rank passes on the chunk that it received last: n - 1 rounds add, n - 1 rounds copy."""
    rounds = []
    for step in range(2 * (ranks - 1)):
        sends = tuple((i, (i + 1) % ranks, ((i - step) % ranks,)) for i in range(ranks))
        rounds.append(Round(0, sends, adds=step < ranks - 1))
    return Schedule(tuple(rounds), num_chunks=ranks)


def _digit_rounds(collective: Collective, ranks: int) -> Schedule:
    """Radix: reduce-scatter digit by digit, then back as an all-gather. Exchange: whole messages, once."""
    radices = collective.radices
    holder = [number for number, count in enumerate(collective.held) for _ in range(count)]
    if collective.kind == "exchange":
        rounds = [
            Round(holder[i], tuple((a, b, (0,)) for a in range(ranks) for b in _peers(a, i, radices)), adds=True)
            for i in range(len(radices))
        ]
        return Schedule(tuple(rounds), num_chunks=1)
    scatter = [Round(holder[i], _scatter(i, radices, ranks), adds=True) for i in range(len(radices))]
    gather = [Round(holder[i], _gather(i, radices, ranks), adds=False) for i in reversed(range(len(radices)))]
    return Schedule((*scatter, *gather), num_chunks=ranks)


def _peers(rank: int, digit: int, radices: tuple[int, ...]) -> list[int]:
    """Ranks that differ in one digit alone."""
    stride = [*accumulate(radices, mul, initial=1)][digit]
    own = digits_of(rank, radices)[digit]
    return [rank + (value - own) * stride for value in range(radices[digit]) if value != own]


def _alike(rank: int, num_digits: int, radices: tuple[int, ...], ranks: int) -> tuple[int, ...]:
    """Chunks that agree with a rank in its first digits."""
    stride = [*accumulate(radices, mul, initial=1)][num_digits]
    return tuple(range(rank % stride, ranks, stride))


def _scatter(digit: int, radices: tuple[int, ...], ranks: int) -> tuple[Send, ...]:
    """To each peer what it will own: chunks that agree with it up to this digit."""
    return tuple((a, b, _alike(b, digit + 1, radices, ranks)) for a in range(ranks) for b in _peers(a, digit, radices))


def _gather(digit: int, radices: tuple[int, ...], ranks: int) -> tuple[Send, ...]:
    """To each peer all that the sender owns by now."""
    return tuple((a, b, _alike(a, digit + 1, radices, ranks)) for a in range(ranks) for b in _peers(a, digit, radices))


@lru_cache(maxsize=256)
def reduces_once(collective: Collective, ranks: int) -> bool:
    """Whether a sound collective leaves every chunk reduced exactly once on every rank."""
    return ends_reduced(schedule_of(collective, ranks), ranks)


def ends_reduced(schedule: Schedule, ranks: int) -> bool:
    """Whether every rank ends with every chunk, each containing every rank's part exactly once."""
    parts = np.zeros((ranks, schedule.num_chunks, ranks), dtype=np.int32)
    parts[np.arange(ranks), :, np.arange(ranks)] = 1
    for each in schedule.rounds:
        arriving = [(b, list(chunks), parts[a, list(chunks)]) for a, b, chunks in each.sends]
        for rank, chunks, part in arriving:
            parts[rank, chunks] = parts[rank, chunks] + part if each.adds else part
    return bool((parts == 1).all())
