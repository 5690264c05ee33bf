"""Collectives of slices, simulated over the links between neighbours and the circuits of the plan."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from costmodel.fabrics import Sipac, Torus
from costmodel.parallelism.configuration import Collective
from costmodel.parallelism.mappings import Dimension
from planner.checks.names import Tile, tile_of
from planner.checks.schedule import Round
from planner.checks.sends import Send
from planner.fabrics.slices.rule_boards import light_along
from planner.fabrics.slices.rule_boxes import Box, Placed, Point, chip_of, neighbour
from planner.fabrics.slices.rule_shifted import over_weighted_ways
from planner.model.plan import Assignment

Lines = Mapping[int, Sequence[Sequence[Tile]]]
"""by axis: devices in a row along it, in order"""
Time = tuple[float, float]
"""fixed seconds, and seconds per byte of the message"""


class Links:
    """Rate of the links from one device to another."""

    def __init__(self, fabric: Torus | Sipac, assignment: Assignment) -> None:
        self.fabric = fabric
        ends = [
            (tile_of(fabric, c.source), tile_of(fabric, c.destination)) for h in assignment.circuits for c in h.circuits
        ]
        self._circuits = Counter(pair for a, b in ends for pair in ((a, b), (b, a)))
        self._light = [max(widths, default=0) for widths in light_along(assignment.configuration)]

    @property
    def one_bytes_per_s(self) -> float:
        """Of a single link with a chip's bandwidth divided evenly."""
        fabric = self.fabric
        if isinstance(fabric, Sipac):
            return fabric.bandwidth_bytes_per_s / (fabric.digits * (fabric.radix - 1))
        return fabric.link_bandwidth_bytes_per_s

    def along(self, axis: int) -> float:
        """Of a single link along an axis, of as many wavelengths as it has there."""
        if isinstance(self.fabric, Sipac) or self.fabric.boards is None or not self._light[axis]:
            return self.one_bytes_per_s
        return self.one_bytes_per_s * self._light[axis] / self.fabric.boards.wavelengths_per_link

    def rate(self, source: Tile, destination: Tile) -> float:
        """Bytes per second of all links from one device to another, 0 for none."""
        fabric = self.fabric
        here, there = chip_of(fabric, source[1]), chip_of(fabric, destination[1])
        differing = [axis for axis, (a, b) in enumerate(zip(here, there, strict=True)) if a != b]
        if isinstance(fabric, Sipac):
            return (source[0] == destination[0] and len(differing) == 1) * self.one_bytes_per_s
        count = self._circuits[source, destination]
        if source[0] == destination[0] and len(differing) == 1:
            axis = differing[0]
            apart, side = abs(here[axis] - there[axis]), fabric.sides[axis]
            count += (apart == 1) + (fabric.switches is None and apart == side - 1)
            return count * self.along(axis)
        return count * self.one_bytes_per_s


def lines_of(box: Box, placed: Placed, axes: Point) -> Lines:
    """Devices in a row along some axes, of each value of the other coordinates."""
    lines: dict[int, list[list[Tile]]] = {}
    for axis in axes:
        starts = [place for place in placed if place[axis] == 0]
        along = [[(*p[:axis], i, *p[axis + 1 :]) for i in range(box.extents[axis])] for p in starts]
        lines[axis] = [[placed[place] for place in row] for row in along]
    return lines


def message_time(links: Links, collective: Collective, dimension: Dimension, box: Box, placed: Placed) -> Time | None:
    """Time of one message of each group along a dimension at once; None where a link is missing."""
    axes = box.axes[dimension]
    if collective.kind == "none":
        return 0.0, 0.0
    if collective.kind == "chain":
        return _chain(links, box, placed, axes)
    if collective.kind == "twisted":
        return _over_shortest_ways(links, box, placed)
    if collective.kind in ("shifted", "shifted_direct"):
        return _over_weighted_ways(links, box, placed, 1 if collective.kind == "shifted" else 2)
    lines = lines_of(box, placed, axes)
    if collective.kind == "routed":
        return _routed(links, lines)
    phases = {axis: _slowest(links, lines[axis]) for axis in axes}
    if any(phase is None for phase in phases.values()):
        return None
    orders = [axes[k:] + axes[:k] for k in range(len(axes))] if collective.kind == "rotated" else [axes]
    if collective.kind == "twisted_bucket":
        orders = [tuple(sorted(axes, key=lambda axis: -box.extents[axis]))]
    fixed_s, byte_s, left = 0.0, 0.0, [1 / len(orders)] * len(orders)
    for phase in zip(*orders, strict=True):
        times = [time for axis in phase if (time := phases[axis]) is not None]
        fixed_s += max(fixed for fixed, _ in times)
        byte_s += max(share * each for share, (_, each) in zip(left, times, strict=True))
        left = [share / box.extents[axis] for share, axis in zip(left, phase, strict=True)]
    return 2 * fixed_s, 2 * byte_s


