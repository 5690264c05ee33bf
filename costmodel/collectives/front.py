"""The best digits of an algorithm for every number of rounds and of configurations, found at once.

Without bridges the time of a plan is a line in the message size. Its latency depends on the numbers of digits and of
configurations alone, so for each pair of these one plan is enough: the one with the least seconds per byte. Digits
of one configuration are a run. With parts of wavelengths the least sum of share / wavelengths of a run would be
(sum sqrt(share x peers))^2 / wavelengths; with whole ones it is no less, so runs are tried in that order. Of equals the
one with the larger first radix is kept: where radices multiply to the ranks, most circuits then join neighbours.
"""

from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costmodel.collectives.ladder import Ladder
from costmodel.collectives.limits import Limits
from costmodel.collectives.search import states_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SAME = 1e-12
"""relative difference of equal costs"""
NONE = 0
"""row of the run without digits"""


class Digits(NamedTuple):
    """Radices, number of digits in each configuration, and wavelengths of each circuit by digit."""

    radices: tuple[int, ...]
    held: tuple[int, ...]
    wavelengths: tuple[int, ...]


NO_DIGITS = Digits((), (0,), ())
"""of a single rank: one configuration without circuits"""


class _Runs(NamedTuple):
    """Runs of digits from one state on, one row each; NONE has no digits, any other row a first digit and a rest."""

    radix: Ints
    rest: Ints
    """row of the digits after the first, among the runs of the state that it leads to"""
    length: Ints
    end: Ints
    """state after the last digit"""
    peers: Ints
    root: Floats
    """sum of sqrt(share x peers)"""


class _Way(NamedTuple):
    """From a state to the end: sum of share / wavelengths, first configuration, and what follows."""

    cost: float
    run: int
    state: int
    """after the first configuration"""
    rest: tuple[int, int]
    """numbers of digits and of configurations from there on"""


