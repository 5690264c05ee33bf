"""Plans of several dimensions whose circuits are all on at once, on I/Os that they share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from costmodel.collectives.hashed_once import HashedOnce
from costmodel.fabrics.across_racks import links_of
from costmodel.fabrics.group_plans import GroupPlan, PlanMenu
from costmodel.fabrics.ocs_rail import ports_of

Choices = NDArray[np.int32]
"""positions in the menus of plans, one for each dimension, shape (choices, dimensions)"""
Bools = NDArray[np.bool_]


def choices_within(
    menus: Sequence[Sequence[GroupPlan]], is_confined: tuple[bool, ...], io: int, spine_io: int
) -> Choices:
    """Combinations, one plan of each menu, on at most `io` I/Os, of which `spine_io` leave the server.

    Where groups of a dimension are confined to a server, a combination is left out if its idle I/Os would allow a
    plan there with no more latency and no more seconds per byte. Of the others all widths stay: they differ in what
    they take of the fibers between servers.
    """
    if not all(menus):
        return np.zeros((0, len(menus)), np.int32)
    keys = [menu_key(menu if isinstance(menu, PlanMenu) else PlanMenu(menu), io) for menu in menus]
    return _choices(tuple(keys), is_confined, io, spine_io)


@dataclass(frozen=True)
class _Menu(HashedOnce):
    """All that choices depend on of a menu: groups of many sizes have plans that are alike in it."""

    ports: bytes
    """of each plan, int64"""
    best: bytes
    """whether no plan that takes at most b I/Os is better, bool (plans, io + 1); empty where there is one plan"""

    __hash__ = HashedOnce.__hash__

    @cached_property
    def needs(self) -> NDArray[np.int64]:
        return np.frombuffer(self.ports, np.int64)

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        return np.arange(len(self.needs))

    def is_best(self, io: int) -> Bools:
        return np.frombuffer(self.best, np.bool_).reshape(-1, io + 1)


@lru_cache(maxsize=16384)
def menu_key(menu: PlanMenu, io: int) -> _Menu:
    """What of a menu decides which of its plans are chosen on so many I/Os."""
    if not menu:
        return _Menu(b"", b"")
    return _Menu(_ports(menu).tobytes(), _best(menu, io).tobytes() if len(menu) > 1 else b"")


@lru_cache(maxsize=65536)
def _choices(menus: tuple[_Menu, ...], is_confined: tuple[bool, ...], io: int, spine_io: int) -> Choices:
    """Menus of one plan have no axis in the table of all choices."""
    axes = [axis for axis, menu in enumerate(menus) if menu.best]
    shapes = {axis: (-1, *(1 for later in axes if later > axis)) for axis in axes}
    needs = [
        menu.needs.reshape(shapes[axis]) if axis in shapes else int(menu.needs[0]) for axis, menu in enumerate(menus)
    ]
    across = sum((need for need, inside in zip(needs, is_confined, strict=True) if not inside), np.int64(0))
    spare = io - sum(needs, np.int64(0))
    fits = np.asarray((spare >= 0) & (across <= spine_io))
    idle = np.maximum(spare, 0)
    for axis in axes:
        menu, need = menus[axis], needs[axis]
        budget = np.minimum(need + idle, io) if is_confined[axis] else np.minimum(need, io)
        fits = fits & menu.is_best(io)[menu.numbers.reshape(shapes[axis]), budget]
    found = np.argwhere(fits)
    places = np.zeros((len(found), len(menus)), np.int32)
    places[:, axes] = found
    return places


@lru_cache(maxsize=4096)
def _ports(menu: PlanMenu) -> NDArray[np.int64]:
    return np.array([ports_of(plan) for plan in menu], np.int64)


@lru_cache(maxsize=4096)
def _best(menu: PlanMenu, io: int) -> Bools:
    """Whether no plan of a menu that takes at most b I/Os is better than each of them and holds no more links between
    racks, shape (plans, io + 1)."""
    need = _ports(menu)
    cost = np.array([[plan.latency_s, plan.seconds_per_byte] for plan in menu])
    number = np.arange(len(menu))
    links = np.array([links_of(plan) for plan in menu])
    no_worse = (cost[:, None, :] <= cost[None, :, :]).all(axis=2) & (links[:, None] <= links)
    better = no_worse & ~no_worse.T
    first = (need[:, None] < need) | ((need[:, None] == need) & (number[:, None] < number))
    beats = better | (no_worse & no_worse.T & first)
    allowed = need[:, None] <= np.arange(io + 1)
    return np.asarray(~np.einsum("qb,qp->pb", allowed, beats) & allowed)