def _slowest(links: Links, lines: Sequence[Sequence[Tile]]) -> Time | None:
    """A reduce-scatter along one axis, on its slowest row."""
    times = [_reduce_scatter(links, line) for line in lines]
    found = [time for time in times if time is not None]
    return (max(t for t, _ in found), max(t for _, t in found)) if len(found) == len(times) else None


def _reduce_scatter(links: Links, line: Sequence[Tile]) -> Time | None:
    joins_all, closed = isinstance(links.fabric, Sipac), _is_closed(links, line)
    steps, rounds = _loads(len(line), joins_all=joins_all, closed=closed)
    rates = tuple(links.rate(line[a], line[b]) for a, b in steps)
    if not all(rates):
        return None
    return len(rounds) * links.fabric.alpha_s, _byte_s(len(line), rates, joins_all=joins_all, closed=closed)


@lru_cache(maxsize=256)
def _loads(ranks: int, *, joins_all: bool, closed: bool) -> tuple[list[tuple[int, int]], list[Counter[int]]]:
    """Steps between ranks, and chunks over each of them, by its number, in each round of a reduce-scatter."""
    numbers: dict[tuple[int, int], int] = {}
    rounds = []
    for each in rounds_of(ranks, joins_all=joins_all, closed=closed):
        load: Counter[int] = Counter()
        for a, b, chunks in each.sends:
            load[numbers.setdefault((a, b), len(numbers))] += len(chunks)
        rounds.append(load)
    return list(numbers), rounds


@lru_cache(maxsize=4096)
def _byte_s(ranks: int, rates: tuple[float, ...], *, joins_all: bool, closed: bool) -> float:
    """Seconds per byte of the message over links of these rates, by the number of the step; rows are much alike."""
    rounds = _loads(ranks, joins_all=joins_all, closed=closed)[1]
    return sum(max(count / (2 * ranks) / rates[step] for step, count in load.items()) for load in rounds)


def _is_closed(links: Links, line: Sequence[Tile]) -> bool:
    """True if the last device of a row has a link to the first beside those between neighbours."""
    spare = links.rate(line[-1], line[0])
    return spare > links.rate(line[0], line[1]) / 2 if len(line) == 2 else spare > 0


@lru_cache(maxsize=256)
def rounds_of(ranks: int, *, joins_all: bool, closed: bool) -> tuple[Round, ...]:
    """A reduce-scatter of 2 n chunks in a row of n: rank i ends with chunks 2 i and 2 i + 1.

    All joined: each sends what a peer will own straight to it. A ring: even chunks go up and odd ones down. A line:
    partial sums go up to the owner from below and down to it from above, those of the farthest owner first.
    """
    if joins_all:
        pairs = [(a, b) for a in range(ranks) for b in range(ranks) if a != b]
        return (Round(0, tuple((a, b, (2 * b, 2 * b + 1)) for a, b in pairs), adds=True),)
    rounds = []
    for step in range(ranks - 1):
        sends: list[Send] = []
        for i in range(ranks):
            if closed:
                sends.append((i, (i + 1) % ranks, (2 * ((i - step - 1) % ranks),)))
                sends.append((i, (i - 1) % ranks, (2 * ((i + step + 1) % ranks) + 1,)))
                continue
            up, down = ranks - 1 - step + i, step - (ranks - 1 - i)
            if i < up < ranks:
                sends.append((i, i + 1, (2 * up, 2 * up + 1)))
            if 0 <= down < i:
                sends.append((i, i - 1, (2 * down, 2 * down + 1)))
        rounds.append(Round(0, tuple(sends), adds=True))
    return tuple(rounds)


def _chain(links: Links, box: Box, placed: Placed, axes: Point) -> Time | None:
    """From each stage to the next, over one link: stages lie in a snake along the axes."""
    slowest = min(links.rate(a, b) for group in _snakes(box, placed, axes) for a, b in pairwise(group))
    if isinstance(links.fabric, Torus):
        slowest = min(slowest, *map(links.along, axes))
    return (links.fabric.alpha_s, 1 / slowest) if slowest > 0 else None


