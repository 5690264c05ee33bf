"""Shifts of the lines of a slice of cubes for all-to-alls, by a seeded search, with a bound by lengths of links.

Local search over patterns of shifts lowers the mean number of hops; weights of links then even out what links carry,
those that carry more than the mean getting less by each turn.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics.boxes import Sides
from costmodel.fabrics.line_shifts import LineShifts
from costmodel.fabrics.shifted import ShortestWays, joined_cubes, neighbours, shortest_ways, steps_in_cube
from costmodel.fabrics.twisted import LINKS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
STEP = 0.8
"""of the logarithm of a weight where a link carries twice the mean"""
LEAST_WEIGHT = 1e-6
"""where the greatest is 1"""
DIGITS = 4
"""of weights"""
SCALES = np.linspace(0.0, 2.0, 21)
"""of lengths of links that are tried for a bound"""


@dataclass(frozen=True)
class ShiftSearch:
    """How long to search."""

    seed: int = 0
    starts: int = 20
    """random patterns from which a local search begins"""
    kept: int = 3
    """best patterns whose links get weights"""
    turns: int = 200
    """of evening out"""
    whole: bool = False
    """whether each place of a face has shifts of its own, more than where they repeat over it"""


@dataclass(frozen=True)
class FoundShifts:
    """The wiring whose busiest link carries least, bytes of one byte that each chip divides among all."""

    shifts: LineShifts
    on_link: float
    bound: float
    """what crosses the busiest link at least over this wiring, by any routing"""


def search_line_shifts(
    sides: Sides,
    cubes: Sides,
    search: ShiftSearch,
    tell: Callable[[int, int], None] = lambda done, of: None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> FoundShifts:
    """Shifts that repeat over a face by the least factors of its sides, or not at all; the same for the same seed.

    `tell` hears how many starts have ended, and of how many; once `is_stopped`, what is found by then is given.
    """
    patterns, rng = _Patterns(sides, cubes, whole=search.whole), np.random.default_rng(search.seed)
    found: dict[bytes, tuple[float, Ints]] = {}
    done = 0
    while done < search.starts and not (found and is_stopped()):
        pattern, hops = patterns.descended(rng, is_stopped)
        found[pattern.tobytes()] = hops, pattern
        done += 1
        tell(done, search.starts)
    best = sorted(found.values(), key=lambda each: each[0])[: 1 if is_stopped() else search.kept]
    source = f"planner wiring shifts, seed {search.seed}, {done} starts{', whole faces' * search.whole}"
    evened = (_evened(patterns, pattern, search.turns, source, is_stopped) for _, pattern in best)
    return min(evened, key=lambda each: each.on_link)


def _evened(
    patterns: "_Patterns", pattern: Ints, turns: int, source: str, is_stopped: Callable[[], bool]
) -> FoundShifts:
    """The best weights of the links of a pattern on the way."""
    ways = patterns.ways(pattern)
    weights = np.ones((prod(patterns.sides), LINKS))
    least, best = np.inf, weights
    for _ in range(turns):
        if is_stopped():
            break
        loads = ways.loads(weights)
        if loads.max() < least:
            least, best = float(loads.max()), weights
        weights = weights * np.exp(STEP * (1 - loads / loads.mean()))
        weights = np.maximum(weights / weights.max(), LEAST_WEIGHT)
    shifts = patterns.shifts(pattern, best, source)
    on_link = float(shortest_ways(neighbours(shifts), len(weights)).loads(np.array(shifts.weights)).max())
    return FoundShifts(shifts, on_link, flow_bound(ways, best))


class _Patterns:
    """Patterns of shifts as numbers of cubes, one for each axis and place of the pattern."""

    def __init__(self, sides: Sides, cubes: Sides, *, whole: bool) -> None:
        self.sides, self.cubes = sides, cubes
        self.after, self.leaves = steps_in_cube(sides)
        least = [next(number for number in range(2, side + 1) if side % number == 0) for side in sides]
        self.periods = [*sides] if whole else least
        self.shapes = [[self.periods[i] for i in range(3) if i != axis] for axis in range(3)]
        self.first = [0, *np.cumsum([prod(shape) for shape in self.shapes]).tolist()]
        chips = np.indices(sides).reshape(3, -1) % np.array(self.periods)[:, None]
        self.place = np.empty_like(self.after)
        """in a pattern, of each chip and direction"""
        for axis in range(3):
            across = [chips[i] for i in range(3) if i != axis]
            place = self.first[axis] + np.ravel_multi_index(tuple(across), self.shapes[axis])
            self.place[:, 2 * axis : 2 * axis + 2] = place[:, None]
        self.offset = np.indices(cubes).reshape(3, -1).T

    def ways(self, pattern: Ints) -> ShortestWays:
        """Over a slice that is wired so."""
        offsets = self.offset[pattern][self.place] * self.leaves[:, :, None]
        return shortest_ways(joined_cubes(self.after, offsets, self.cubes), len(self.after))

    def descended(self, rng: np.random.Generator, is_stopped: Callable[[], bool]) -> tuple[Ints, float]:
        """A random pattern after changes of one place each that lower the mean of hops, and that mean."""
        pattern = rng.integers(len(self.offset), size=self.first[-1])
        hops, stale = self.ways(pattern).mean_hops, 0
        while stale < 4 * len(pattern) and not is_stopped():
            other = pattern.copy()
            other[rng.integers(len(pattern))] = rng.integers(len(self.offset))
            then = self.ways(other).mean_hops
            stale = 0 if then < hops else stale + 1
            if then <= hops:
                pattern, hops = other, then
        return pattern, hops

    def shifts(self, pattern: Ints, weights: Floats, source: str) -> LineShifts:
        """As files have them."""
        of_axis = [
            self.offset[pattern[first : first + prod(shape)]].reshape(*shape, 3).tolist()
            for first, shape in zip(self.first[:-1], self.shapes, strict=True)
        ]
        numbers = [[float(f"{weight:.{DIGITS}g}") for weight in row] for row in weights.tolist()]
        name = "-".join("x".join(map(str, each)) for each in (self.cubes, self.sides))
        return LineShifts.model_validate(
            {"name": f"line-shifts-{name}", "source": source, "sides": self.sides, "cubes": self.cubes}
            | dict(zip("xyz", of_axis, strict=True))
            | {"weights": numbers}
        )


def flow_bound(ways: ShortestWays, weights: Floats) -> float:
    """Bytes over the busiest link at least, whatever the routing, where each chip divides one byte among all.

    For any lengths of links, bytes x length of the shortest way, summed over pairs, is at most what the busiest link
    carries x the sum of all lengths. Lengths here grow with the logarithm of 1 / weight.
    """
    dearer = np.log(weights.max() / weights)
    dearer = dearer / dearer.mean() if dearer.any() else dearer
    return max(_bound_by(ways, 1 + scale * dearer) for scale in SCALES)


def _bound_by(ways: ShortestWays, lengths: Floats) -> float:
    """The bound of some lengths, (S, 6)."""
    per_cube, chips = ways.hops.shape
    out = np.tile(lengths, (chips // per_cube, 1))
    into = out[ways.after, np.arange(LINKS) ^ 1]
    far = np.where(ways.hops.T == 0, 0.0, np.inf)
    while True:
        nearer = far
        for direction in range(LINKS):
            nearer = np.minimum(nearer, far[ways.after[:, direction]] + into[:, direction, None])
        if (nearer == far).all():
            return float(far.sum() / chips / lengths.sum())
        far = nearer
