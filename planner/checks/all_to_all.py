"""What an all-to-all sends in each round, and whether every part arrives.

Part src x n + dst is what rank src has for rank dst, of n ranks.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from costmodel.parallelism.configuration import Collective
from planner.checks.required import ahead_of

Ints = NDArray[np.int64]
Sends = tuple[tuple[int, int, tuple[int, ...]], ...]
"""(source, destination, parts) of one round"""


@lru_cache(maxsize=256)
def rounds_of(collective: Collective, ranks: int) -> tuple[tuple[int, Sends], ...]:
    """Rounds of one call, and where successive calls alternate of the next one too, each with its number."""
    order = range(len(collective.radices))
    forth = _call(collective, ranks, [*order])
    return forth if collective.order == "fixed" else (*forth, *_call(collective, ranks, [*reversed(order)]))


def delivers(collective: Collective, ranks: int) -> bool:
    """True if each call takes every part from its source to its destination, each send starting where the part is."""
    calls, size = rounds_of(collective, ranks), len(collective.radices)
    sources, destinations = np.divmod(np.arange(ranks * ranks), ranks)
    for first in range(0, len(calls), size):
        at = sources.copy()
        for _, sends in calls[first : first + size]:
            moved = [(a, b, np.array(parts, np.int64)) for a, b, parts in sends]
            if not all((at[parts] == a).all() for a, _, parts in moved):
                return False
            for _, b, parts in moved:
                at[parts] = b
        if not (at == destinations).all():
            return False
    return True


def _call(collective: Collective, ranks: int, order: list[int]) -> tuple[tuple[int, Sends], ...]:
    """Rounds in this order: each takes the parts on by what it serves of their distance."""
    sources, destinations = np.divmod(np.arange(ranks * ranks), ranks)
    travelled, found = np.zeros(ranks * ranks, np.int64), []
    for number in order:
        step = _step(collective, number, (destinations - sources) % ranks, ranks)
        here = (sources + travelled) % ranks
        sends = []
        for far in ahead_of(collective, ranks)[number]:
            parts = np.flatnonzero(step == far)
            by_sender = parts[np.argsort(here[parts], kind="stable")].reshape(ranks, -1).tolist()
            sends += [(a, (a + far) % ranks, tuple(each)) for a, each in enumerate(by_sender)]
        travelled += step
        found.append((number, tuple(sends)))
    return tuple(found)


def _step(collective: Collective, number: int, distance: Ints, ranks: int) -> Ints:
    """How far each part goes in a round."""
    if collective.kind == "direct":
        return np.where(np.isin(distance, ahead_of(collective, ranks)[number]), distance, 0)
    stride = int(np.prod(collective.radices[:number], dtype=np.int64))
    return np.asarray(distance // stride % collective.radices[number] * stride)
