"""Least time of a collective by trying everything: radices, held groups, wavelengths, changes; plain loops.

Windows are lists of ranks that are cut up, so that what a circuit carries is counted, not computed.
"""

from collections.abc import Iterator
from itertools import product
from math import inf

from tests.oracles.collectives import compositions


def cuts(ranks: int, peers: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """(radices, most ranks in a window that is sent) for every way to cut a window down to one rank."""
    if ranks == 1:
        yield (), ()
        return
    for radix in range(2, min(peers + 1, ranks) + 1):
        size = -(-ranks // radix)
        window = list(range(ranks))
        pieces = [window[start : start + size] for start in range(0, ranks, size)]
        if len(pieces) == radix:
            largest = max(len(piece) for piece in pieces[1:])
            for radices, sizes in cuts(size, peers):
                yield (radix, *radices), (largest, *sizes)


def fits(
    radices: tuple[int, ...],
    held: tuple[int, ...],
    bridged: tuple[bool, ...],
    widths: tuple[int, ...],
    limits: tuple[int, int],
) -> bool:
    """Whether each configuration, with the digit that stays on from the one before, keeps to the limits."""
    start = 0
    for number, length in enumerate(held):
        stays = number > 0 and bridged[number - 1]
        group = range(start - stays, start + length)
        circuits = [widths[digit] for digit in group for _ in range(radices[digit] - 1)]
        if sum(circuits) > limits[0] or len(circuits) > limits[1]:
            return False
        start += length
    return True


def least_s(
    kind: str,
    ranks: int,
    message: float,
    limits: tuple[int, int],
    alpha: float,
    rho: float,
    wavelength: float,
    *,
    overlap: bool = False,
) -> float:
    """Least time of one of many calls.

    Kinds: all_reduce (reduce-scatter and all-gather), exchange and exchange_alternating, reduce_scatter (fixed order).
    With overlap, the last digit of a configuration may stay on in the next, and send while the others turn.
    """
    best = inf
    for radices, sizes in cuts(ranks, limits[1]):
        for held in compositions(len(radices)) if radices else [()]:
            for bridged in product((False, True) if overlap else (False,), repeat=max(len(held) - 1, 0)):
                for widths in product(range(1, limits[0] + 1), repeat=len(radices)):
                    if fits(radices, held, bridged, widths, limits):
                        sent = [message if kind.startswith("exchange") else message * size / ranks for size in sizes]
                        rounds = [alpha + part / (width * wavelength) for part, width in zip(sent, widths, strict=True)]
                        best = min(best, time_s(kind, rounds, held, bridged, rho))
    return best


def time_s(kind: str, rounds: list[float], held: tuple[int, ...], bridged: tuple[bool, ...], rho: float) -> float:
    total, digit = 0.0, 0
    for number, length in enumerate(held):
        group = rounds[digit : digit + length]
        if number < len(bridged) and bridged[number]:
            group = [*group[:-1], max(group[-1], rho)]
        elif number < len(bridged):
            group = [*group, rho]
        total += sum(group)
        digit += length
    if kind == "all_reduce":
        return 2 * total
    return total + (rho if len(held) > 1 and kind != "exchange_alternating" else 0.0)


def folded_exchange_s(core: int, ranks: int, message: float, rounds_s: float, alpha: float, link: float) -> float:
    """An exchange over `core` ranks, the others folded in before and out after on all wavelengths; changes free."""
    assert core <= ranks <= 2 * core
    return rounds_s + (2 * (alpha + message / link) if ranks > core else 0.0)