class _RunsWithin:
    """Runs of a ladder with up to so many wavelengths and peers, and what they cost."""

    def __init__(self, ladder: Ladder, wavelengths: int, most_peers: int) -> None:
        self.wavelengths = wavelengths
        self.steps: dict[tuple[int, int], tuple[int, float]] = {}
        """(state, radix) -> next state, and share summed over the passes"""
        self.runs = self._runs(ladder, most_peers)
        self._widths: dict[tuple[int, int], Floats] = {}
        """(state, run) -> least cost with up to 0, 1, ... wavelengths"""

    def _runs(self, ladder: Ladder, most: int) -> dict[int, _Runs]:
        """Runs from every state, states near the end first."""
        found: dict[int, _Runs] = {}
        for state in reversed(states_of(ladder, most)):
            none = np.zeros(1, dtype=np.int64)
            columns = [(none, none, none, none + state, none, np.zeros(1))]
            for radix in range(most + 1, 1, -1) if state != ladder.end else ():
                step = ladder.step(state, radix)
                if step is None or step[0] not in found:
                    continue
                share = ladder.weight * sum(step[1])
                self.steps[state, radix] = step[0], share
                rest, peers = found[step[0]], radix - 1
                rows = np.flatnonzero(rest.peers <= most - peers)
                if ladder.repeats(state, radix):
                    rows = rows[(rest.length[rows] != 1) | (rest.end[rows] != ladder.end)]
                length, root = rest.length[rows] + 1, rest.root[rows] + (share * peers) ** 0.5
                columns.append(
                    (np.full_like(rows, radix), rows, length, rest.end[rows], rest.peers[rows] + peers, root)
                )
            found[state] = _Runs(*(np.concatenate(column) for column in zip(*columns, strict=True)))
        return found

    def least(self, state: int, run: int) -> Floats:
        """Least cost of a run with up to 0, 1, ... wavelengths."""
        if run == NONE:
            return np.zeros(self.wavelengths + 1)
        if (state, run) not in self._widths:
            runs, free = self.runs[state], np.arange(self.wavelengths + 1)
            radix = int(runs.radix[run])
            following, share = self.steps[state, radix]
            width = np.arange(1, self.wavelengths // (radix - 1) + 1)[:, None]
            left = free - (radix - 1) * width
            rest = np.append(self.least(following, int(runs.rest[run])), np.inf)
            self._widths[state, run] = (share / width + rest[np.maximum(left, -1)]).min(axis=0)
        return self._widths[state, run]


class _RunsOf:
    """Runs of a ladder for the most wavelengths and peers that were asked for: those of fewer are among them."""

    def __init__(self, ladder: Ladder) -> None:
        self._ladder = ladder
        self._most: _RunsWithin | None = None

    def within(self, most: int) -> _RunsWithin:
        if self._most is None or self._most.wavelengths < most:
            self._most = _RunsWithin(self._ladder, most, most)
        return self._most


@lru_cache(maxsize=1024)
def _runs_of(ladder: Ladder) -> _RunsOf:
    return _RunsOf(ladder)


class Front:
    """Least sum of share / wavelengths of a ladder by numbers of digits and of configurations."""

    def __init__(self, ladder: Ladder, limits: Limits, *, held: bool = False) -> None:
        """`held`: one configuration alone is looked for, which goes from the start to the end."""
        self._ladder, self._limits, self._is_held = ladder, limits, held
        size = limits.wavelengths, limits.most_peers
        self._known = _runs_of(ladder).within(max(size)) if held else _RunsWithin(ladder, *size)
        self._runs, self._steps = self._known.runs, self._known.steps

    def __iter__(self) -> Iterator[Digits]:
        """Plans, each with more digits or more configurations than any that costs as little."""
        for numbers in self._ways.get(self._ladder.start, {}):
            yield self._digits(numbers) if numbers[1] else NO_DIGITS

    @cached_property
    def _ways(self) -> dict[int, dict[tuple[int, int], _Way]]:
        """Best way from each state by (digits, configurations), those that fewer of either do not match."""
        found: dict[int, dict[tuple[int, int], _Way]] = {}
        ends = self._ladder.end, self._ladder.start
        for state in (state for state in self._runs if not self._is_held or state in ends):
            ways: dict[tuple[int, int], _Way] = {}
            if state == self._ladder.end:
                ways[0, 0] = _Way(0.0, NONE, state, (0, 0))
            for run, length, end, cost in self._best_runs(state):
                for rest, way in found[end].items():
                    numbers = rest[0] + length, rest[1] + 1
                    if numbers not in ways or cost + way.cost < ways[numbers].cost * (1 - SAME):
                        ways[numbers] = _Way(cost + way.cost, run, end, rest)
            found[state] = _undominated(ways)
        return found

    def _best_runs(self, state: int) -> Iterator[tuple[int, int, int, float]]:
        """(run, digits, state after it, cost) of the best run for each number of digits and each state after it."""
        runs, wavelengths = self._runs[state], self._limits.wavelengths
        order = np.lexsort((runs.root, runs.length, runs.end))
        is_asked = (runs.length[order] > 0) & (runs.peers[order] <= self._limits.most_peers)
        if self._is_held:
            is_asked &= runs.end[order] == self._ladder.end
        order = order[is_asked]
        lengths, ends, least = runs.length[order], runs.end[order], runs.root[order] ** 2 / wavelengths
        edges = np.flatnonzero(np.diff(lengths, prepend=-1, append=-1) | np.diff(ends, prepend=-1, append=-1))
        for first, last in pairwise(edges.tolist()):
            best, cost = NONE, np.inf
            for row in range(first, last):
                if least[row] >= cost * (1 - SAME):
                    break
                run = int(order[row])
                run_cost = float(self._choices(state, run, wavelengths).min())
                if run_cost < cost * (1 - SAME):
                    best, cost = run, run_cost
            yield best, int(lengths[first]), int(ends[first]), cost

    def _choices(self, state: int, run: int, wavelengths: int) -> Floats:
        """Costs of a run with 1, 2, ... wavelengths on each circuit of its first digit."""
        radix = int(self._runs[state].radix[run])
        following, share = self._steps[state, radix]
        width = np.arange(1, wavelengths // (radix - 1) + 1)
        rest = self._known.least(following, int(self._runs[state].rest[run]))
        return np.asarray(share / width + rest[wavelengths - (radix - 1) * width])

    def _digits(self, numbers: tuple[int, int]) -> Digits:
        """Walk from the start along the best way with so many digits and configurations."""
        state, found = self._ladder.start, Digits((), (), ())
        while numbers[1]:
            way = self._ways[state][numbers]
            run, free, radices, widths = way.run, self._limits.wavelengths, [], []
            while run != NONE:
                width = int(self._choices(state, run, free).argmin()) + 1
                radix, run = int(self._runs[state].radix[run]), int(self._runs[state].rest[run])
                state, free = self._steps[state, radix][0], free - (radix - 1) * width
                radices.append(radix)
                widths.append(width)
            found = Digits((*found.radices, *radices), (*found.held, len(radices)), (*found.wavelengths, *widths))
            numbers = way.rest
        return found


def _undominated(ways: dict[tuple[int, int], _Way]) -> dict[tuple[int, int], _Way]:
    """Ways that cost less than all with no more digits and no more configurations."""
    kept: dict[tuple[int, int], _Way] = {}
    for (digits, configurations), way in sorted(ways.items()):
        rivals = (kept[d, c].cost for d, c in kept if d <= digits and c <= configurations)
        if way.cost < min(rivals, default=np.inf) * (1 - SAME):
            kept[digits, configurations] = way
    return kept


def straight_front(ranks: int, limits: Limits) -> Iterator[Digits]:
    """The same for an all-to-all straight to every destination, which a ladder has too many runs for.

    A configuration holds one digit: of two, whose circuits have w and v wavelengths, one digit with their peers and
    min(w, v) wavelengths or more takes a round less and no longer.
    """
    if ranks == 1:
        yield NO_DIGITS
        return
    peers = np.arange(1, min(limits.most_peers, ranks - 1) + 1)
    width = limits.wavelengths // peers
    bound = (ranks - 1) / (peers * width).max()
    before = np.append(np.where(np.arange(ranks) == 0, 0.0, np.inf), np.inf)
    left = np.maximum(np.arange(ranks) - peers[:, None], -1)
    choices: list[NDArray[np.intp]] = []
    cost = np.inf
    while cost > bound * (1 + SAME) and len(choices) < ranks - 1:
        options = 1 / width[:, None] + before[left]
        choices.append(options.argmin(axis=0))
        before = np.append(options.min(axis=0), np.inf)
        if before[ranks - 1] < cost * (1 - SAME):
            cost, rest, digits = float(before[ranks - 1]), ranks - 1, []
            for choice in reversed(choices):
                digits.append(int(choice[rest]))
                rest -= int(peers[digits[-1]])
            radices, widths = (tuple((column[digits]).tolist()) for column in (peers + 1, width))
            yield Digits(radices, (1,) * len(digits), widths)
