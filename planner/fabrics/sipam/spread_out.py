"""Jobs that lose less over several servers than in one, by what can lie beside them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from planner.fabrics.sipam.fill_server import Room, most_gain
from planner.fabrics.sipam.server_layout import ServerLayout
from planner.fabrics.sipam.server_menus import REQUIRED, SLACK, Menu, ServerSpread

LEAST_LOSS, ALIKE = 8, 4
"""items of a job that may lie beside others: those that lose least; and jobs that are alike among these"""
MOST_TIMES = 2
"""as many servers as hold a job, up to which more are looked at"""
MOST_UPDATES = 3e7
"""of entries of the table of what fills a server, which bounds the jobs that may lie beside others"""
HALVINGS = 40
"""of the price of an uplink"""


class WayOver(NamedTuple):
    """A job over several servers, and what it gains against the best way in one, or waiting."""

    spread: ServerSpread
    shares: tuple[int, ...]
    """blocks of each server"""
    gain: float

    @property
    def uplinks(self) -> int:
        """That the job reserves on each of its rails, in all servers together."""
        return len(self.shares) * self.spread.uplinks

    @property
    def gain_of_uplink(self) -> float:
        """Of each that the job reserves on a rail."""
        return self.gain / max(self.uplinks, 1)


def ways_over(layout: ServerLayout) -> list[tuple[int, WayOver]]:
    """A way over several servers of each waiting job that gains by it, those first that gain most by uplink.

    At the least price of an uplink at which they take no more than there are.
    """
    kinds = {id(layout.menus[j]): layout.menus[j] for j in sorted(layout.waiting)}
    number = Counter(id(layout.menus[j]) for j in layout.waiting)
    beside = _Beside(layout, [menu for kind, menu in kinds.items() for _ in range(min(number[kind], ALIKE))])
    ways = {kind: [way for way in _ways(beside, menu) if way.gain > SLACK] for kind, menu in kinds.items()}
    found = _within(ways, number, sum(layout.uplinks))
    each = [(j, found[id(layout.menus[j])]) for j in sorted(layout.waiting) if id(layout.menus[j]) in found]
    return sorted(each, key=lambda way: -way[1].gain_of_uplink)


def shares_of(spread: ServerSpread, number: int) -> tuple[int, ...]:
    """Blocks of each of so many servers."""
    each, more = divmod(spread.blocks, number)
    return tuple(each + (place < more) for place in range(number))


def _within(ways: Mapping[int, Sequence[WayOver]], number: Mapping[int, int], there_are: int) -> dict[int, WayOver]:
    """The best way of each kind of job at the least price of an uplink at which all take no more than there are."""
    low, high = 0.0, max((way.gain_of_uplink for some in ways.values() for way in some), default=0.0)
    found = _at_price(ways, low)
    if _uplinks(found, number) <= there_are:
        return found
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        is_less = _uplinks(_at_price(ways, middle), number) <= there_are
        low, high = (low, middle) if is_less else (middle, high)
    return _at_price(ways, high)


def _at_price(ways: Mapping[int, Sequence[WayOver]], price: float) -> dict[int, WayOver]:
    """The way of each kind that gains most beyond the price of its uplinks, where one gains anything."""
    best = {kind: max(some, key=lambda way: way.gain - price * way.uplinks) for kind, some in ways.items() if some}
    return {kind: way for kind, way in best.items() if way.gain > price * way.uplinks}


def _uplinks(found: Mapping[int, WayOver], number: Mapping[int, int]) -> int:
    """Of each rail, of so many jobs of each kind."""
    return sum(number[kind] * way.uplinks for kind, way in found.items())


class _Beside:
    """What a server loses at the prices of all that is pooled, filled as well as can be beside a part of a job."""

    def __init__(self, layout: ServerLayout, menus: Sequence[Menu]) -> None:
        self.room: Room = max(ranks for ranks, _ in layout.room), max(units for _, units in layout.room)
        self._prices = layout.prices
        most = max(int(MOST_UPDATES / (LEAST_LOSS * (self.room[0] + 1) * (self.room[1] + 1))), 1)
        menus = menus[:: -(-len(menus) // most) or 1]
        items = [menu.items[:LEAST_LOSS] for menu in menus]
        gains = [[item.value - menu.worth for item in some] for menu, some in zip(menus, items, strict=True)]
        self._best = most_gain(items, gains, self.room)

    def loss(self, ranks: int, units: int) -> float:
        """Of a server in which a part takes so much; infinite where it does not fit."""
        left = self.room[0] - ranks, self.room[1] - units
        if min(left) < 0:
            return float("inf")
        return left[0] * self._prices[0] + left[1] * self._prices[1] - float(self._best[left])


def _ways(beside: _Beside, menu: Menu) -> Iterator[WayOver]:
    """A job over ever more servers, in each of its ways."""
    waiting = menu.worth + (REQUIRED if menu.is_required else 0.0)
    alone = min((item.loss + beside.loss(item.ranks, item.units) for item in menu.items), default=waiting)
    for spread in menu.spreads:
        for number in _numbers(spread, beside.room):
            shares = shares_of(spread, number)
            lost = sum(beside.loss(share * spread.ranks, share * spread.units) for share in shares)
            yield WayOver(spread, shares, alone - spread.loss - lost)


def _numbers(spread: ServerSpread, room: Room) -> range:
    """Of servers: as few as hold a job, and some more; none where not even a block fits."""
    held = min(room[0] // spread.ranks, room[1] // spread.units if spread.units else spread.blocks)
    fewest = max(-(-spread.blocks // held), 2) if held else 0
    return range(max(fewest, 1), min(MOST_TIMES * fewest, spread.blocks) + 1)
