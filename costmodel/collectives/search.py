"""Least time of one message where circuits that stay may send while others turn: a dynamic programme.

With such bridges time is no line in the message size, so that fronts do not hold the best plan. State: what is left of
the ladder, and the wavelengths and peers that the present configuration still has free. From there a digit is added,
the configuration is closed and a fresh one begins, or a digit bridges two configurations. Every choice of radices x
held groups x whole wavelengths is tried, so the result is exact. All free wavelengths and peers of a state are
done at once.
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costmodel.collectives.ladder import Ladder
from costmodel.collectives.limits import Limits

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Digit(NamedTuple):
    """A digit of the best plan; after it the configuration goes on, ends, or ends with this digit as a bridge."""

    radix: int
    width: int
    after: str
    """on, close, bridge"""


@dataclass(frozen=True)
class _Choices:
    """Every (radix, width) of one state, and where it leads."""

    radix: Ints
    width: Ints
    following: Ints
    cost_s: Floats
    bridge_s: Floats
    turn_s: float
    """a change, in all passes of one call"""


@dataclass
class _Table:
    """Least time from each state with some wavelengths and peers free, and the choice that attains it.

    Axes: layer (before and after the first change), state, free wavelengths, free peers; the last index of the
    free ones stands for too few.
    """

    value: Floats
    choice: Ints
    fresh: Floats
    """(layer, state): least time with a fresh configuration"""


def search(ladder: Ladder, limits: Limits, message_bytes: float) -> tuple[float, list[Digit]] | None:
    """Least time of one call and its digits; None where no radices fit the peers."""
    states = states_of(ladder, limits.most_peers)
    if ladder.end not in states:
        return None
    number = {state: index for index, state in enumerate(states)}
    table = _empty_table(len(states), limits, 2 if ladder.returns else 1)
    table.value[:, number[ladder.end], :-1, :-1] = 0.0
    table.fresh[:, number[ladder.end]] = 0.0
    every: dict[int, _Choices] = {}
    for index in range(len(states) - 2, -1, -1):
        every[index] = _choices(ladder, states[index], number, limits, message_bytes)
        _fill(table, index, every[index], limits)
    total_s = float(table.fresh[0, 0])
    return (total_s, _digits(table, every, limits)) if np.isfinite(total_s) else None


def states_of(ladder: Ladder, peers: int) -> list[int]:
    """States that steps reach, each before those it leads to."""
    found, waiting = {ladder.start}, [ladder.start]
    while waiting:
        state = waiting.pop()
        for radix in range(2, peers + 2) if state != ladder.end else ():
            step = ladder.step(state, radix)
            if step and step[0] not in found:
                found.add(step[0])
                waiting.append(step[0])
    return sorted(found, reverse=ladder.start > ladder.end)


def _counts_peers(limits: Limits) -> bool:
    """Whether peers can run out before wavelengths."""
    return limits.max_peers < limits.wavelengths


def _empty_table(num_states: int, limits: Limits, layers: int) -> _Table:
    free_peers = limits.max_peers if _counts_peers(limits) else 0
    shape = (layers, num_states, limits.wavelengths + 2, free_peers + 2)
    return _Table(np.full(shape, np.inf), np.full(shape, -1), np.full(shape[:2], np.inf))


@cache
def _pairs(limits: Limits) -> tuple[Ints, Ints]:
    """Radix and width of every circuit count that a tile can hold."""
    pairs = [(k + 1, width) for k in range(1, limits.most_peers + 1) for width in range(1, limits.wavelengths // k + 1)]
    radix, width = np.array(pairs, dtype=np.int64).T
    return radix, width


def _choices(ladder: Ladder, state: int, number: dict[int, int], limits: Limits, message_bytes: float) -> _Choices:
    radix, width = _pairs(limits)
    steps = {r: step for r in range(2, limits.most_peers + 2) if (step := ladder.step(state, r)) and step[0] in number}
    passes = len(next(iter(steps.values()))[1]) if steps else 1
    following = np.full(limits.most_peers + 2, -1)
    shares = np.zeros((limits.most_peers + 2, passes))
    for step_radix, (state_after, share) in steps.items():
        following[step_radix], shares[step_radix] = number[state_after], share
    possible = following[radix] >= 0
    radix, width = radix[possible], width[possible]
    rounds_s = limits.alpha_s + shares[radix] * message_bytes / (width * limits.wavelength_bytes_per_s)[:, None]
    bridged_s = np.maximum(rounds_s, limits.reconfiguration_s)
    turn_s = ladder.weight * passes * limits.reconfiguration_s
    cost_s, bridge_s = (ladder.weight * each.sum(axis=1) for each in (rounds_s, bridged_s))
    return _Choices(radix, width, following[radix], cost_s, bridge_s, turn_s)


def _fill(table: _Table, index: int, choices: _Choices, limits: Limits) -> None:
    """Values of one state. `choice` holds c to add choice c, c + Q to bridge with it, -2 to close."""
    if not len(choices.radix):
        return
    layers, _, num_wavelengths, num_peers = table.value.shape
    peers = choices.radix - 1 if _counts_peers(limits) else np.zeros_like(choices.radix)
    left_w = np.arange(num_wavelengths - 1) - ((choices.radix - 1) * choices.width)[:, None]
    left_p = np.arange(num_peers - 1) - peers[:, None]
    left_w, left_p = np.maximum(left_w, -1)[:, :, None], np.maximum(left_p, -1)[:, None, :]
    fits = (left_w >= 0) & (left_p >= 0)
    for layer in reversed(range(layers)):
        options = choices.cost_s[:, None, None] + table.value[layer, choices.following[:, None, None], left_w, left_p]
        first_s = limits.reconfiguration_s if layers == 2 and layer == 0 else 0.0
        after = table.value[-1, choices.following, left_w[:, -1, 0], left_p[:, 0, -1]]
        bridge = (choices.bridge_s + first_s + after)[:, None, None]
        options = np.concatenate([options, np.where(fits, bridge, np.inf)])
        best = options.argmin(axis=0)
        least = np.take_along_axis(options, best[None], axis=0)[0]
        table.fresh[layer, index] = least[-1, -1]
        closed_s = choices.turn_s + first_s + table.fresh[-1, index]
        closes = closed_s < least
        closes[-1, -1] = False
        table.value[layer, index, :-1, :-1] = np.where(closes, closed_s, least)
        table.choice[layer, index, :-1, :-1] = np.where(closes, -2, best)


def _digits(table: _Table, every: dict[int, _Choices], limits: Limits) -> list[Digit]:
    """Walk from the start along the choices."""
    layers, num_states, _, num_peers = table.value.shape
    full = limits.wavelengths, num_peers - 2
    layer, index, (free_w, free_p) = 0, 0, full
    digits: list[Digit] = []
    while index != num_states - 1:
        chosen = int(table.choice[layer, index, free_w, free_p])
        if chosen == -2:
            digits[-1] = digits[-1]._replace(after="close")
            layer, (free_w, free_p) = layers - 1, full
            continue
        choices = every[index]
        bridges, which = divmod(chosen, len(choices.radix))
        radix, width = int(choices.radix[which]), int(choices.width[which])
        digits.append(Digit(radix, width, "bridge" if bridges else "on"))
        if bridges:
            layer, (free_w, free_p) = layers - 1, full
        free_w -= (radix - 1) * width
        free_p -= radix - 1 if _counts_peers(limits) else 0
        index = int(choices.following[which])
    return digits
