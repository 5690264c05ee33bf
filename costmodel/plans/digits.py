"""Rounds of a plan digit by digit: in which order, in which configuration, between which ranks."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costmodel.plans.plan import Plan

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Level:
    """One digit: windows of `length` ranks are cut into `radix` windows of `window` ranks, the last maybe shorter."""

    digit: int
    length: int
    window: int
    radix: int


def levels(plan: Plan) -> list[Level]:
    """Levels of a plan in windows, the widest first."""
    found, length = [], plan.ranks
    for digit, radix in enumerate(plan.radices):
        window = -(-length // radix)
        found.append(Level(digit, length, window, radix))
        length = window
    return found


def is_exact(plan: Plan) -> bool:
    """Whether the radices multiply to the ranks: ranks that differ in one digit then form complete graphs."""
    return all(level.window * level.radix == level.length for level in levels(plan))


def downward(plan: Plan) -> Iterator[tuple[int, int]]:
    """(digit, configuration) from the first digit on; a bridge sends while the next configuration is set up."""
    for number, group in enumerate(plan.groups()):
        for digit in group:
            yield digit, number + plan.is_bridge(digit)


def upward(plan: Plan) -> Iterator[tuple[int, int]]:
    """(digit, configuration) from the last digit on; a bridge sends while its own configuration is set up."""
    for number, group in reversed(list(enumerate(plan.groups()))):
        for digit in reversed(group):
            yield digit, number


def digit_of(ranks: Ints, level: Level) -> Ints:
    """The digit of each rank at a level, where radices are exact."""
    return ranks // level.window % level.radix


def peers(plan: Plan, level: Level, exact: bool) -> Iterator[tuple[Ints, Ints, int]]:
    """(senders, receivers, windows ahead) of each circuit of a digit: a complete graph, or shifts modulo the ranks."""
    everyone = np.arange(plan.ranks)
    for ahead in range(1, level.radix):
        if not exact:
            yield everyone, (everyone + ahead * level.window) % plan.ranks, ahead
            continue
        own = digit_of(everyone, level)
        yield everyone, everyone + ((own + ahead) % level.radix - own) * level.window, ahead
