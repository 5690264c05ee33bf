"""How a group of ranks shrinks round by round: the states and steps of each algorithm.

A step of radix r gives every rank r - 1 peers. Windows shrink as nested ceilings: from a window of L
consecutive ranks the step goes to windows of ceil(L / r), so any number of ranks is reached in as few rounds
as the next product of radices, with nothing padded on the wire. Source: dissemination with r - 1 ports of
Bruck, Ho, Kipnis, Upfal and Weathersby, IEEE Trans. Parallel Distrib. Syst. 8 (1997); reduction over any
number of ranks after Bar-Noy, Kipnis and Schieber, Parallel Process. Lett. 3 (1993).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

Collective: TypeAlias = Literal["all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all"]
Algorithm: TypeAlias = Literal[
    "ring", "radix", "exchange", "tree", "fixed_tree", "scatter", "direct", "bruck", "circulant", "circulant_relay"
]
Order: TypeAlias = Literal["fixed", "alternating"]
Step: TypeAlias = tuple[int, tuple[float, ...]]
"""next state, and the share of the message on each circuit of the step in each pass"""


@dataclass(frozen=True)
class Ladder:
    """States from `start` down to `end`, and where a step of some radix leads; None where it is not worth it."""

    start: int
    end: int
    step: Callable[[int, int], Step | None]
    weight: float
    """passes of one call / passes counted: 1, or 1/2 where two successive calls are averaged"""
    returns: bool
    """whether a call ends in another configuration than it began with"""
    repeats: Callable[[int, int], bool] = lambda state, radix: False
    """whether a step shares a circuit with the step after it, where that one is the last"""


@cache
def ladder(algorithm: Algorithm, collective: Collective, ranks: int, order: Order, padded: bool = True) -> Ladder:
    """States and steps of an algorithm over `ranks`; ring and fixed tree have none."""
    returns = order == "fixed"
    if algorithm in ("direct", "bruck"):
        step = _direct_step(ranks) if algorithm == "direct" else _relay_step(ranks)
        first, last = (ranks - 1, 0) if algorithm == "direct" else (1, ranks)
        return Ladder(first, last, step, 1.0, returns)
    if algorithm == "exchange":
        return Ladder(ranks, 1, _whole_step(padded), 1.0, returns, _repeats_circuit)
    if algorithm == "tree":
        return Ladder(ranks, 1, _whole_step(padded), 1.0, returns)
    if algorithm == "scatter" or collective == "all_reduce":
        return Ladder(ranks, 1, _window_step(ranks, 2, padded), 1.0, False)
    if order == "fixed":
        return Ladder(ranks, 1, _window_step(ranks, 1, padded), 1.0, True)
    return Ladder(ranks, 1, _both_ways_step(ranks), 0.5, False)


def window_after(length: int, radix: int, padded: bool = True) -> int | None:
    """Windows that `radix` ranks cut a window of `length` into; None where fewer ranks do, or it must divide."""
    window = -(-length // radix)
    if radix > length or (radix > 2 and -(-length // (radix - 1)) == window):
        return None
    return window if padded or window * radix == length else None


def _window_step(ranks: int, passes: int, padded: bool) -> Callable[[int, int], Step | None]:
    """Reduce-scatter: each peer gets a window of what is left; the all-gather mirrors it."""

    def step(length: int, radix: int) -> Step | None:
        window = window_after(length, radix, padded)
        if window is None:
            return None
        return window, (min(window, length - window) / ranks,) * passes

    return step


def _both_ways_step(ranks: int) -> Callable[[int, int], Step | None]:
    """Reduce-scatter in this order in one call and backwards in the next; radices must divide."""

    def step(length: int, radix: int) -> Step | None:
        window = window_after(length, radix, padded=False)
        return None if window is None else (window, (window / ranks, 1 / length))

    return step


def _whole_step(padded: bool) -> Callable[[int, int], Step | None]:
    """Every peer gets a whole message."""

    def step(length: int, radix: int) -> Step | None:
        window = window_after(length, radix, padded)
        return None if window is None else (window, (1.0,))

    return step


def _repeats_circuit(length: int, radix: int) -> bool:
    """Whether an exchange has a peer window - 1 ahead, as the step from that window to single ranks has too."""
    window = -(-length // radix)
    return window > 1 and length - radix * (window - 1) == 1


def _direct_step(ranks: int) -> Callable[[int, int], Step | None]:
    """All-to-all straight to r - 1 of the destinations that are left."""

    def step(left: int, radix: int) -> Step | None:
        return None if radix - 1 > left else (left - radix + 1, (1 / ranks,))

    return step


def _relay_step(ranks: int) -> Callable[[int, int], Step | None]:
    """All-to-all, one digit of the distance at a time: state is the stride of the digit, or `ranks` at the end."""

    def step(stride: int, radix: int) -> Step | None:
        most = -(-ranks // stride)
        if radix > most:
            return None
        if radix == most:
            return ranks, (min(stride, ranks - stride) / ranks,)
        period = stride * radix
        rest = min(max(ranks % period - stride, 0), stride)
        return period, ((ranks // period * stride + rest) / ranks,)

    return step
