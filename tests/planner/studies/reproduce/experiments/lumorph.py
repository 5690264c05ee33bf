"""Shared by the tests of `all_reduce_algorithms`, `bucketed_training`, `collective_times` and `crossings`."""

from collections.abc import Callable
from functools import cache

from planner.studies.reproduce.experiments import bucketed_training
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.rows import PublishedRow
from planner.studies.reproduce.run import ExperimentOutcome, reproduce_file

ALPHA, SWITCH, RATE, LANES = 0.7e-6, 3.7e-6, 300e9, 16
RADICES = {
    32: {2: (2, 2, 2, 2, 2), 4: (4, 4, 2)},
    64: {2: (2,) * 6, 4: (4, 4, 4)},
    128: {2: (2,) * 7, 4: (4, 4, 4, 2)},
    256: {2: (2,) * 8, 4: (4, 4, 4, 4)},
}
HEIGHT = {32: 5, 64: 6, 128: 7, 256: 8}


@cache
def outcome(name: str) -> ExperimentOutcome:
    return reproduce_file(FOLDER / "lumorph" / f"{name}.yaml")


def ring(size: float, n: int) -> float:
    return sum(ALPHA + size / n / RATE for _ in range(2 * (n - 1)))


def unpipelined_tree(size: float, n: int) -> float:
    return sum(ALPHA + size / RATE for _ in range(2 * HEIGHT[n]))


def pipelined_tree(size: float, n: int) -> float:
    return min(2 * (HEIGHT[n] + k - 1) * (ALPHA + size / (k * RATE)) for k in range(1, 400))


def double_tree_limit(size: float, n: int) -> float:
    return 2 * HEIGHT[n] * ALPHA + 2 * size / RATE


def lumorph(radix: int, size: float, n: int) -> float:
    """Both ways through the rounds, each over r - 1 circuits of whole wavelengths."""
    time, kept = 0.0, size
    for each in RADICES[n][radix]:
        kept /= each
        time += 2 * (ALPHA + SWITCH + kept / (LANES // (each - 1) * RATE / LANES))
    return time


SCALARS: dict[str, Callable[[float, int], float]] = {
    "ring": ring,
    "unpipelined tree": unpipelined_tree,
    "pipelined tree": pipelined_tree,
    "double tree limit": double_tree_limit,
    "Lumorph-2": lambda size, n: lumorph(2, size, n),
    "Lumorph-4": lambda size, n: lumorph(4, size, n),
}


def halved(gap: Callable[[float], float], low: float, high: float) -> float:
    """The message where a gap changes its sign once, by halving."""
    is_positive = gap(low) > 0
    assert (gap(high) > 0) != is_positive
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if (gap(middle) > 0) == is_positive else (low, middle)
    return low


def contradicted(name: str) -> list[PublishedRow]:
    return [row for row in outcome(name).rows if row.verdict == "contradicted"]


# Bucketed training


def bert() -> bucketed_training.Inputs:
    inputs = outcome("bert").inputs
    assert isinstance(inputs, bucketed_training.Inputs)
    return inputs
