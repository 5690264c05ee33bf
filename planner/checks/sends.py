"""Sends of rounds as columns: rounds of many ranks run over whole columns, not send by send."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Send = tuple[int, int, tuple[int, ...]]
"""(source, destination, chunks)"""
MOST = 2**40
"""more parts than ranks have"""


def columns_of(sends: Sequence[Send]) -> Ints:
    """Source, destination and number of chunks of each send, shape (3, S)."""
    rows = [(a, b, len(chunks)) for a, b, chunks in sends]
    return np.fromiter(chain.from_iterable(rows), np.int64, 3 * len(rows)).reshape(-1, 3).T


@dataclass(frozen=True)
class ChunkMoves:
    """One round, chunk by chunk: columns of shape (M,), ascending by chunk."""

    source: Ints
    destination: Ints
    chunk: Ints
    adds: bool
    """whether a receiver adds to what it has, or replaces it"""

    @classmethod
    def of(cls, sends: Sequence[Send], columns: Ints, *, adds: bool) -> "ChunkMoves":
        """All chunks of all sends, which have these columns."""
        source, destination = np.repeat(columns[:2], columns[2], axis=1)
        chunk = np.fromiter(chain.from_iterable([chunks for _, _, chunks in sends]), np.int64, len(source))
        order = np.argsort(chunk, kind="stable")
        return cls(source[order], destination[order], chunk[order], adds)

    def of_chunks(self, first: int, last: int) -> "ChunkMoves":
        """Those of the chunks from the first to before the last, numbered from 0."""
        start, end = np.searchsorted(self.chunk, (first, last))
        columns = self.source[start:end], self.destination[start:end], self.chunk[start:end] - first
        return ChunkMoves(*columns, self.adds)

    def run(self, sums: "Sums") -> None:
        """Let the round change what ranks have: all that is sent was there before."""
        here, there = (self.source, self.chunk), (self.destination, self.chunk)
        parts, count = sums.parts[here], sums.count[here]
        if not self.adds:
            sums.parts[there], sums.count[there] = parts, count
            return
        number = self.destination * sums.count.shape[1] + self.chunk
        order = np.argsort(number, kind="stable")
        starts = np.flatnonzero(np.diff(number[order], prepend=-1))
        if len(starts) < len(order):
            there = self.destination[order[starts]], self.chunk[order[starts]]
            parts = np.bitwise_or.reduceat(parts[order], starts, axis=0)
            count = np.add.reduceat(count[order], starts)
        sums.parts[there] |= parts
        sums.count[there] = np.minimum(sums.count[there] + count, MOST)


@dataclass(frozen=True)
class Sums:
    """What each rank has of each chunk: a sum of parts, of which every rank had one."""

    parts: NDArray[np.uint64]
    """parts that are in it, a bit for each, shape (ranks, chunks, words)"""
    count: Ints
    """how many, one that is in it twice counted twice, up to `MOST`, shape (ranks, chunks)"""

    @classmethod
    def of_own(cls, own: Ints, num_chunks: int, num_parts: int) -> "Sums":
        """Each rank has its own part of every chunk; `own` says which of so many that is, shape (ranks,)."""
        parts = _words(np.arange(num_parts) == own[:, None])
        return cls(np.repeat(parts[:, None], num_chunks, axis=1), np.ones((len(own), num_chunks), np.int64))

    def are(self, first: int, last: int) -> NDArray[np.bool_]:
        """Where parts from the first to before the last are in it, each once, and no other: shape (ranks, chunks)."""
        wanted = np.arange(64 * self.parts.shape[2])
        every = _words((first <= wanted) & (wanted < last))
        return np.asarray((self.parts == every).all(axis=2) & (self.count == last - first))


def _words(marks: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """A bit for each mark, the last axis being shorter for it."""
    missing = -marks.shape[-1] % 64
    padded = np.pad(marks, [(0, 0)] * (marks.ndim - 1) + [(0, missing)])
    return np.packbits(padded, axis=-1).view(np.uint64)


@dataclass(frozen=True)
class SentEnds:
    """Which circuits rounds send over: those of all R rounds once, and columns of shape (S,) over the sends."""

    distinct: Sequence[tuple[int, int, int]]
    """(configuration, source, destination) of each"""
    end: Ints
    """of each send, its number among the distinct ones"""
    num_chunks: Ints
    """of each send"""
    start: Ints
    """(R,): the first send of each round"""

    @classmethod
    def of(cls, rounds: Sequence[tuple[int, Ints]]) -> "SentEnds":
        """Of rounds that send something: the configuration of each, and the columns of its sends."""
        numbers, sizes = [number for number, _ in rounds], [columns.shape[1] for _, columns in rounds]
        source, destination, num_chunks = np.concatenate([np.zeros((3, 0), np.int64), *(c for _, c in rounds)], axis=1)
        ranks = int(max(source.max(initial=0), destination.max(initial=0))) + 1
        code = (np.repeat(np.array(numbers, np.int64), sizes) * ranks + source) * ranks + destination
        distinct, end = np.unique(code, return_inverse=True)
        named = [(code // ranks**2, code // ranks % ranks, code % ranks) for code in distinct.tolist()]
        return cls(named, end, num_chunks, np.cumsum([0, *sizes[:-1]]))

    def slowest(self, widths: Sequence[int]) -> list[float]:
        """Chunks of each round over the width of its slowest circuit; `widths` of the distinct ends."""
        shares = self.num_chunks / np.array(widths, np.float64)[self.end]
        return list(np.maximum.reduceat(shares, self.start).tolist()) if len(shares) else []

    def first_dark(self, is_dark: Sequence[bool]) -> tuple[int, tuple[int, int, int], int] | None:
        """The first round with a dark end, the first of its dark ends, and how many of its sends have one."""
        dark = np.flatnonzero(np.array(is_dark, bool)[self.end])
        if not len(dark):
            return None
        rounds = np.searchsorted(self.start, dark, side="right") - 1
        return int(rounds[0]), self.distinct[self.end[dark[0]]], int((rounds == rounds[0]).sum())
