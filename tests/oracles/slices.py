"""Slices by definition, as sets of accelerators, and a loss system that keeps every event."""

from collections.abc import Callable, Sequence
from itertools import product

Devices = frozenset[int]


def boxes_of(sides: tuple[int, int, int], size: int, *, wrap: bool = True) -> set[Devices]:
    """All boxes of the least volume >= size that the torus (or the grid) holds."""
    x, y, z = sides
    found: dict[int, set[Devices]] = {}
    for a, b, c in product(range(1, x + 1), range(1, y + 1), range(1, z + 1)):
        for i, j, k in product(range(x), range(y), range(z)):
            if not wrap and (i + a > x or j + b > y or k + c > z):
                continue
            inside = product(range(i, i + a), range(j, j + b), range(k, k + c))
            numbers = frozenset(((p % x) * y + q % y) * z + r % z for p, q, r in inside)
            found.setdefault(a * b * c, set()).add(numbers)
    return (
        found[min((volume for volume in found if volume >= size), default=max(found))] if size <= x * y * z else set()
    )


def subcubes_of(radix: int, digits: int, size: int) -> set[Devices]:
    """All sets of the least power of the radix >= size in which each digit is fixed or takes all values."""
    volume = 1
    while volume < size:
        volume *= radix
    found: set[Devices] = set()
    for pattern in product([None, *range(radix)], repeat=digits):
        choices = [range(radix) if value is None else (value,) for value in pattern]
        numbers = frozenset(sum(v * radix**d for d, v in enumerate(values)) for values in product(*choices))
        if len(numbers) == volume:
            found.add(numbers)
    return found


def states(sizes: Sequence[int], capacity: int) -> list[tuple[int, ...]]:
    """All numbers of running jobs of each size that fit together."""
    ranges = [range(capacity // size + 1) for size in sizes]
    return [n for n in product(*ranges) if sum(k * s for k, s in zip(n, sizes, strict=True)) <= capacity]


def shares_of_jobs(
    jobs: Sequence[tuple[float, int, float]], fits: Callable[[list[int], int], bool], capacity: int, begin: float
) -> tuple[float, float, float]:
    """Shares of jobs, of accelerators asked for and of busy accelerators from `begin` until the last arrival.

    `jobs` are (arrival, size, holding); `fits` says of the sizes that run whether one more may join.
    """
    end = jobs[-1][0]
    running: list[tuple[float, int]] = []
    admitted = []
    area = 0.0
    for arrival, size, holding in jobs:
        running = [(leaves, s) for leaves, s in running if leaves > arrival]
        if fits([s for _, s in running], size):
            running.append((arrival + holding, size))
            admitted.append((arrival, size))
            area += size * max(0.0, min(arrival + holding, end) - max(arrival, begin))
    counted = [size for arrival, size, _ in jobs if arrival >= begin]
    inside = [size for arrival, size in admitted if arrival >= begin]
    return len(inside) / len(counted), sum(inside) / sum(counted), area / capacity / (end - begin)
