"""A job that fills what is left of one server, and goes on in those that are filled next."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from planner.fabrics.sipam.fill_server import Filling
from planner.fabrics.sipam.server_layout import Over, ServerLayout
from planner.fabrics.sipam.server_menus import SLACK, ServerSpread

TRIED = 8
"""bridges that gain most, among which one is looked for whose job does not lie in the server already"""


class Bridge(NamedTuple):
    """A job with so many blocks in the server that is filled now, and all others in later ones."""

    gain: float
    """of that server, filled as well as can be beside them"""
    job: int
    spread: ServerSpread
    blocks: int


def best_bridge(
    layout: ServerLayout,
    filling: Filling,
    filled: Sequence[int],
    drawn: Mapping[int, float],
    servers: Sequence[int],
) -> tuple[Bridge, Over] | None:
    """The bridge with which the first server gains most, and where its job then lies; None where none gains more.

    `filled`: jobs of the filling; `drawn`: jobs that may be laid, and by how much each is drawn forward; `servers`: the
    one that is filled now, and those of its zone that are filled next.
    """
    here = servers[0]
    least = float(filling.best[layout.room[here]]) + SLACK
    bridges = [bridge for j, forward in drawn.items() for bridge in _bridges(layout, filling, j, forward, here, least)]
    bridges.sort(key=lambda bridge: -bridge.gain)
    for bridge in bridges[:TRIED]:
        over = _over(layout, bridge, servers)
        if over and not _is_taken(layout, filling, filled, bridge, here):
            return bridge, over
    return None


def _bridges(layout: ServerLayout, filling: Filling, j: int, forward: float, here: int, least: float) -> list[Bridge]:
    """Every bridge of a job that gains more than `least`, with its share of what the job is worth beyond its best row,
    and all that it loses."""
    (ranks, units), menu, found = layout.room[here], layout.menus[j], []
    for spread in menu.spreads:
        each = (spread.value + spread.loss - menu.worth + forward) / spread.blocks
        for blocks in range(1, min(layout.most(spread, here), spread.blocks - 1) + 1):
            beside = filling.best.item(ranks - blocks * spread.ranks, units - blocks * spread.units)
            gain = beside + blocks * each - spread.loss
            if gain > least:
                found.append(Bridge(gain, j, spread, blocks))
    return found


def _is_taken(layout: ServerLayout, filling: Filling, filled: Collection[int], bridge: Bridge, here: int) -> bool:
    """Whether the job lies in the server itself where that is filled beside the bridge."""
    if bridge.job not in filled:
        return False
    order, (ranks, units) = list(filled), layout.room[here]
    spread = bridge.spread
    beside = filling.within((ranks - bridge.blocks * spread.ranks, units - bridge.blocks * spread.units))
    return any(order[number] == bridge.job for number, _ in beside)


def _over(layout: ServerLayout, bridge: Bridge, servers: Sequence[int]) -> Over:
    """The blocks by server, as many in each of those that follow as it holds; none where they do not hold them all."""
    over, left = [(servers[0], bridge.blocks)], bridge.spread.blocks - bridge.blocks
    for server in servers[1:]:
        number = min(layout.most(bridge.spread, server), left)
        if number:
            over.append((server, number))
            left -= number
        if not left:
            return tuple(sorted(over))
    return ()
