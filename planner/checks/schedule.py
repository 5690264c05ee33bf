"""Rounds of a collective: who sends which chunks to whom, under which configuration of circuits."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate
from math import prod
from operator import mul

import numpy as np

from costmodel.parallelism.configuration import Collective
from planner.checks.all_to_all import rounds_of
from planner.checks.circulants import all_reduce_rounds, backwards, relay_rounds
from planner.checks.required import digits_of, handed_over, peers_ahead, windows
from planner.checks.sends import ChunkMoves, Ints, Send, SentEnds, Sums, columns_of

MOST_BYTES = 2**26
"""of what ranks have, while rounds run on some chunks after others"""


@dataclass(frozen=True)
class Round:
    """Sends at the same time; a receiver adds the chunks to its own, or replaces its own by them."""

    configuration: int
    sends: tuple[Send, ...]
    adds: bool

    @cached_property
    def columns(self) -> Ints:
        """Of its sends."""
        return columns_of(self.sends)

    @cached_property
    def moves(self) -> ChunkMoves:
        return ChunkMoves.of(self.sends, self.columns, adds=self.adds)


@dataclass(frozen=True)
class Schedule:
    """Rounds that move `num_messages` messages of `num_chunks` chunks each."""

    rounds: tuple[Round, ...]
    num_chunks: int
    num_messages: int = 1
    num_interruptions: int = 0
    """changes of configuration for each message beside those between rounds: it finds other circuits in force, and
    leaves them so"""

    @cached_property
    def num_configurations(self) -> int:
        """Of circuits, that its rounds use."""
        return max((each.configuration for each in self.rounds), default=-1) + 1

    @cached_property
    def ends(self) -> SentEnds:
        return SentEnds.of([(each.configuration, each.columns) for each in self.rounds])


@lru_cache(maxsize=256)
def schedule_of(collective: Collective, ranks: int) -> Schedule:
    """Rounds of a sound collective; none where nothing is sent or packets are switched."""
    if collective.kind == "ring":
        return _ring(ranks)
    if collective.kind == "line":
        forth = Round(0, tuple((i, i + 1, (0,)) for i in range(ranks - 1)), adds=False)
        back = Round(0, tuple((i + 1, i, (0,)) for i in range(ranks - 1)), adds=False)
        return Schedule((forth, back), num_chunks=1, num_messages=2)
    if collective.kind == "transfer" and collective.wavelengths:
        sends = tuple((a, b, (0,)) for a, b in handed_over(collective))
        return Schedule((Round(0, sends, adds=False),), num_chunks=1, num_interruptions=2)
    if collective.kind in ("radix", "exchange"):
        return _digit_rounds(collective, ranks)
    if collective.kind in ("direct", "bruck"):
        return _all_to_all(collective, ranks)
    if collective.kind == "circulant":
        return _circulant(collective.radices, ranks)
    if collective.kind == "circulant_relay":
        sent, pieces = relay_rounds(collective.radices, ranks)
        return Schedule(tuple(Round(0, sends, adds=False) for sends in sent), num_chunks=ranks * pieces)
    return Schedule((), num_chunks=1)


def _all_to_all(collective: Collective, ranks: int) -> Schedule:
    """Every rank has a part of its message for each rank."""
    holder = [number for number, count in enumerate(collective.held) for _ in range(count)]
    rounds = tuple(Round(holder[number], sends, adds=False) for number, sends in rounds_of(collective, ranks))
    return Schedule(rounds, num_chunks=ranks, num_messages=len(rounds) // len(collective.radices))


def _circulant(strides: tuple[int, ...], ranks: int) -> Schedule:
    """A reduce-scatter, and the all-gather that it is backwards."""
    gather, pieces = all_reduce_rounds(strides, ranks)
    scatter = [Round(0, backwards(sends, ranks, pieces), adds=True) for sends in reversed(gather)]
    return Schedule((*scatter, *(Round(0, sends, adds=False) for sends in gather)), num_chunks=ranks * pieces)


def _ring(ranks: int) -> Schedule:
    """Each rank passes on the chunk that it received last: n - 1 rounds add, n - 1 rounds copy."""
    rounds = []
    for step in range(2 * (ranks - 1)):
        sends = tuple((i, (i + 1) % ranks, ((i - step) % ranks,)) for i in range(ranks))
        rounds.append(Round(0, sends, adds=step < ranks - 1))
    return Schedule(tuple(rounds), num_chunks=ranks)


def _digit_rounds(collective: Collective, ranks: int) -> Schedule:
    """Radix: reduce-scatter digit by digit, then back as an all-gather. Exchange: whole messages, once."""
    holder = [number for number, count in enumerate(collective.held) for _ in range(count)]
    forth, back = _passes(collective, ranks)
    first = [Round(number, sends, adds=True) for number, sends in zip(holder, forth, strict=True)]
    if collective.kind == "radix":
        gather = [Round(number, sends, adds=False) for number, sends in zip(holder, back, strict=True)]
        return Schedule((*first, *reversed(gather)), num_chunks=ranks)
    if collective.order == "fixed":
        return Schedule(tuple(first), num_chunks=1)
    return Schedule((*first, *reversed(first)), num_chunks=1, num_messages=2)


def _passes(collective: Collective, ranks: int) -> tuple[list[tuple[Send, ...]], list[tuple[Send, ...]]]:
    """Sends of each digit, and those of the all-gather where there is one."""
    radices, digits = collective.radices, range(len(collective.radices))
    if prod(radices) > ranks:
        return _padded_passes(collective, ranks)
    if collective.kind == "exchange":
        whole: list[tuple[Send, ...]] = [
            tuple((a, b, (0,)) for a in range(ranks) for b in _peers(a, i, radices)) for i in digits
        ]
        return whole, []
    return [_scatter(i, radices, ranks) for i in digits], [_gather(i, radices, ranks) for i in digits]


def _padded_passes(collective: Collective, ranks: int) -> tuple[list[tuple[Send, ...]], list[tuple[Send, ...]]]:
    """The same where radices do not multiply to the ranks.

    Before a digit of windows of L ranks, rank a still reduces chunks a to a + L - 1; after it those of the first of
    its windows. Before its turn in the all-gather a rank has the chunks of as many ranks up to itself.
    """
    forth: list[tuple[Send, ...]] = []
    back: list[tuple[Send, ...]] = []
    for length, window, radix in windows(collective.radices, ranks):
        scatter, gather = [], []
        for far, _ in peers_ahead(collective.kind, length, window, radix):
            count = min(window, length - far) if collective.kind == "radix" else 0
            for a in range(ranks):
                b = (a + far) % ranks
                scatter.append((a, b, tuple((b + i) % ranks for i in range(count)) or (0,)))
                gather.append((a, b, tuple((a - i) % ranks for i in range(count))))
        forth.append(tuple(scatter))
        back.append(tuple(gather))
    return forth, back


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
    """True if a sound collective leaves every chunk reduced exactly once on every rank, in each of its calls."""
    if collective.kind == "exchange" and prod(collective.radices) > ranks:
        return all(sums_reduce_once(collective, ranks))
    schedule = schedule_of(collective, ranks)
    size = len(schedule.rounds) // schedule.num_messages
    calls = [schedule.rounds[start : start + size] for start in range(0, len(schedule.rounds), size)]
    return all(ends_reduced(replace(schedule, rounds=rounds), ranks) for rounds in calls)


def sums_reduce_once(collective: Collective, ranks: int) -> tuple[bool, bool]:
    """True if calls from the last digit to the first, and from the first to the last, end with every part once.

    A rank has one sum with its own part and one without. From the last digit on, either is sent and the receiver adds
    it to both; from the first on, the sum of both is sent and the receiver adds it to the one or the other.
    """
    steps = [peers_ahead(collective.kind, *step) for step in windows(collective.radices, ranks)]
    up, down = np.zeros((2, 2, ranks, ranks), dtype=np.int64)
    up[0], down[0] = np.eye(ranks), np.eye(ranks)
    for step in reversed(steps):
        up = up + sum(np.roll(up[int(is_short)], far, axis=0) for far, is_short in step)
    for step in steps:
        both = down.sum(axis=0)
        for far, is_short in step:
            down[int(is_short)] += np.roll(both, far, axis=0)
    return bool((up[0] == 1).all()), bool((down[0] == 1).all())


def ends_reduced(schedule: Schedule, ranks: int) -> bool:
    """True if every rank ends with every chunk, each containing every rank's part exactly once."""
    together = max(MOST_BYTES // (ranks * (ranks // 8 + 16)), 1)
    for first in range(0, schedule.num_chunks, together):
        last = min(first + together, schedule.num_chunks)
        sums = Sums.of_own(np.arange(ranks), last - first, ranks)
        for each in schedule.rounds:
            each.moves.of_chunks(first, last).run(sums)
        if not sums.are(0, ranks).all():
            return False
    return True