def _snakes(box: Box, placed: Placed, axes: Point) -> Iterator[list[Tile]]:
    """Devices of each pipeline by stage: rows along the first axis, every other one backwards, and so on."""
    for start in (place for place in placed if all(place[axis] == 0 for axis in axes)):
        snake = [start]
        for axis in axes:
            runs = [snake if i % 2 == 0 else snake[::-1] for i in range(box.extents[axis])]
            snake = [(*p[:axis], i, *p[axis + 1 :]) for i, run in enumerate(runs) for p in run]
        yield [placed[place] for place in snake]


def _routed(links: Links, lines: Lines) -> Time | None:
    """Equal shares to every rank, one axis after the other by the shorter way: along each axis all ranks of a row send
    each other as much, whatever the axes before brought together."""
    hops, byte_s = 0, 0.0
    for rows in lines.values():
        farthest = 0
        for line in rows:
            load: Counter[tuple[int, int]] = Counter()
            for a in range(len(line)):
                for b in range(len(line)):
                    ways = ways_between(links, line, a, b)
                    farthest = max(farthest, *(len(way) for way in ways))
                    for way in ways:
                        load.update({step: 1 / len(ways) / len(line) for step in way})
            rates = {(a, b): links.rate(line[a], line[b]) for a, b in load}
            if not all(rates.values()):
                return None
            byte_s = max(byte_s, *(share / rates[step] for step, share in load.items()))
        hops += farthest
    return hops * links.fabric.alpha_s, byte_s


def _over_shortest_ways(links: Links, box: Box, placed: Placed) -> Time | None:
    """Equal shares to every rank, each divided evenly among its shortest ways. Where all links are there the box looks
    the same from each place, so that what leaves one in a direction is what a link in that direction carries."""
    after = {(place, axis): neighbour(place, axis, box) for place in placed for axis in range(3)}
    if any(links.rate(placed[place], placed[there]) <= 0 for (place, _), there in after.items()):
        return None
    before = {(there, axis): place for (place, axis), there in after.items()}
    origin: Point = (0, 0, 0)
    farthest, total, reached = 0, [0.0] * 6, {origin}
    ways: dict[Point, float] = {origin: 1.0}
    steps: dict[Point, list[float]] = {origin: total}
    while ways:
        found: dict[Point, float] = defaultdict(float)
        met: dict[Point, list[float]] = {}
        for place, number in ways.items():
            for direction in range(6):
                there = (after, before)[direction % 2][place, direction // 2]
                if there not in reached:
                    found[there] += number
                    sums = met.setdefault(there, [0.0] * 6)
                    for i, each in enumerate(steps[place]):
                        sums[i] += number * (each + (i == direction))
        steps = {place: [each / found[place] for each in sums] for place, sums in met.items()}
        total = [sum(each) for each in zip(total, *steps.values(), strict=True)]
        ways, reached, farthest = found, reached.union(found), farthest + bool(found)
    return farthest * links.fabric.alpha_s, max(total) / len(placed) / links.one_bytes_per_s


def _over_weighted_ways(links: Links, box: Box, placed: Placed, all_to_alls: int) -> Time | None:
    """So many all-to-alls one after the other, each divided by the weights of links."""
    found = over_weighted_ways(lambda a, b: links.rate(a, b) / links.one_bytes_per_s, box, placed)
    if found is None:
        return None
    hops, on_link = found
    return all_to_alls * hops * links.fabric.alpha_s, all_to_alls * on_link / links.one_bytes_per_s


def ways_between(links: Links, line: Sequence[Tile], a: int, b: int) -> list[list[tuple[int, int]]]:
    """Shortest ways in a row, as steps between ranks."""
    n = len(line)
    if isinstance(links.fabric, Sipac):
        return [[(a, b)] if a != b else []]
    ways = [[(i, i + (1 if b > a else -1)) for i in range(a, b, 1 if b > a else -1)]]
    if a != b and _is_closed(links, line):
        step = -1 if b > a else 1
        ways.append([((a + step * i) % n, (a + step * (i + 1)) % n) for i in range(n - len(ways[0]))])
    shortest = min(map(len, ways))
    return [way for way in ways if len(way) == shortest]
