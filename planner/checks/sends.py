"""Sends of rounds as columns: rounds of many ranks run over whole columns, not send by send."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Send = tuple[int, int, tuple[int, ...]]
"""(source, destination, chunks)"""


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

    def run(self, parts: NDArray[np.int32]) -> None:
        """Let the round change what ranks have, shape (ranks, chunks, ...): all that is sent was there before."""
        arriving = parts[self.source, self.chunk]
        if not self.adds:
            parts[self.destination, self.chunk] = arriving
            return
        number = self.destination * parts.shape[1] + self.chunk
        order = np.argsort(number, kind="stable")
        starts = np.flatnonzero(np.diff(number[order], prepend=-1))
        if len(starts) == len(order):
            parts[self.destination, self.chunk] += arriving
        else:
            sums = np.add.reduceat(arriving[order], starts, axis=0, dtype=parts.dtype)
            parts[self.destination[order[starts]], self.chunk[order[starts]]] += sums


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
