"""Rounds of a reduce-scatter, of the all-gather that mirrors it, of a ring, and of a scatter from one rank."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from costmodel.collectives.digits import Level, digit_of, is_exact, levels, window_peers
from costmodel.collectives.plan import CollectivePlan
from costmodel.collectives.schedule import Schedule, Writer

Ints = NDArray[np.int64]


def ring(plan: CollectivePlan) -> Schedule:
    """Each rank passes on what it received last; rank p ends a reduce-scatter with chunk p."""
    ranks, writer = plan.ranks, Writer(plan)
    everyone = np.arange(ranks)
    for is_gather in [False] * (plan.collective != "all_gather") + [True] * (plan.collective != "reduce_scatter"):
        for step in range(ranks - 1):
            writer.begin_round(0, 0)
            chunk = (everyone - step - (not is_gather)) % ranks
            writer.move(everyone, (everyone + 1) % ranks, chunk, adds=not is_gather, digit=0)
    return writer.finish(ranks, ranks)


def windows(plan: CollectivePlan) -> Schedule:
    """Reduce-scatter, all-gather, or both; alternating calls go through the digits the other way round."""
    writer = Writer(plan)
    for call in range(2 if plan.order == "alternating" else 1):
        if plan.collective in ("all_reduce", "reduce_scatter"):
            _reduce_scatter(writer, plan.downward() if call == 0 else plan.upward(), call)
        if plan.collective in ("all_reduce", "all_gather"):
            _all_gather(writer, plan.upward() if call == 0 else plan.downward(), call)
    return writer.finish(plan.ranks, plan.ranks)


def scatter(plan: CollectivePlan) -> Schedule:
    """Broadcast from rank 0: each chunk d goes digit by digit to rank d, then an all-gather."""
    writer = Writer(plan)
    rest, place = np.arange(plan.ranks), np.zeros(plan.ranks, dtype=np.int64)
    for digit, configuration in plan.downward():
        writer.begin_round(configuration, 0)
        stride = levels(plan.ranks, plan.radices)[digit].window
        ahead = rest // stride
        chunk = np.flatnonzero(ahead)
        there = place + ahead * stride
        writer.move(place[chunk], there[chunk], chunk, adds=False, digit=digit)
        rest, place = rest % stride, there
    _all_gather(writer, plan.upward(), 0)
    return writer.finish(plan.ranks, plan.ranks)


def _reduce_scatter(writer: Writer, order: Iterable[tuple[int, int]], call: int) -> None:
    """To each peer its window of what is left."""
    plan = writer.plan
    every, everyone = levels(plan.ranks, plan.radices), np.arange(plan.ranks)
    exact, left = is_exact(plan.ranks, plan.radices), list(every)
    for digit, configuration in order:
        level = every[digit]
        left.remove(level)
        writer.begin_round(configuration, call)
        for receiver, ahead in window_peers(plan.ranks, level, exact):
            if exact:
                chunk = _agreeing(receiver, every, left)
            else:
                size = min(level.window, level.length - ahead * level.window)
                chunk = (receiver[:, None] + np.arange(size)) % plan.ranks
            writer.move(everyone[:, None], receiver[:, None], chunk, adds=True, digit=digit)


def _all_gather(writer: Writer, order: Iterable[tuple[int, int]], call: int) -> None:
    """To each peer all that the sender has."""
    plan = writer.plan
    every, everyone = levels(plan.ranks, plan.radices), np.arange(plan.ranks)
    exact = is_exact(plan.ranks, plan.radices)
    gathered: list[Level] = []
    for digit, configuration in order:
        level = every[digit]
        writer.begin_round(configuration, call)
        for receiver, ahead in window_peers(plan.ranks, level, exact):
            if exact:
                chunk = _agreeing(everyone, every, gathered)
            else:
                size = min(level.window, level.length - ahead * level.window)
                chunk = (everyone[:, None] - np.arange(size)) % plan.ranks
            writer.move(everyone[:, None], receiver[:, None], chunk, adds=False, digit=digit)
        gathered.append(level)


def _agreeing(ranks: Ints, every: list[Level], free: list[Level]) -> Ints:
    """Chunks that agree with each rank in all digits but the free ones, ascending; shape (ranks, chunks)."""
    base = sum((digit_of(ranks, level) * level.window for level in every if level not in free), np.zeros_like(ranks))
    offsets = np.zeros(1, dtype=np.int64)
    for level in free:
        offsets = (offsets[:, None] + np.arange(level.radix) * level.window).ravel()
    chunks: Ints = base[:, None] + np.sort(offsets)
    return chunks
