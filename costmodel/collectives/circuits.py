"""Circuits of a plan: each digit is a few permutations of the ranks, with a circuit from every rank to its image."""

from functools import lru_cache
from typing import TypeAlias

import numpy as np

from costmodel.collectives.digits import (
    Ints,
    is_exact,
    levels,
    nearest_first,
    relays,
    straight,
    sums_ahead,
    window_peers,
)
from costmodel.collectives.ladder import Algorithm

Circuits: TypeAlias = tuple[tuple[int, int, int], ...]
"""simplex circuits of one configuration: (source rank, destination rank, wavelengths)"""


@lru_cache(maxsize=4096)
def permutations(kind: Algorithm, ranks: int, radices: tuple[int, ...]) -> tuple[tuple[Ints, ...], ...]:
    """Images of all ranks, shape (ranks,), of each permutation of each digit; a ring counts as one digit."""
    exact = is_exact(ranks, radices)
    if kind in ("radix", "exchange") and exact:
        names = nearest_first(ranks, radices)
        peers = [window_peers(ranks, level, exact=True) for level in levels(ranks, radices)]
        return tuple(tuple(names[image[np.argsort(names)]] for image, _ in each) for each in peers)
    everyone = np.arange(ranks)
    if kind == "radix":
        return tuple(tuple(p for p, _ in window_peers(ranks, level, exact)) for level in levels(ranks, radices))
    return tuple(tuple((everyone + far) % ranks for far in each) for each in _ahead(kind, ranks, radices))


def _ahead(kind: Algorithm, ranks: int, radices: tuple[int, ...]) -> list[list[int]]:
    """How many ranks ahead the circuits of each digit lead, the same from every rank."""
    if kind == "ring":
        return [[1] if ranks > 1 else []]
    if kind == "exchange":
        return [[far for far, _ in sums_ahead(level)] for level in levels(ranks, radices)]
    if kind == "direct":
        return [list(each) for each in straight(radices)]
    if kind == "bruck":
        return relays(ranks, radices)
    if kind in ("circulant", "circulant_relay"):
        return [[*radices]]
    raise ValueError(f"kind: the ranks of a {kind} differ in their circuits; see its schedule")
